//! The parameters of a tool as JSON Schema.

use mcc_crds::v1alpha1::{ItemType, ParamType};
use serde_json::{Map, Value, json};

use crate::model::{CompiledTool, Parameter};

/// JSON Schema (2020-12) of the parameters that callers may give. It has the types proper; what is accepted besides
/// them (see [`validate`](super::validate)) is not for a schema to advertise.
pub fn input_schema(tool: &CompiledTool) -> Map<String, Value> {
    let visible = || tool.params.iter().filter(|param| param.fixed.is_none());
    let properties: Map<String, Value> =
        visible().map(|param| (param.name.clone(), Value::Object(property(param)))).collect();
    let required: Vec<&str> =
        visible().filter(|param| param.required).map(|param| param.name.as_str()).collect();
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    schema.insert("additionalProperties".to_owned(), json!(false));
    schema
}

fn property(param: &Parameter) -> Map<String, Value> {
    let mut schema = Map::new();
    let mut set = |name: &str, value: Value| {
        schema.insert(name.to_owned(), value);
    };
    set("type", json!(json_type(param.kind)));
    if !param.description.is_empty() {
        set("description", json!(param.description));
    }
    if let Some(items) = param.items {
        set("items", json!({ "type": json_type_of_item(items) }));
    }
    if !param.choices.is_empty() {
        set("enum", json!(param.choices));
    }
    if let Some(minimum) = param.minimum {
        set("minimum", number(minimum));
    }
    if let Some(maximum) = param.maximum {
        set("maximum", number(maximum));
    }
    let (shortest, longest) = match param.kind {
        ParamType::List => ("minItems", "maxItems"),
        _ => ("minLength", "maxLength"),
    };
    if let Some(min) = param.min_length {
        set(shortest, json!(min));
    }
    if let Some(max) = param.max_length {
        set(longest, json!(max));
    }
    if let Some(pattern) = &param.pattern {
        set("pattern", json!(pattern.as_str()));
    }
    if let Some(default) = param.default.as_ref().filter(|default| !default.is_null()) {
        set("default", default.clone());
    }
    if let Some(example) = &param.example {
        set("examples", json!([example]));
    }
    schema
}

/// Whole numbers without a fraction: `100`, not `100.0`.
fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and small")]
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

fn json_type(kind: ParamType) -> &'static str {
    match kind {
        ParamType::Str => "string",
        ParamType::Int => "integer",
        ParamType::Float => "number",
        ParamType::Bool => "boolean",
        ParamType::List => "array",
        ParamType::Dict => "object",
    }
}

fn json_type_of_item(items: ItemType) -> &'static str {
    match items {
        ItemType::Str => "string",
        ItemType::Int => "integer",
        ItemType::Float => "number",
        ItemType::Bool => "boolean",
        ItemType::List => "array",
        ItemType::Dict => "object",
    }
}
