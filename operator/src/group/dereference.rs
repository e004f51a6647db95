//! Step 1: the ToolGroup, its verdict and its tools. No client required.

use mcc_catalog::model::ObjectRef;

use crate::context::Context;
use crate::dereference::{Judged, judged};
use crate::view::count;

/// A ToolGroup with everything that is to be known of it.
pub(super) struct Dereferenced {
    pub judged: Judged,
    /// Number of its tools.
    pub tools: i64,
}

pub(super) fn dereference(context: &Context, object: &ObjectRef) -> Option<Dereferenced> {
    let judged = judged(context, object)?;
    let group = judged.view.catalog.groups.get(&object.name.name).filter(|_| judged.verdict.accepted);
    let tools = group.map_or(0, |group| count(group.tools.len()));
    Some(Dereferenced { judged, tools })
}
