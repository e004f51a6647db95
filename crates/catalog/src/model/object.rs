//! Objects as they come from a folder or a cluster, with the place they came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};

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

/// A place in a file: 1-based line and column (in characters).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as it was named to the program.
    pub file: Arc<PathBuf>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file.display(), self.line, self.column)
    }
}

/// Where an object came from. The default is an object of a cluster, which has no file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// File and line of the document's first node.
    pub start: Option<Place>,
    /// Line and column of every field, by its path in the form of `kubectl explain`: `spec.params[2].default`.
    pub fields: Arc<BTreeMap<String, (u32, u32)>>,
}

impl Origin {
    /// The place of the field at `path`, or of the nearest field around it, or of the object.
    pub fn place(&self, path: &str) -> Option<Place> {
        let start = self.start.as_ref()?;
        let mut at = path;
        loop {
            if let Some(&(line, column)) = self.fields.get(at) {
                return Some(Place { file: start.file.clone(), line, column });
            }
            match at.rfind(['.', '[']) {
                Some(end) => at = &at[..end],
                None => return Some(start.clone()),
            }
        }
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
#[derive(Clone, Debug, Default)]
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
