//! Step 4: what is to be said about the Tool, written if it isn't said already. Client required.

use super::apply::Applied;
use super::validate::Validated;
use crate::conditions::{Draft, Holds, READY, reason};
use crate::context::Context;
use crate::status::{Desired, WriteError, write};

pub(super) async fn update(context: &Context, applied: Applied) -> Result<(), WriteError> {
    let Applied { validated: Validated { observed, current, accepted, tool }, indexed } = applied;
    let ready = [&accepted, &indexed].into_iter().find(|condition| condition.holds != Holds::True);
    let ready = match ready {
        Some(obstacle) => obstacle.under(READY),
        None => Draft::new(READY, Holds::True, reason::READY, "the Tool can be found and executed"),
    };
    let desired = Desired {
        key: tool.map(|tool| tool.key.clone()),
        tools: None,
        drafts: vec![accepted, indexed, ready],
    };
    write(context, &observed, current.as_ref(), desired).await
}
