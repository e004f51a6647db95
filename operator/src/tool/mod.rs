//! The controller of Tools.
//!
//! ```text
//! dereference ─▶ validate ─▶ apply ─▶ status
//! catalog, table  verdict    index    server-side apply (the only step that asks a server)
//! ```

mod apply;
mod dereference;
mod status;
mod validate;

use mcc_catalog::model::ObjectRef;

use crate::context::Context;
use crate::queue::Next;
use crate::status::WriteError;

/// Brings the status of one Tool up to date.
pub(crate) async fn reconcile(context: &Context, object: &ObjectRef) -> Result<Next, WriteError> {
    // Gone, or the catalog hasn't seen this version yet: the next catalog brings it back here.
    let Some(dereferenced) = dereference::dereference(context, object) else { return Ok(Next::OnChange) };
    let validated = validate::validate(dereferenced);
    let applied = match apply::apply(context, validated) {
        Ok(applied) => applied,
        Err(wait) => return Ok(Next::After(wait)),
    };
    status::update(context, applied).await?;
    Ok(Next::OnChange)
}
