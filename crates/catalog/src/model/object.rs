//! Objects as they come from a folder or a cluster, with the place they came from.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};

use super::Origin;

/// Namespace and name of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NamespacedName {
    /// Namespace.
    pub namespace: String,
    /// Name within the namespace.
    pub name: String,
}

impl NamespacedName {
    /// Joins a namespace and a name.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

impl fmt::Display for NamespacedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}

/// The kinds of objects a catalog is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    /// `mcc.dev/v1alpha1` Tool.
    Tool,
    /// `mcc.dev/v1alpha1` ToolGroup.
    ToolGroup,
    /// `mcc.dev/v1alpha1` UserGrant.
    UserGrant,
    /// `v1` Secret.
    Secret,
    /// `v1` ConfigMap.
    ConfigMap,
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Names one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectRef {
    /// Kind of the object.
    pub kind: ObjectKind,
    /// Namespace and name.
    pub name: NamespacedName,
}

impl ObjectRef {
    /// A reference to `namespace/name` of `kind`.
    pub fn new(kind: ObjectKind, name: NamespacedName) -> Self {
        Self { kind, name }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// An object and where it came from.
#[derive(Clone, Debug)]
pub struct Entry<T> {
    /// The object.
    pub object: Arc<T>,
    /// Where it came from.
    pub origin: Origin,
}

impl<T> Entry<T> {
    /// An object that came from a cluster.
    pub fn from_cluster(object: T) -> Self {
        Self { object: Arc::new(object), origin: Origin::default() }
    }
}

/// All the objects from which a catalog is compiled.
#[derive(Clone, Default)]
pub struct ObjectSet {
    /// Tools.
    pub tools: BTreeMap<NamespacedName, Entry<Tool>>,
    /// ToolGroups.
    pub groups: BTreeMap<NamespacedName, Entry<ToolGroup>>,
    /// UserGrants.
    pub grants: BTreeMap<NamespacedName, Entry<UserGrant>>,
    /// Secrets, for `valueFrom` and `envFrom`. Empty in a cluster: there the kubelet reads them.
    pub secrets: BTreeMap<NamespacedName, Arc<Secret>>,
    /// ConfigMaps, for `valueFrom` and `envFrom`. Empty in a cluster.
    pub config_maps: BTreeMap<NamespacedName, Arc<ConfigMap>>,
    /// Labels of namespaces, for `allowedNamespaces.selector`.
    pub namespaces: BTreeMap<String, BTreeMap<String, String>>,
}

impl fmt::Debug for ObjectSet {
    /// Numbers only: the data of Secrets is for nobody's log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tools, groups, grants, secrets, config_maps, namespaces } = self;
        f.debug_struct("ObjectSet")
            .field("tools", &tools.len())
            .field("groups", &groups.len())
            .field("grants", &grants.len())
            .field("secrets", &secrets.len())
            .field("config_maps", &config_maps.len())
            .field("namespaces", &namespaces.len())
            .finish()
    }
}
