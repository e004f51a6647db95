//! A document as an object: which kind it is, its schema, its rules, its type.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use mcc_crds::v1alpha1::{API_VERSION, GROUP, Tool, ToolGroup, UserGrant};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::{NamespacedName, ObjectKind, ObjectRef, Origin, Place, Problem, Reason, Severity};

use super::check::Check;
use super::schema::{KindSchema, schemas};
use super::tree::{Content, Document, Fault, Mark, Node};
use super::{DEFAULT_NAMESPACE, Parsed, params, problem, suggest};

/// An object and where it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedObject {
    /// The object. Its namespace is filled in.
    pub object: Object,
    /// Where it and its fields are.
    pub origin: Origin,
}

/// An object that a catalog has a use for.
#[derive(Clone, PartialEq)]
pub enum Object {
    /// A tool.
    Tool(Arc<Tool>),
    /// A group.
    ToolGroup(Arc<ToolGroup>),
    /// A grant.
    UserGrant(Arc<UserGrant>),
    /// For `valueFrom` and `envFrom`; what `stringData` gave is in `data`.
    Secret(Arc<Secret>),
    /// For `valueFrom` and `envFrom`.
    ConfigMap(Arc<ConfigMap>),
    /// A namespace, for its labels.
    Namespace {
        /// Name.
        name: String,
        /// Labels, with `kubernetes.io/metadata.name` as the API server sets it.
        labels: BTreeMap<String, String>,
    },
}

/// Only names: a Secret's values belong in no log.
impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.reference()) {
            (_, Some(reference)) => write!(f, "{reference}"),
            (Self::Namespace { name, .. }, None) => write!(f, "Namespace {name}"),
            (_, None) => f.write_str("Object"),
        }
    }
}

impl Object {
    /// Kind, namespace and name; none for a Namespace.
    pub fn reference(&self) -> Option<ObjectRef> {
        let (kind, metadata) = match self {
            Self::Tool(object) => (ObjectKind::Tool, &object.metadata),
            Self::ToolGroup(object) => (ObjectKind::ToolGroup, &object.metadata),
            Self::UserGrant(object) => (ObjectKind::UserGrant, &object.metadata),
            Self::Secret(object) => (ObjectKind::Secret, &object.metadata),
            Self::ConfigMap(object) => (ObjectKind::ConfigMap, &object.metadata),
            Self::Namespace { .. } => return None,
        };
        let namespace = metadata.namespace.clone().unwrap_or_default();
        Some(ObjectRef::new(kind, NamespacedName::new(namespace, metadata.name.clone().unwrap_or_default())))
    }
}

/// The kinds that manifests may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Tool,
    ToolGroup,
    UserGrant,
    Secret,
    ConfigMap,
    Namespace,
}

const OURS: [(&str, Known); 3] =
    [("Tool", Known::Tool), ("ToolGroup", Known::ToolGroup), ("UserGrant", Known::UserGrant)];
const CORE: [(&str, Known); 3] =
    [("Secret", Known::Secret), ("ConfigMap", Known::ConfigMap), ("Namespace", Known::Namespace)];

impl Known {
    fn schema(self) -> &'static KindSchema {
        let schemas = schemas();
        match self {
            Self::Tool => &schemas.tool,
            Self::ToolGroup => &schemas.group,
            Self::UserGrant => &schemas.grant,
            Self::Secret => &schemas.secret,
            Self::ConfigMap => &schemas.config_map,
            Self::Namespace => &schemas.namespace,
        }
    }

    fn kind(self) -> Option<ObjectKind> {
        Some(match self {
            Self::Tool => ObjectKind::Tool,
            Self::ToolGroup => ObjectKind::ToolGroup,
            Self::UserGrant => ObjectKind::UserGrant,
            Self::Secret => ObjectKind::Secret,
            Self::ConfigMap => ObjectKind::ConfigMap,
            Self::Namespace => return None,
        })
    }
}

/// Adds what a document holds to `parsed`: its object, or those of a `List`.
pub(super) fn read(file: &Arc<PathBuf>, document: Document<'_>, parsed: &mut Parsed) {
    let Document { node, faults } = document;
    match node {
        Some(node) => one(file, &node, faults, parsed),
        None => report(file, None, faults, parsed),
    }
}

