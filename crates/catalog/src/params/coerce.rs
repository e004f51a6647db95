//! One value to the type of its parameter, where its meaning is certain, and the bounds of a parameter.
//!
//! | type | accepted besides the type itself |
//! |---|---|
//! | str | numbers and booleans, as JSON writes them |
//! | int | a float without fraction up to 2⁵³, a bool (1, 0), a str such as `5`, ` 5 `, `1_000`, `5.0` |
//! | float | an int, a bool, a str of a finite number |
//! | bool | 0 and 1, a str true/false, yes/no, on/off, t/f, y/n, 1/0 in any case |
//! | list, dict | a str that is the JSON text of one |
//!
//! NaN and the infinities are no JSON and are refused.

use mcc_crds::v1alpha1::{ItemType, ParamType};
use serde_json::{Number, Value};

use crate::model::Parameter;

/// Nesting beyond which a value is refused.
const MAX_DEPTH: usize = 64;
/// The largest float of which every smaller whole number is a float too.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// `value` as `kind`, its elements as `items`, or what is wrong with it.
pub fn coerce(kind: ParamType, items: Option<ItemType>, value: &Value) -> Result<Value, String> {
    let value = match kind {
        ParamType::Str => to_str(value),
        ParamType::Int => to_int(value),
        ParamType::Float => to_float(value),
        ParamType::Bool => to_bool(value),
        ParamType::List => to_list(value, items)?,
        ParamType::Dict => to_dict(value),
    }
    .ok_or_else(|| format!("must be {}, not {}", wanted(kind, items), preview(value)))?;
    if depth_exceeds(&value, MAX_DEPTH) {
        return Err(format!("is nested deeper than {MAX_DEPTH} levels"));
    }
    Ok(value)
}

/// Checks a coerced value against the parameter's choices, bounds, lengths and pattern.
pub fn check_bounds(param: &Parameter, value: &Value) -> Result<(), String> {
    if !param.choices.is_empty() && !param.choices.iter().any(|choice| same(choice, value)) {
        let choices: Vec<String> = param.choices.iter().map(preview).collect();
        return Err(format!("must be one of {}, not {}", choices.join(", "), preview(value)));
    }
    if let Some(number) = value.as_f64() {
        if let Some(minimum) = param.minimum.filter(|minimum| number < *minimum) {
            return Err(format!("must be at least {minimum}, not {}", preview(value)));
        }
        if let Some(maximum) = param.maximum.filter(|maximum| number > *maximum) {
            return Err(format!("must be at most {maximum}, not {}", preview(value)));
        }
    }
    let (length, unit) = match value {
        Value::String(text) => (text.chars().count(), "characters"),
        Value::Array(elements) => (elements.len(), "elements"),
        _ => return Ok(()),
    };
    if let Some(min) = param.min_length.filter(|min| length < *min) {
        return Err(format!("must have at least {min} {unit}, not {length}"));
    }
    if let Some(max) = param.max_length.filter(|max| length > *max) {
        return Err(format!("must have at most {max} {unit}, not {length}"));
    }
    match (&param.pattern, value) {
        (Some(pattern), Value::String(text)) if !pattern.is_match(text) => {
            Err(format!("must match the pattern {pattern}, which {} doesn't", preview(value)))
        }
        _ => Ok(()),
    }
}

/// A value for an error message: JSON text of at most 60 characters.
pub fn preview(value: &Value) -> String {
    const MOST: usize = 60;
    match value {
        Value::Array(elements) if elements.len() > 8 => format!("a list of {} elements", elements.len()),
        Value::Object(fields) if fields.len() > 8 => format!("an object of {} fields", fields.len()),
        Value::String(text) if text.len() > 4 * MOST => {
            format!("{}…", Value::from(text.chars().take(MOST).collect::<String>()))
        }
        _ if depth_exceeds(value, 4) => "a nested value".to_owned(),
        _ => {
            let text = value.to_string();
            match text.char_indices().nth(MOST) {
                Some((end, _)) => format!("{}…", &text[..end]),
                None => text,
            }
        }
    }
}

/// Whether a text anywhere in the value has U+0000. The value is at most [`MAX_DEPTH`] deep.
pub(super) fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(elements) => elements.iter().any(has_nul),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn wanted(kind: ParamType, items: Option<ItemType>) -> String {
    match (kind, items) {
        (ParamType::Str, _) => "a str".to_owned(),
        (ParamType::Int, _) => "an int".to_owned(),
        (ParamType::Float, _) => "a float".to_owned(),
        (ParamType::Bool, _) => "a bool (true or false)".to_owned(),
        (ParamType::List, None) => "a list such as [\"a\", \"b\"]".to_owned(),
        (ParamType::List, Some(items)) => {
            let example = match items {
                ItemType::Str => "[\"a\", \"b\"]",
                ItemType::Int => "[1, 2]",
                ItemType::Float => "[1.5, 2.0]",
                ItemType::Bool => "[true, false]",
                ItemType::List => "[[1], [2]]",
                ItemType::Dict => "[{\"a\": 1}]",
            };
            format!("a list such as {example}")
        }
        (ParamType::Dict, _) => "an object such as {\"a\": 1}".to_owned(),
    }
}

