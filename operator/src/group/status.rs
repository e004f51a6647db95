//! Step 3: what is to be said about the ToolGroup, written if it isn't said already. Client required.

use super::validate::Validated;
use crate::conditions::{Draft, Holds, READY, reason};
use crate::context::Context;
use crate::status::{Desired, WriteError, write};

pub(super) async fn update(context: &Context, validated: Validated) -> Result<(), WriteError> {
    let Validated { observed, current, accepted, tools } = validated;
    let ready = if accepted.holds == Holds::True {
        Draft::new(READY, Holds::True, reason::READY, "Tools can name the ToolGroup, and UserGrants grant it")
    } else {
        accepted.under(READY)
    };
    let desired = Desired { key: None, tools: Some(tools), drafts: vec![accepted, ready] };
    write(context, &observed, current.as_ref(), desired).await
}
