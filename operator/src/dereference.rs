//! The part of dereferencing that all kinds share: an object together with what the catalog made of it.

use std::sync::Arc;

use kube::Resource;
use mcc_catalog::model::{Entry, ObjectKind, ObjectRef, Verdict};
use mcc_cluster::{Observed, Status};

use crate::context::Context;
use crate::view::View;

/// An object, and what the catalog that has seen this very object made of it.
#[derive(Debug)]
pub(crate) struct Judged {
    pub observed: Observed,
    /// The status it has now, as far as that is known.
    pub current: Option<Status>,
    pub verdict: Verdict,
    pub view: Arc<View>,
}

/// The object and its verdict; none if it is gone, or if the catalog is older than the object.
pub(crate) fn judged(context: &Context, object: &ObjectRef) -> Option<Judged> {
    let record = context.table.get(object)?;
    let view = context.view();
    let verdict = view.catalog.verdicts.get(object)?.clone();
    let observed = &record.observed;
    // An object that can't be read is in no catalog, but has a verdict.
    if observed.status.is_some() {
        let (uid, generation) = compiled(&view, object)?;
        if uid != observed.uid || generation != observed.generation {
            return None;
        }
    }
    Some(Judged { current: record.status().cloned(), observed: record.observed, verdict, view })
}

/// UID and generation of the object from which the catalog was compiled.
fn compiled(view: &View, object: &ObjectRef) -> Option<(String, i64)> {
    fn of<K: Resource>(entry: Option<&Entry<K>>) -> Option<(String, i64)> {
        let metadata = entry?.object.meta();
        Some((metadata.uid.clone().unwrap_or_default(), metadata.generation.unwrap_or_default()))
    }
    let objects = &view.catalog.objects;
    match object.kind {
        ObjectKind::Tool => of(objects.tools.get(&object.name)),
        ObjectKind::ToolGroup => of(objects.groups.get(&object.name)),
        ObjectKind::UserGrant => of(objects.grants.get(&object.name)),
        ObjectKind::Secret | ObjectKind::ConfigMap => None,
    }
}
