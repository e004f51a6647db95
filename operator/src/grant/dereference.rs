//! Step 1: the UserGrant, its verdict and the number of tools it reaches. No client required.

use mcc_catalog::model::ObjectRef;

use crate::context::Context;
use crate::dereference::{Judged, judged};

/// A UserGrant with everything that is to be known of it.
pub(super) struct Dereferenced {
    pub judged: Judged,
    /// Number of tools that it reaches.
    pub tools: i64,
}

pub(super) fn dereference(context: &Context, object: &ObjectRef) -> Option<Dereferenced> {
    let judged = judged(context, object)?;
    let tools = judged.view.reach.get(&object.name).copied().unwrap_or_default();
    Some(Dereferenced { judged, tools })
}
