//! The controller of ToolGroups: dereference ─▶ validate ─▶ status. There is nothing to apply: the catalog itself is what a
//! ToolGroup changes.

mod dereference;
mod status;
mod validate;

use mcc_catalog::model::ObjectRef;

use crate::context::Context;
use crate::queue::Next;
use crate::status::WriteError;

/// Brings the status of one ToolGroup up to date.
pub(crate) async fn reconcile(context: &Context, object: &ObjectRef) -> Result<Next, WriteError> {
    // Gone, or the catalog hasn't seen this version yet: the next catalog brings it back here.
    let Some(dereferenced) = dereference::dereference(context, object) else { return Ok(Next::OnChange) };
    let validated = validate::validate(dereferenced);
    status::update(context, validated).await?;
    Ok(Next::OnChange)
}
