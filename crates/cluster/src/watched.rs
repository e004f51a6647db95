//! The kinds that are watched.

use std::collections::BTreeMap;
use std::fmt::Debug;

use kube::Resource;
use kube::core::NamespaceResourceScope;
use mcc_catalog::model::{Entry, NamespacedName, ObjectKind, ObjectSet};
use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};
use serde::de::DeserializeOwned;

use crate::Status;

/// A kind that a catalog is made of.
pub(crate) trait Watched:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + Debug
    + DeserializeOwned
    + Send
    + Sync
    + 'static
{
    /// The kind.
    const KIND: ObjectKind;
    /// Takes the status out of an object.
    fn take_status(&mut self) -> Status;
    /// Whether both declare the same.
    fn same_spec(&self, other: &Self) -> bool;
    /// The objects of this kind.
    fn of_ref(objects: &ObjectSet) -> &BTreeMap<NamespacedName, Entry<Self>>;
    /// The objects of this kind, to be changed.
    fn of(objects: &mut ObjectSet) -> &mut BTreeMap<NamespacedName, Entry<Self>>;
}

impl Watched for Tool {
    const KIND: ObjectKind = ObjectKind::Tool;

    fn take_status(&mut self) -> Status {
        let status = self.status.take().unwrap_or_default();
        Status {
            observed_generation: status.observed_generation,
            key: status.key,
            tools: None,
            conditions: status.conditions,
        }
    }

    fn same_spec(&self, other: &Self) -> bool {
        self.spec == other.spec
    }

    fn of_ref(objects: &ObjectSet) -> &BTreeMap<NamespacedName, Entry<Self>> {
        &objects.tools
    }

    fn of(objects: &mut ObjectSet) -> &mut BTreeMap<NamespacedName, Entry<Self>> {
        &mut objects.tools
    }
}

impl Watched for ToolGroup {
    const KIND: ObjectKind = ObjectKind::ToolGroup;

    fn take_status(&mut self) -> Status {
        let status = self.status.take().unwrap_or_default();
        Status {
            observed_generation: status.observed_generation,
            key: None,
            tools: status.tools,
            conditions: status.conditions,
        }
    }

    fn same_spec(&self, other: &Self) -> bool {
        self.spec == other.spec
    }

    fn of_ref(objects: &ObjectSet) -> &BTreeMap<NamespacedName, Entry<Self>> {
        &objects.groups
    }

    fn of(objects: &mut ObjectSet) -> &mut BTreeMap<NamespacedName, Entry<Self>> {
        &mut objects.groups
    }
}

impl Watched for UserGrant {
    const KIND: ObjectKind = ObjectKind::UserGrant;

    fn take_status(&mut self) -> Status {
        let status = self.status.take().unwrap_or_default();
        Status {
            observed_generation: status.observed_generation,
            key: None,
            tools: status.tools,
            conditions: status.conditions,
        }
    }

    fn same_spec(&self, other: &Self) -> bool {
        self.spec == other.spec
    }

    fn of_ref(objects: &ObjectSet) -> &BTreeMap<NamespacedName, Entry<Self>> {
        &objects.grants
    }

    fn of(objects: &mut ObjectSet) -> &mut BTreeMap<NamespacedName, Entry<Self>> {
        &mut objects.grants
    }
}