fn to_str(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        // Digits beyond what JSON readers keep are lost already.
        Value::Number(number) if number.is_f64() && number.as_f64().is_some_and(|x| x.abs() > EXACT) => None,
        Value::Number(number) => Some(Value::from(number.to_string())),
        Value::Bool(truth) => Some(Value::from(if *truth { "true" } else { "false" })),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn to_int(value: &Value) -> Option<Value> {
    match value {
        Value::Number(number) if number.is_f64() => whole(number.as_f64()?),
        Value::Number(_) => Some(value.clone()),
        Value::Bool(truth) => Some(Value::from(i64::from(*truth))),
        Value::String(text) => {
            let digits = ungrouped(text.trim())?;
            let (digits, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
            if !fraction.bytes().all(|digit| digit == b'0') {
                return None;
            }
            let integer = digits.parse::<i64>().map(Value::from);
            integer.or_else(|_| digits.parse::<u64>().map(Value::from)).ok()
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A float without fraction as an integer; none where it may stand for another one.
fn whole(float: f64) -> Option<Value> {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and within ±2^53")]
    (float.fract() == 0.0 && float.abs() <= EXACT).then(|| Value::from(float as i64))
}

/// The text without underscores between digits; none if an underscore stands elsewhere.
fn ungrouped(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let between_digits = |at: usize| {
        at > 0 && bytes[at - 1].is_ascii_digit() && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
    };
    let stray = bytes.iter().enumerate().any(|(at, byte)| *byte == b'_' && !between_digits(at));
    (!stray).then(|| text.replace('_', ""))
}

fn to_float(value: &Value) -> Option<Value> {
    let float = match value {
        Value::Number(number) => number.as_f64()?,
        Value::Bool(truth) => f64::from(u8::from(*truth)),
        Value::String(text) => ungrouped(text.trim())?.parse().ok()?,
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    Number::from_f64(float).map(Value::Number)
}

fn to_bool(value: &Value) -> Option<Value> {
    let truth = match value {
        Value::Bool(truth) => *truth,
        Value::Number(number) => match number.as_f64()? {
            0.0 => false,
            1.0 => true,
            _ => return None,
        },
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "t" | "y" | "1" => true,
            "false" | "no" | "off" | "f" | "n" | "0" => false,
            _ => return None,
        },
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(Value::Bool(truth))
}

fn to_list(value: &Value, items: Option<ItemType>) -> Result<Option<Value>, String> {
    let elements = match value {
        Value::Array(elements) => elements.clone(),
        Value::String(text) if text.trim_start().starts_with('[') => match serde_json::from_str(text) {
            Ok(Value::Array(elements)) => elements,
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let Some(items) = items else { return Ok(Some(Value::Array(elements))) };
    let coerced = elements.iter().enumerate().map(|(position, element)| {
        coerce(element_type(items), None, element).map_err(|message| format!("element {position} {message}"))
    });
    coerced.collect::<Result<Vec<Value>, String>>().map(|elements| Some(Value::Array(elements)))
}

fn to_dict(value: &Value) -> Option<Value> {
    match value {
        Value::Object(_) => Some(value.clone()),
        Value::String(text) if text.trim_start().starts_with('{') => {
            serde_json::from_str(text).ok().filter(Value::is_object)
        }
        _ => None,
    }
}

/// The parameter type with the rules of this element type.
fn element_type(items: ItemType) -> ParamType {
    match items {
        ItemType::Str => ParamType::Str,
        ItemType::Int => ParamType::Int,
        ItemType::Float => ParamType::Float,
        ItemType::Bool => ParamType::Bool,
        ItemType::List => ParamType::List,
        ItemType::Dict => ParamType::Dict,
    }
}

/// Equal, numbers by value: 1 and 1.0 are the same choice.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        _ => a == b,
    }
}

/// Whether the value is nested deeper than `levels`. Looks no deeper than that itself.
fn depth_exceeds(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => true,
        Value::Array(elements) => elements.iter().any(|element| depth_exceeds(element, levels - 1)),
        Value::Object(fields) => fields.values().any(|field| depth_exceeds(field, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
