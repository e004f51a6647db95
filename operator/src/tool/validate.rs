//! Step 2: the verdict of the one pure function becomes the condition `Accepted`. No client required.

use std::sync::Arc;

use mcc_catalog::model::CompiledTool;
use mcc_cluster::{Observed, Status};

use super::dereference::Dereferenced;
use crate::conditions::{Draft, accepted};
use crate::dereference::Judged;

/// A Tool that is accepted or not. From here on nothing looks at its verdict.
pub(super) struct Validated {
    pub observed: Observed,
    pub current: Option<Status>,
    pub accepted: Draft,
    pub tool: Option<Arc<CompiledTool>>,
}

pub(super) fn validate(dereferenced: Dereferenced) -> Validated {
    let Dereferenced { judged: Judged { observed, current, verdict, view: _ }, tool } = dereferenced;
    Validated { observed, current, accepted: accepted(&verdict, "Tool"), tool }
}
