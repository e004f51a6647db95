//! Parameters as manifests write them.

use mcc_catalog::example;
use mcc_crds::v1alpha1::ParamType;
use serde_json::{Map, Value, json};

use super::python::Function;
use super::report::{Action, Notes};
use super::source::{Param, truth};

/// The `params` of a Tool.
pub fn section(params: &[Param], notes: &mut Notes) -> Vec<Value> {
    params.iter().map(|param| Value::Object(one(param, notes))).collect()
}

fn one(param: &Param, notes: &mut Notes) -> Map<String, Value> {
    let field = format!("params.{}", param.name);
    let mut map = Map::new();
    map.insert("name".to_owned(), json!(param.name));
    map.insert("type".to_owned(), json!(param.kind));
    if !param.description.trim().is_empty() {
        map.insert("description".to_owned(), json!(param.description.trim()));
    }
    if let Some(fixed) = &param.fixed {
        map.insert("override".to_owned(), fixed.clone());
        return map;
    }
    match (&param.default, param.required) {
        (Some(_), true) => {
            notes.add(&field, Action::Dropped, "a required parameter has no use for its default");
        }
        (None, true) => {}
        (Some(default), false) => match coerce(default, param.kind) {
            Some(value) => {
                if value != *default {
                    notes.add(
                        &field,
                        Action::Changed,
                        format!("the default is the {} {value}", param.kind.name()),
                    );
                }
                map.insert("default".to_owned(), value);
            }
            None => {
                notes.add(
                    &field,
                    Action::Dropped,
                    format!(
                        "the default {default} is no {}: the parameter is just optional",
                        param.kind.name()
                    ),
                );
                map.insert("required".to_owned(), json!(false));
            }
        },
        (None, false) => {
            map.insert("required".to_owned(), json!(false));
        }
    }
    if let Some(example) = &param.example {
        match coerce(example, param.kind) {
            Some(example) => {
                map.insert("example".to_owned(), example);
            }
            None => notes.add(
                &field,
                Action::Dropped,
                format!("the example {example} is no {}", param.kind.name()),
            ),
        }
    }
    map
}

/// `value` as a value of `kind`, where there is no doubt about it.
fn coerce(value: &Value, kind: ParamType) -> Option<Value> {
    match (kind, value) {
        (ParamType::Str, Value::String(_))
        | (ParamType::List, Value::Array(_))
        | (ParamType::Dict, Value::Object(_)) => Some(value.clone()),
        (ParamType::Str, Value::Number(_) | Value::Bool(_)) => Some(json!(value.to_string())),
        (ParamType::Int, Value::Number(number)) if number.is_i64() || number.is_u64() => Some(value.clone()),
        (ParamType::Int, Value::Number(number)) => {
            let number = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15)?;
            #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
            Some(json!(number as i64))
        }
        (ParamType::Int, Value::String(text)) => text.trim().parse::<i64>().ok().map(|number| json!(number)),
        (ParamType::Float, Value::Number(_)) => Some(value.clone()),
        (ParamType::Float, Value::String(text)) => {
            text.trim().parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number)
        }
        (ParamType::Bool, value) => truth(value).map(|truth| json!(truth)),
        (ParamType::List | ParamType::Dict, Value::String(text)) => {
            let parsed: Value = serde_json::from_str(text).ok()?;
            coerce(&parsed, kind).filter(|_| !parsed.is_string())
        }
        _ => None,
    }
}

/// Parameters as Python's introspection found them.
pub fn of_function(function: &Function) -> Vec<Value> {
    function
        .params
        .iter()
        .map(|param| {
            let mut map = Map::new();
            map.insert("name".to_owned(), json!(param.name));
            map.insert("type".to_owned(), json!(param.kind));
            match (&param.default, param.required) {
                (Some(default), _) if !default.is_null() => {
                    map.insert("default".to_owned(), default.clone());
                }
                (_, Some(true)) => {}
                _ => {
                    map.insert("required".to_owned(), json!(false));
                }
            }
            if let Some(items) = param.items {
                map.insert("items".to_owned(), json!(items));
            }
            Value::Object(map)
        })
        .collect()
}

/// Parameters as an example call uses them: better than none where the module can't be imported.
pub fn of_example(text: &str) -> Option<Vec<Value>> {
    let call = example::parse(text).ok()?;
    let kind = |value: &Value| match value {
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
        Value::String(_) | Value::Null => "str",
    };
    let params = call
        .arguments
        .iter()
        .map(|(name, value)| json!({ "name": name, "type": kind(value), "required": false }));
    Some(params.collect())
}
