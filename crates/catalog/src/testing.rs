//! Objects for tests, from the YAML that a person would write.

use std::sync::Arc;

use proptest::test_runner::Config as ProptestConfig;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::compile::{CatalogSettings, DEFAULT_CATALOG_NAMESPACE, compile};
use crate::model::{
    Access, Caller, Catalog, CompiledTool, Entry, Identity, NamespacedName, ObjectKind, ObjectRef, ObjectSet,
    Problem,
};

/// How many cases a property runs: in a continuous build, and in `./test --full` (`MCC_FULL`).
pub(crate) fn cases(ci: u32, full: u32) -> ProptestConfig {
    let cases = if std::env::var_os("MCC_FULL").is_some() { full } else { ci };
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 4000, ..ProptestConfig::default() }
}

/// The documents of `yaml` as objects of a cluster; without a namespace in that of the catalog.
pub(crate) fn objects(yaml: &str) -> ObjectSet {
    let mut set = ObjectSet::default();
    for document in serde_yaml::Deserializer::from_str(yaml) {
        let value = Value::deserialize(document).unwrap();
        if value.is_null() {
            continue;
        }
        let metadata = &value["metadata"];
        let namespace = metadata["namespace"].as_str().unwrap_or(DEFAULT_CATALOG_NAMESPACE);
        let name = NamespacedName::new(namespace, metadata["name"].as_str().unwrap());
        match value["kind"].as_str().unwrap() {
            "Tool" => {
                set.tools.insert(name, Entry::from_cluster(typed(value)));
            }
            "ToolGroup" => {
                set.groups.insert(name, Entry::from_cluster(typed(value)));
            }
            "UserGrant" => {
                set.grants.insert(name, Entry::from_cluster(typed(value)));
            }
            "Secret" => {
                set.secrets.insert(name, Arc::new(typed(value)));
            }
            "ConfigMap" => {
                set.config_maps.insert(name, Arc::new(typed(value)));
            }
            "Namespace" => {
                let labels = serde_json::from_value(metadata["labels"].clone()).unwrap_or_default();
                set.namespaces.insert(name.name, labels);
            }
            kind => panic!("{kind}"),
        }
    }
    set
}

fn typed<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// The catalog of `yaml`, as a folder's.
pub(crate) fn catalog(yaml: &str) -> Catalog {
    compile(Arc::new(objects(yaml)), &CatalogSettings::directory(), None)
}

/// A Tool of the given spec (YAML, unindented) in the group `g`, compiled; it must have no errors.
pub(crate) fn tool(spec: &str) -> Arc<CompiledTool> {
    let catalog = catalog(&manifest(spec));
    let tool = catalog.tools.values().next().cloned();
    tool.unwrap_or_else(|| panic!("{:#?}", catalog.problems))
}

/// The problems of a Tool of the given spec.
pub(crate) fn problems(spec: &str) -> Vec<Problem> {
    catalog(&manifest(spec)).problems
}

fn manifest(spec: &str) -> String {
    let spec = format!("  {}\n", spec.replace('\n', "\n  "));
    let groups =
        if spec.contains("\n  groups:") || spec.starts_with("  groups:") { "" } else { "  groups: [g]\n" };
    let runs =
        ["shell:", "python:", "http:", "container:"].iter().any(|kind| spec.contains(&format!("  {kind}")));
    let shell = if runs { "" } else { "  shell: {script: 'true'}\n" };
    let description = if spec.contains("  description:") { "" } else { "  description: Does it.\n" };
    format!(
        "kind: ToolGroup\napiVersion: mcc.dev/v1alpha1\nmetadata: {{name: g}}\nspec: {{}}\n---\n\
         kind: Tool\napiVersion: mcc.dev/v1alpha1\nmetadata: {{name: my-tool}}\nspec:\n{groups}{description}{shell}{spec}"
    )
}

/// `ERROR Reason path: message; fix` of each problem.
pub(crate) fn lines(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// The verdict's key of a Tool, or the reason of its first problem.
pub(crate) fn outcome(catalog: &Catalog, namespace: &str, name: &str) -> String {
    let object = ObjectRef::new(ObjectKind::Tool, NamespacedName::new(namespace, name));
    let verdict = &catalog.verdicts[&object];
    match &verdict.key {
        Some(key) => key.clone(),
        None => verdict
            .problems
            .first()
            .map_or_else(|| "nothing".to_owned(), |problem| problem.reason.to_string()),
    }
}

/// A user without anything.
pub(crate) fn user(name: &str) -> Identity {
    Identity {
        issuer: "test".to_owned(),
        kind: mcc_crds::v1alpha1::SubjectKind::User,
        name: name.to_owned(),
        namespace: None,
        email: None,
        provider_groups: Vec::new(),
        builtin_groups: Vec::new(),
    }
}

/// The access of an identity at a time (RFC 3339).
pub(crate) fn access(catalog: &Catalog, identity: Identity, now: &str) -> Access {
    catalog.access(&Caller::Authenticated(Arc::new(identity)), now.parse().unwrap())
}

/// A JSON object.
pub(crate) fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other}"),
    }
}