fn one(file: &Arc<PathBuf>, node: &Node<'_>, faults: Vec<Fault>, parsed: &mut Parsed) {
    if node.is_null() {
        return report(file, None, faults, parsed);
    }
    let kind_name = node.get("kind").and_then(Node::text).unwrap_or_default();
    if kind_name.ends_with("List")
        && node.get("items").is_some_and(|items| matches!(items.content, Content::List(_)))
    {
        let items = node.get("items").map(Node::elements).unwrap_or_default();
        let broken = !faults.is_empty();
        report(file, None, faults, parsed);
        // A duplicate key somewhere in the list can't be told to belong to one of the items.
        if !broken {
            for item in items {
                one(file, item, Vec::new(), parsed);
            }
        }
        return;
    }
    let known = match identify(file, node) {
        Ok(known) => known,
        Err((severity, fault)) => {
            report(file, None, faults, parsed);
            parsed.problems.push(problem(file, severity, fault));
            return;
        }
    };
    let reference = reference(known, node);
    let schema = known.schema();
    let mut check = Check::default();
    check.faults = faults;
    let value = check.document(node, &schema.schema);
    if known == Known::Tool {
        params::check_literals(node, &mut check);
    }
    let Check { mut faults, warnings, places, .. } = check;
    let start = Place { file: file.clone(), line: node.mark.line, column: node.mark.column };
    let origin = Origin { start: Some(start), fields: Arc::new(places.build()) };
    if faults.is_empty()
        && let Some(rules) = &schema.rules
    {
        faults.extend(rules.refusals(&value).into_iter().map(|refusal| Fault {
            mark: mark(&origin, &refusal.path),
            reason: Reason::InvalidField,
            path: refusal.path,
            message: refusal.message,
            fix: refusal.fix,
        }));
    }
    if faults.is_empty() {
        match typed(known, value) {
            Ok(object) => parsed.objects.push(LoadedObject { object, origin }),
            Err((path, message)) => {
                let (message, fix) = match message.split_once("; ") {
                    Some((message, fix)) => (message.to_owned(), fix.to_owned()),
                    None => (message, "see `kubectl explain` for the field".to_owned()),
                };
                let mark = mark(&origin, &path);
                faults.push(Fault { mark, reason: Reason::InvalidField, path, message, fix });
            }
        }
    }
    report(file, reference.as_ref(), faults, parsed);
    for warning in warnings {
        let problem = Problem { object: reference.clone(), ..problem(file, Severity::Warning, warning) };
        parsed.problems.push(problem);
    }
}

fn report(file: &Arc<PathBuf>, object: Option<&ObjectRef>, faults: Vec<Fault>, parsed: &mut Parsed) {
    for fault in faults {
        parsed.problems.push(Problem { object: object.cloned(), ..problem(file, Severity::Error, fault) });
    }
}

fn mark(origin: &Origin, path: &str) -> Mark {
    origin.place(path).map_or(Mark::START, |place| Mark { line: place.line, column: place.column })
}

/// Which object a document means to be, for messages.
fn reference(known: Known, node: &Node<'_>) -> Option<ObjectRef> {
    let metadata = node.get("metadata")?;
    let name = metadata.get("name")?.text()?;
    let namespace = metadata.get("namespace").and_then(Node::text).unwrap_or(DEFAULT_NAMESPACE);
    Some(ObjectRef::new(known.kind()?, NamespacedName::new(namespace, name)))
}

type Refused = (Severity, Fault);

fn refused(mark: Mark, path: &str, message: impl Into<String>, fix: impl Into<String>) -> Refused {
    let (message, fix) = (message.into(), fix.into());
    (Severity::Error, Fault { mark, reason: Reason::UnknownKind, path: path.to_owned(), message, fix })
}

/// The kind of a document, by apiVersion and kind.
fn identify(file: &Arc<PathBuf>, node: &Node<'_>) -> Result<Known, Refused> {
    check_manifest(file, node)?;
    let version = Header::read(node, "apiVersion", &format!("add apiVersion: {API_VERSION}"))?;
    let kind = Header::read(node, "kind", "add kind: Tool, ToolGroup or UserGrant")?;
    match (version.text, kind.among(&OURS), kind.among(&CORE)) {
        (API_VERSION, Some(known), _) | ("v1", _, Some(known)) => Ok(known),
        (API_VERSION, None, _) => Err(unknown_kind(&kind)),
        (_, ours, core) => Err(unknown_version(&version, &kind, ours.is_some(), core.is_some())),
    }
}

/// Whether a document means to be a manifest at all.
fn check_manifest(file: &Arc<PathBuf>, node: &Node<'_>) -> Result<(), Refused> {
    let manifest = format!(
        "write a manifest: apiVersion: {API_VERSION}, kind: Tool, ToolGroup or UserGrant, metadata, spec"
    );
    let (message, fix) = match &node.content {
        Content::Map(_) if node.get("apiVersion").or_else(|| node.get("kind")).is_some() => return Ok(()),
        Content::Map(_)
            if node.get("tools").is_some_and(|tools| matches!(tools.content, Content::List(_))) =>
        {
            let fix = format!("convert it: mcc import {} -o DIR", file.display());
            ("a toolset of the original MCC, not a manifest".to_owned(), fix)
        }
        Content::Map(_) => ("no manifest: apiVersion and kind are missing".to_owned(), manifest),
        Content::List(_) => {
            ("a document is a list".to_owned(), format!("{manifest}; or kind: List with items"))
        }
        Content::Scalar { text, .. } => {
            (format!("a document is the text {}", suggest::shortened(text)), manifest)
        }
    };
    Err(refused(node.mark, "", message, fix))
}

/// The text of apiVersion or kind, and where it stands.
struct Header<'a> {
    text: &'a str,
    mark: Mark,
}

