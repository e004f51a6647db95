//! Step 1: the Tool, its verdict, and what was compiled of it. No client required.

use std::sync::Arc;

use mcc_catalog::model::{CompiledTool, ObjectRef};

use crate::context::Context;
use crate::dereference::{Judged, judged};

/// A Tool with everything that is to be known of it.
pub(super) struct Dereferenced {
    pub judged: Judged,
    /// The tool that has the key; none unless it is accepted.
    pub tool: Option<Arc<CompiledTool>>,
}

pub(super) fn dereference(context: &Context, object: &ObjectRef) -> Option<Dereferenced> {
    let judged = judged(context, object)?;
    let key = judged.verdict.key.as_ref().filter(|_| judged.verdict.accepted);
    let tool = key.and_then(|key| judged.view.catalog.tools.get(key)).cloned();
    Some(Dereferenced { judged, tool })
}
