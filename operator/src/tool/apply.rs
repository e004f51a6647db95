//! Step 3: whether the index holds the Tool. Its writer works by itself, from the same catalogs. No client required.

use std::time::Duration;

use super::validate::Validated;
use crate::conditions::{Draft, Holds, INDEXED, reason};
use crate::context::Context;
use crate::index::Standing;

/// Time after which a Tool is told that the index is slow (DECISIONS 19).
const PATIENCE: Duration = Duration::from_secs(2);

/// A Tool of which is known whether the index holds it.
pub(super) struct Applied {
    pub validated: Validated,
    pub indexed: Draft,
}

/// The Tool as it stands; or for how long there is nothing to say, because the index is at it: its writer asks again, or
/// time does.
pub(super) fn apply(context: &Context, validated: Validated) -> Result<Applied, Duration> {
    let object = &validated.observed.object;
    let Some(tool) = &validated.tool else {
        context.table.waiting(object, false);
        let message = "only accepted Tools can be found";
        let indexed = Draft::new(INDEXED, Holds::False, reason::NOT_ACCEPTED, message);
        return Ok(Applied { validated, indexed });
    };
    let standing = context.holdings.standing(tool);
    let since = context.table.waiting(object, matches!(standing, Standing::Pending(_)));
    let indexed = match standing {
        Standing::Held => {
            Draft::new(INDEXED, Holds::True, reason::INDEXED, "the Tool can be found with search")
        }
        Standing::Failed(failure) => Draft::new(INDEXED, Holds::False, failure.reason, failure.message),
        // A restart begins with a comparison of everything: what was held is held.
        Standing::Pending(_) if was_held(&validated) => return Err(PATIENCE),
        Standing::Pending(answered) => {
            // An index that is busy with others is no slow one.
            let waited = since.max(answered).map(|since| since.elapsed()).unwrap_or_default();
            if waited < PATIENCE {
                return Err(PATIENCE.saturating_sub(waited));
            }
            let message = "the search index hasn't answered for two seconds; it is waited for";
            Draft::new(INDEXED, Holds::Unknown, reason::INDEX_PENDING, message)
        }
    };
    Ok(Applied { validated, indexed })
}

/// Whether the object says already that the index holds it as it is.
fn was_held(validated: &Validated) -> bool {
    let Validated { observed, current, accepted: _, tool: _ } = validated;
    let conditions = current.iter().flat_map(|status| &status.conditions);
    let mut indexed = conditions.filter(|condition| condition.type_ == INDEXED);
    indexed.any(|condition| {
        condition.status == "True" && condition.observed_generation == Some(observed.generation)
    })
}
