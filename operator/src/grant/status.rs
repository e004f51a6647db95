//! Step 3: what is to be said about the UserGrant, written if it isn't said already. Client required.

use super::validate::Validated;
use crate::conditions::{Draft, Holds, READY, listed, reason};
use crate::context::Context;
use crate::status::{Desired, WriteError, write};

pub(super) async fn update(context: &Context, validated: Validated) -> Result<(), WriteError> {
    let Validated { observed, current, accepted, resolved, ended, tools } = validated;
    let obstacle = [&accepted, &resolved].into_iter().find(|condition| condition.holds != Holds::True);
    let ready = match (obstacle, &ended) {
        (Some(obstacle), _) if obstacle.kind == accepted.kind => obstacle.under(READY),
        (_, Some(ended)) => Draft::new(READY, Holds::False, ended.reason.to_string(), listed(&[ended])),
        (Some(obstacle), None) => obstacle.under(READY),
        (None, None) => {
            Draft::new(READY, Holds::True, reason::READY, "the subject reaches the granted tools")
        }
    };
    let desired = Desired { key: None, tools: Some(tools), drafts: vec![accepted, resolved, ready] };
    write(context, &observed, current.as_ref(), desired).await
}
