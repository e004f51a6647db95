//! Step 2: the verdict of the one pure function becomes the condition `Accepted`. No client required.

use mcc_cluster::{Observed, Status};

use super::dereference::Dereferenced;
use crate::conditions::{Draft, accepted};
use crate::dereference::Judged;

/// A ToolGroup that is accepted or not.
pub(super) struct Validated {
    pub observed: Observed,
    pub current: Option<Status>,
    pub accepted: Draft,
    pub tools: i64,
}

pub(super) fn validate(dereferenced: Dereferenced) -> Validated {
    let Dereferenced { judged: Judged { observed, current, verdict, view: _ }, tools } = dereferenced;
    Validated { observed, current, accepted: accepted(&verdict, "ToolGroup"), tools }
}