impl<'a> Header<'a> {
    fn read(node: &'a Node<'_>, field: &str, fix: &str) -> Result<Self, Refused> {
        let value = node.get(field);
        let mark = value.map_or(node.mark, |value| value.mark);
        match value.and_then(Node::text) {
            Some(text) => Ok(Self { text, mark }),
            None => Err(refused(mark, field, format!("{field} is missing or no text"), fix)),
        }
    }

    fn among(&self, table: &[(&str, Known)]) -> Option<Known> {
        table.iter().find(|(name, _)| *name == self.text).map(|&(_, known)| known)
    }
}

/// A kind that this API doesn't have.
fn unknown_kind(kind: &Header<'_>) -> Refused {
    let fix = match suggest::nearest(kind.text, OURS.iter().map(|(name, _)| *name)) {
        Some(near) => format!("did you mean {near}?"),
        None => "write Tool, ToolGroup or UserGrant".to_owned(),
    };
    refused(kind.mark, "kind", format!("{API_VERSION} has no kind {}", kind.text), fix)
}

/// An apiVersion that isn't that of the kind; or a kind that is nobody's here, which is no error.
fn unknown_version(version: &Header<'_>, kind: &Header<'_>, is_ours: bool, is_core: bool) -> Refused {
    let of_group = version.text.split('/').next() == Some(GROUP);
    let right = match () {
        () if of_group || is_ours => API_VERSION,
        () if is_core => "v1",
        () => return ignored(version, kind),
    };
    let message = format!("there is no apiVersion {} of {}", version.text, kind.text);
    refused(version.mark, "apiVersion", message, format!("write apiVersion: {right}"))
}

fn ignored(version: &Header<'_>, kind: &Header<'_>) -> Refused {
    let message =
        format!("a catalog has no use for {} ({}): the document is ignored", kind.text, version.text);
    let fix = "leave it if it is for the cluster, else remove it";
    let (_, fault) = refused(kind.mark, "kind", message, fix);
    (Severity::Warning, fault)
}

/// The object as its type. An error is the path and what is wrong there.
fn typed(known: Known, mut value: Value) -> Result<Object, (String, String)> {
    if let Some(object) = value.as_object_mut() {
        object.remove("status");
        if known != Known::Namespace
            && let Some(Value::Object(metadata)) = object.get_mut("metadata")
        {
            metadata.entry("namespace").or_insert_with(|| Value::String(DEFAULT_NAMESPACE.to_owned()));
        }
        // A Tool without a spec would say "missing field spec": the rules have said better.
        if matches!(known, Known::Tool | Known::ToolGroup | Known::UserGrant) {
            object.entry("spec").or_insert_with(|| Value::Object(serde_json::Map::new()));
        }
    }
    Ok(match known {
        Known::Tool => Object::Tool(Arc::new(deserialize(&value)?)),
        Known::ToolGroup => Object::ToolGroup(Arc::new(deserialize(&value)?)),
        Known::UserGrant => Object::UserGrant(Arc::new(deserialize(&value)?)),
        Known::Secret => Object::Secret(Arc::new(secret(value)?)),
        Known::ConfigMap => Object::ConfigMap(Arc::new(deserialize(&value)?)),
        Known::Namespace => {
            let metadata = value.get("metadata").cloned().unwrap_or_default();
            let name = metadata["name"].as_str().unwrap_or_default().to_owned();
            let mut labels: BTreeMap<String, String> =
                metadata.get("labels").map(deserialize).transpose()?.unwrap_or_default();
            labels.insert("kubernetes.io/metadata.name".to_owned(), name.clone());
            Object::Namespace { name, labels }
        }
    })
}

fn deserialize<T: DeserializeOwned>(value: &Value) -> Result<T, (String, String)> {
    // The path costs time, so it is only looked for once something is wrong.
    T::deserialize(value).map_err(|_| match serde_path_to_error::deserialize::<_, T>(value) {
        Ok(_) => (String::new(), "the object can't be read".to_owned()),
        Err(error) => (error.path().to_string(), error.inner().to_string()),
    })
}

/// Checks the base64 of `data` and folds `stringData` into it, as the API server does.
fn secret(mut value: Value) -> Result<Secret, (String, String)> {
    if let Some(data) = value.get("data").and_then(Value::as_object) {
        for (key, text) in data {
            if STANDARD.decode(text.as_str().unwrap_or_default()).is_err() {
                let message = "the value is no base64; encode it, or give it as it is under stringData";
                return Err((format!("data[{key}]"), message.to_owned()));
            }
        }
    }
    let plain = value.as_object_mut().and_then(|object| object.remove("stringData"));
    let mut secret: Secret = deserialize(&value)?;
    if let Some(Value::Object(plain)) = plain {
        let data = secret.data.get_or_insert_default();
        for (key, text) in plain {
            let bytes = text.as_str().unwrap_or_default().as_bytes().to_vec();
            data.insert(key, k8s_openapi::ByteString(bytes));
        }
    }
    Ok(secret)
}
