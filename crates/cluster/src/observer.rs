//! What a controller wants to know of objects, besides the catalog.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use mcc_catalog::model::ObjectRef;

/// The status of an object of any of the three kinds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Status {
    /// Generation of the spec that the status describes.
    pub observed_generation: Option<i64>,
    /// Key of an accepted Tool.
    pub key: Option<String>,
    /// Number of tools of a ToolGroup or UserGrant.
    pub tools: Option<i64>,
    /// Conditions.
    pub conditions: Vec<Condition>,
}

/// An object as the API server has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The object.
    pub object: ObjectRef,
    /// Its UID: an object that was deleted and made again is another one.
    pub uid: String,
    /// Its version.
    pub resource_version: String,
    /// Generation of its spec.
    pub generation: i64,
    /// Its status; none if the object can't be read.
    pub status: Option<Status>,
}

/// Is told of every object as the watches see it, before the catalog follows. Must not block.
pub trait Observer: Send + Sync {
    /// An object is there, or has changed: spec, labels or status.
    fn seen(&self, observed: Observed);
    /// An object is gone.
    fn gone(&self, object: &ObjectRef);
}

/// Nobody wants to know.
impl Observer for () {
    fn seen(&self, _: Observed) {}
    fn gone(&self, _: &ObjectRef) {}
}
