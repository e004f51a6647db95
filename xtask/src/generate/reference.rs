//! `docs/reference.md`: every field of the kinds, from the schemas of their CRDs.

use std::fmt::Write as _;

use anyhow::Context;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

/// Fields whose own fields are those of a type of the Kubernetes API.
const KUBERNETES: [(&str, &str); 5] = [
    ("env", "list of EnvVar"),
    ("envFrom", "list of EnvFromSource"),
    ("tolerations", "list of Toleration"),
    ("imagePullSecrets", "list of LocalObjectReference"),
    ("selector", "LabelSelector"),
];

/// The page.
pub fn page(crds: &[CustomResourceDefinition]) -> anyhow::Result<String> {
    let mut text = String::from(
        "# Fields of the resources\n\n<!-- Generated from crds/src by `cargo xtask generate`; do not edit. -->\n\n\
         The API group is `mcc.dev`, the version `v1alpha1`; all kinds are namespaced. `kubectl explain tools.spec` shows \
         the same.\n",
    );
    for crd in crds {
        let version = crd.spec.versions.first().context("a CRD without a version")?;
        let schema = serde_json::to_value(&version.schema)?["openAPIV3Schema"].take();
        let names = &crd.spec.names;
        write!(text, "\n## {}\n\n{}", names.kind, description(&schema))?;
        if let Some(short) = names.short_names.as_ref().and_then(|names| names.first()) {
            write!(text, " Short name: `{short}`.")?;
        }
        text.push_str("\n\n| field | type | meaning |\n|---|---|---|\n");
        let mut rules = messages(&schema, "");
        fields(&schema["properties"]["spec"], "spec", &mut text, &mut rules)?;
        text.push_str("\nRefused besides:\n\n");
        for rule in rules {
            writeln!(text, "- {rule}")?;
        }
    }
    Ok(text)
}

fn fields(schema: &Value, path: &str, text: &mut String, rules: &mut Vec<String>) -> anyhow::Result<()> {
    rules.extend(messages(schema, path));
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let below = format!("{path}.{name}");
        let foreign = KUBERNETES.iter().find(|(known, _)| known == name).map(|&(_, kind)| kind);
        let kind = foreign.map_or_else(|| kind(field), str::to_owned);
        let need = if required.contains(&name.as_str()) { " **Required.**" } else { "" };
        writeln!(text, "| `{below}` | {kind} | {}{need} |", description(field).replace('|', "\\|"))?;
        if foreign.is_some() {
            rules.extend(messages(field, &below));
            continue;
        }
        fields(field, &below, text, rules)?;
        if field["items"].is_object() {
            fields(&field["items"], &format!("{below}[]"), text, rules)?;
        }
    }
    Ok(())
}

fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the CEL rules of a value say.
fn messages(schema: &Value, path: &str) -> Vec<String> {
    let rules = schema["x-kubernetes-validations"].as_array().into_iter().flatten();
    let at = if path.is_empty() { String::new() } else { format!("`{path}`: ") };
    rules.filter_map(|rule| rule["message"].as_str()).map(|message| format!("{at}{message}")).collect()
}

fn kind(schema: &Value) -> String {
    let bound = |least: &str, most: &str, unit: &str| match (schema[least].as_f64(), schema[most].as_f64()) {
        (Some(least), Some(most)) => format!(", {least} to {most}{unit}"),
        (None, Some(most)) => format!(", at most {most}{unit}"),
        (Some(least), None) => format!(", at least {least}{unit}"),
        (None, None) => String::new(),
    };
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<_> =
            choices.iter().filter_map(Value::as_str).map(|choice| format!("`{choice}`")).collect();
        let default =
            schema["default"].as_str().map(|default| format!(", default `{default}`")).unwrap_or_default();
        return format!("{}{default}", choices.join(", "));
    }
    match schema["type"].as_str() {
        Some("string") if schema["format"] == "date-time" => "time".to_owned(),
        Some("string") => format!("string{}", bound("minLength", "maxLength", " characters")),
        Some("array") => {
            format!("list of {}{}", element(&schema["items"]), bound("minItems", "maxItems", " elements"))
        }
        Some("object") if schema["additionalProperties"].is_object() => {
            format!(
                "map of {}{}",
                element(&schema["additionalProperties"]),
                bound("minProperties", "maxProperties", " entries")
            )
        }
        Some(kind @ ("integer" | "number")) => format!("{kind}{}", bound("minimum", "maximum", "")),
        Some(kind) => kind.to_owned(),
        None => "any value".to_owned(),
    }
}

fn element(schema: &Value) -> String {
    match schema["type"].as_str() {
        Some("string") => "strings".to_owned(),
        Some("object") => "objects".to_owned(),
        Some(other) => other.to_owned(),
        None => "any values".to_owned(),
    }
}
