//! The catalog that the tests serve.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcc_catalog::compile::{CatalogSettings, compile};
use mcc_catalog::model::{Catalog, Entry, NamespacedName, ObjectSet, Severity};
use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};
use serde_json::{Value, json};

/// The tools of the test catalog, as `(name, groups, further spec)`.
fn tools() -> Vec<(&'static str, &'static [&'static str], Value)> {
    let text = || json!({"params": [{"name": "text", "type": "str", "description": "Text to say."}]});
    vec![
        ("echo", &["public"], text()),
        (
            "greet",
            &["public"],
            json!({"description": "Greets somebody.\n", "params": [
                {"name": "who", "type": "str", "description": "Whom to greet."},
                {"name": "times", "type": "int", "default": 1, "maximum": 9, "description": "How often."},
            ]}),
        ),
        ("named_params", &["public"], json!({"params": [{"name": "key", "type": "str"}]})),
        ("secret", &["academic"], json!({"description": "Only for scholars."})),
        ("lonely", &["lab"], json!({"description": "Granted by key."})),
        ("structured", &["public"], json!({})),
        ("fail", &["public"], json!({})),
        ("slow", &["public"], json!({})),
        ("big", &["public"], json!({"limits": {"outputBytes": 1024}})),
        ("keep", &["public"], json!({})),
        ("context", &["public"], json!({})),
        ("timeout", &["public"], json!({})),
        ("full", &["public"], json!({})),
        ("limited", &["public"], json!({"rateLimit": {"perMinute": 2}})),
        ("count", &["public"], json!({"shell": {"script": "seq 1 200000; exec 1>&2; echo noted"}})),
        (
            "hang",
            &["public"],
            json!({"shell": {"script": "echo $$ > \"$MCC_PARAM_FILE\"; sleep 600"},
            "params": [{"name": "file", "type": "str"}]}),
        ),
        (
            "noting",
            &["public"],
            json!({"shell": {"script": "echo 'project={\"id\": 7}' >> \"$MCC_SESSION\"; echo ok"}}),
        ),
        ("cached", &["public"], json!({"cache": {"seconds": 60}})),
        ("shared", &["public"], json!({"cache": {"seconds": 60, "scope": "Shared"}})),
    ]
}

fn tool(name: &str, groups: &[&str], further: &Value) -> Tool {
    let object = name.replace('_', "-");
    let mut spec = json!({"name": name, "groups": groups, "shell": {"script": "true"}});
    spec.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "Tool",
        "metadata": {"name": object, "namespace": "mcc-catalog"}, "spec": spec,
    }))
    .unwrap()
}

fn group(name: &str) -> ToolGroup {
    serde_json::from_value(json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "ToolGroup",
        "metadata": {"name": name, "namespace": "mcc-catalog"}, "spec": {"description": name},
    }))
    .unwrap()
}

fn grant(user: &str, spec: &Value) -> UserGrant {
    let mut whole = json!({"subject": {"kind": "User", "name": user}});
    whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "UserGrant",
        "metadata": {"name": user, "namespace": "mcc-catalog"}, "spec": whole,
    }))
    .unwrap()
}

fn entries<T>(objects: Vec<T>, name: impl Fn(&T) -> String) -> BTreeMap<NamespacedName, Entry<T>> {
    let key = |object: &T| NamespacedName::new("mcc-catalog", name(object));
    objects.into_iter().map(|object| (key(&object), Entry::from_cluster(object))).collect()
}

/// The test catalog without the tools named.
pub fn catalog(without: &[&str]) -> Catalog {
    let alice = json!({"email": "alice@example.com", "groups": ["academic"]});
    catalog_of(tools().into_iter().filter(|(name, _, _)| !without.contains(name)).collect(), &alice)
}

/// A catalog of these tools in which alice has this grant.
pub fn catalog_of(tools: Vec<(&str, &[&str], Value)>, alice: &Value) -> Catalog {
    let tools = tools.into_iter().map(|(name, groups, further)| tool(name, groups, &further)).collect();
    let objects = ObjectSet {
        tools: entries(tools, |tool: &Tool| tool.metadata.name.clone().unwrap()),
        groups: entries(vec![group("academic"), group("lab")], |group: &ToolGroup| {
            group.metadata.name.clone().unwrap()
        }),
        grants: entries(
            vec![grant("alice", alice), grant("bob", &json!({"tools": ["lab.lonely"]}))],
            |grant: &UserGrant| grant.metadata.name.clone().unwrap(),
        ),
        ..ObjectSet::default()
    };
    let catalog = compile(Arc::new(objects), &CatalogSettings::directory(), None);
    assert!(catalog.problems.iter().all(|p| p.severity == Severity::Warning), "{:#?}", catalog.problems);
    catalog
}
