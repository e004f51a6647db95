//! Parameters of a Tool, compiled.

use std::collections::BTreeMap;

use mcc_crds::v1alpha1::{Param, ParamType};
use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::finding::Findings;
use super::names;
use crate::model::{Parameter, Reason};
use crate::params::{check_bounds, coerce_value};

/// Bytes a compiled pattern may take.
const PATTERN_BYTES: usize = 1 << 20;

/// Compiles the parameters in declared order. `python`: session values come as the argument `context` there.
pub(super) fn compile(specs: &[Param], python: bool, findings: &mut Findings) -> Vec<Parameter> {
    check_names(specs, python, findings);
    specs
        .iter()
        .enumerate()
        .map(|(position, spec)| parameter(spec, &format!("spec.params[{position}]"), findings))
        .collect()
}

fn check_names(specs: &[Param], python: bool, findings: &mut Findings) {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (position, Param { name, .. }) in specs.iter().enumerate() {
        let path = format!("spec.params[{position}].name");
        if !names::is_param_name(name) {
            findings.error(
                Reason::InvalidParameter,
                path,
                format!("{name:?} can't name a parameter"),
                "use letters, digits and underscores, not beginning with a digit, at most 64",
            );
            continue;
        }
        if python && name == "context" {
            findings.error(
                Reason::InvalidParameter,
                path.clone(),
                "a Python function is given the session values as its argument context",
                "remove the parameter, or call it something else",
            );
        }
        if let Some(other) = seen.insert(name.to_ascii_uppercase(), name) {
            let message = if other == name {
                format!("there are two parameters {name}")
            } else {
                format!("{name} and {other} would both be MCC_PARAM_{}", name.to_ascii_uppercase())
            };
            findings.error(Reason::InvalidParameter, path, message, "rename one of them");
        }
    }
}

fn parameter(spec: &Param, path: &str, findings: &mut Findings) -> Parameter {
    check_fit(spec, path, findings);
    let mut param = Parameter {
        name: spec.name.clone(),
        kind: spec.kind,
        description: super::text::clean(&spec.description),
        required: spec.required.unwrap_or(spec.default.is_none()) && spec.r#override.is_none(),
        default: None,
        fixed: None,
        example: None,
        choices: Vec::new(),
        minimum: spec.minimum,
        maximum: spec.maximum,
        min_length: spec.min_length.and_then(|length| usize::try_from(length).ok()),
        max_length: spec.max_length.and_then(|length| usize::try_from(length).ok()),
        pattern: spec.pattern.as_ref().and_then(|pattern| compile_pattern(pattern, path, findings)),
        items: spec.items,
        allow_leading_dash: spec.allow_leading_dash.unwrap_or(false),
    };
    for (position, choice) in spec.choices.iter().enumerate() {
        let path = format!("{path}.enum[{position}]");
        if let Some(choice) = typed(&param, choice, &path, findings) {
            param.choices.push(choice);
        }
    }
    param.default = checked(&param, spec.default.as_ref(), &format!("{path}.default"), findings);
    param.fixed = checked(&param, spec.r#override.as_ref(), &format!("{path}.override"), findings);
    param.example = checked(&param, spec.example.as_ref(), &format!("{path}.example"), findings);
    if param.required && param.default.as_ref().is_some_and(|default| !default.is_null()) {
        findings.warn(
            Reason::Suspicious,
            format!("{path}.required"),
            "a required parameter never takes its default",
            "remove required: true, or the default",
        );
    }
    if spec.r#override.is_some() && (spec.default.is_some() || spec.required == Some(true)) {
        findings.warn(
            Reason::Suspicious,
            path,
            "the override counts always, so default and required count for nothing",
            "remove them, or the override",
        );
    }
    param
}

/// Bounds that don't fit the type, or each other.
fn check_fit(spec: &Param, path: &str, findings: &mut Findings) {
    let number = matches!(spec.kind, ParamType::Int | ParamType::Float);
    let sized = matches!(spec.kind, ParamType::Str | ParamType::List);
    let text = spec.kind == ParamType::Str;
    let list = spec.kind == ParamType::List;
    for (field, given, fits, types) in [
        ("minimum", spec.minimum.is_some(), number, "int and float"),
        ("maximum", spec.maximum.is_some(), number, "int and float"),
        ("minLength", spec.min_length.is_some(), sized, "str and list"),
        ("maxLength", spec.max_length.is_some(), sized, "str and list"),
        ("pattern", spec.pattern.is_some(), text, "str"),
        ("items", spec.items.is_some(), list, "list"),
        ("allowLeadingDash", spec.allow_leading_dash.is_some(), text || list, "str and list"),
    ] {
        if given && !fits {
            findings.error(
                Reason::InvalidParameter,
                format!("{path}.{field}"),
                format!("{field} is for parameters of type {types}, not {}", spec.kind.name()),
                format!("remove it, or change the type of {}", spec.name),
            );
        }
    }
    for (field, length) in [("minLength", spec.min_length), ("maxLength", spec.max_length)] {
        if length.is_some_and(|length| length < 0) {
            findings.error(Reason::InvalidParameter, format!("{path}.{field}"), "is below zero", "raise it");
        }
    }
    let crossed = matches!((spec.minimum, spec.maximum), (Some(min), Some(max)) if min > max);
    let crossed_lengths = matches!((spec.min_length, spec.max_length), (Some(min), Some(max)) if min > max);
    for (crossed, low, high) in [(crossed, "minimum", "maximum"), (crossed_lengths, "minLength", "maxLength")]
    {
        if crossed {
            findings.error(
                Reason::InvalidParameter,
                format!("{path}.{low}"),
                format!("{low} is above {high}: no value is accepted"),
                "swap them",
            );
        }
    }
}

/// A value of the manifest, coerced and checked against everything the parameter demands.
fn checked(param: &Parameter, value: Option<&Value>, path: &str, findings: &mut Findings) -> Option<Value> {
    let value = value?;
    if value.is_null() {
        return Some(Value::Null);
    }
    let value = typed(param, value, path, findings)?;
    if let Err(message) = check_bounds(param, &value) {
        findings.error(Reason::InvalidParameter, path, message, "callers would be refused this value too");
        return None;
    }
    Some(value)
}

fn typed(param: &Parameter, value: &Value, path: &str, findings: &mut Findings) -> Option<Value> {
    match coerce_value(param.kind, param.items, value) {
        Ok(value) => Some(value),
        Err(message) => {
            let fix =
                format!("write a value of type {}, or change the type of {}", param.kind.name(), param.name);
            findings.error(Reason::InvalidParameter, path, message, fix);
            None
        }
    }
}

fn compile_pattern(pattern: &str, path: &str, findings: &mut Findings) -> Option<Regex> {
    let built = RegexBuilder::new(pattern)
        .size_limit(PATTERN_BYTES)
        .dfa_size_limit(PATTERN_BYTES)
        .nest_limit(64)
        .build();
    match built {
        Ok(regex) => Some(regex),
        Err(error) => {
            let reason = match &error {
                regex::Error::CompiledTooBig(_) => "is too large a pattern".to_owned(),
                // The last line says what is wrong; the others draw where.
                other => {
                    let text = other.to_string();
                    let last = text.lines().last().unwrap_or_default();
                    format!("is no regular expression: {}", last.trim_start_matches("error: "))
                }
            };
            findings.error(
                Reason::InvalidParameter,
                format!("{path}.pattern"),
                reason,
                "patterns are those of Rust's regex: no look-around, no back-references",
            );
            None
        }
    }
}
