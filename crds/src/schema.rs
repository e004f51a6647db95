//! What the derived schemas need beyond what the derives write.
//!
//! The API server takes only structural schemas, its CEL cost estimate needs a bound on every string, list and map, and
//! `has()` in a CEL rule takes an explicit null of a nullable field for a value. [`tidy`] sees to all three.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::pattern;

/// Bound of strings that name none: names, references, selector values.
const STRING: u64 = 1024;
/// Bound of lists and maps that name none.
const ITEMS: u64 = 64;
/// Longest value of an environment variable, in bytes: the kernel's bound of one `NAME=value` string.
const ENV_VALUE: u64 = 131_072;

/// Makes the schema of a spec or a status fit for the API server: no `nullable` on optional fields, and a bound on every
/// string, list and map.
pub(crate) fn tidy(schema: &mut Schema) {
    if let Some(object) = schema.as_object_mut() {
        tidy_node(object);
    }
}

fn tidy_node(node: &mut Map<String, Value>) {
    drop_null(node);
    fill_bounds(node);
    for key in ["properties", "patternProperties"] {
        if let Some(Value::Object(children)) = node.get_mut(key) {
            children.values_mut().filter_map(Value::as_object_mut).for_each(tidy_node);
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(Value::Object(child)) = node.get_mut(key) {
            tidy_node(child);
        }
    }
}

/// Takes `null` out of the types that a node allows. A null in a manifest is then pruned: the field counts as absent.
fn drop_null(node: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = node.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [kind] = types.as_slice() {
            let kind = kind.clone();
            node.insert("type".into(), kind);
        }
    }
    if !node.contains_key("x-kubernetes-preserve-unknown-fields") {
        node.remove("nullable");
    }
    let Some(Value::Array(branches)) = node.get("anyOf") else { return };
    let rest: Vec<Value> = branches.iter().filter(|b| !is_null(b)).cloned().collect();
    if let [Value::Object(only)] = rest.as_slice() {
        let only = only.clone();
        node.remove("anyOf");
        for (key, value) in only {
            node.entry(key).or_insert(value);
        }
    }
}

fn is_null(branch: &Value) -> bool {
    branch.get("type") == Some(&json!("null")) || branch.get("enum") == Some(&json!([null]))
}

fn fill_bounds(node: &mut Map<String, Value>) {
    let (bound, value) = match node.get("type").and_then(Value::as_str) {
        // Enumerated and formatted strings are bounded by what they are.
        Some("string") if !["enum", "oneOf", "const", "format"].iter().any(|k| node.contains_key(*k)) => {
            ("maxLength", STRING)
        }
        Some("array") => ("maxItems", ITEMS),
        Some("object") if node.contains_key("additionalProperties") => ("maxProperties", ITEMS),
        _ => return,
    };
    node.entry(bound).or_insert_with(|| json!(value));
}

/// Schema of a field that takes any value, an explicit null included.
pub(crate) fn any_value(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "x-kubernetes-preserve-unknown-fields": true, "nullable": true })
}

/// Schema of a list of any values.
pub(crate) fn any_values(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "maxItems": 256,
        "items": { "x-kubernetes-preserve-unknown-fields": true }
    })
}

/// Bounds of a list of `EnvVar`: names that a shell can export, each once.
pub(crate) fn env(schema: &mut Schema) {
    let Some(list) = schema.as_object_mut() else { return };
    list.insert("x-kubernetes-list-type".into(), json!("map"));
    list.insert("x-kubernetes-list-map-keys".into(), json!(["name"]));
    for (field, bound) in [("name", 128), ("value", ENV_VALUE)] {
        if let Some(Value::Object(node)) =
            list.get_mut("items").and_then(|i| i.pointer_mut(&format!("/properties/{field}")))
        {
            node.insert("maxLength".into(), json!(bound));
            if field == "name" {
                node.insert("pattern".into(), json!(pattern::ENV_NAME));
            }
        }
    }
}

/// Bounds of a list of `EnvFromSource`.
pub(crate) fn env_from(schema: &mut Schema) {
    if let Some(Value::Object(node)) = schema.pointer_mut("/items/properties/prefix") {
        node.insert("maxLength".into(), json!(64));
        node.insert("pattern".into(), json!(pattern::ENV_PREFIX));
    }
}

/// Keeps an explicit null apart from an absent field: `Some(Null)` against `None`.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Bounds of a map whose values are templates or free text.
pub(crate) fn long_values(schema: &mut Schema) {
    if let Some(Value::Object(values)) = schema.pointer_mut("/additionalProperties") {
        values.insert("maxLength".into(), json!(8192));
    }
}

/// Bounds of labels and of selectors of labels.
pub(crate) fn label_values(schema: &mut Schema) {
    if let Some(Value::Object(values)) = schema.pointer_mut("/additionalProperties") {
        values.insert("maxLength".into(), json!(63));
        values.insert("pattern".into(), json!(pattern::LABEL_VALUE));
    }
}
