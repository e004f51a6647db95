//! Parameters of a call: what is accepted, how it is completed, what a caller is told.
//!
//! ```text
//! given values ─▶ names matched ─▶ coerced to the type ─▶ choices, bounds, pattern ─▶ defaults, fixed values
//! ```
//!
//! A value of another type is taken where its meaning is certain (see [`coerce`](self::coerce_value)); everything else
//! is a problem, and all problems are reported at once.

mod coerce;
mod schema;

use std::fmt;

use mcc_crds::v1alpha1::ParamType;
use serde_json::{Map, Value};

pub use coerce::{check_bounds, coerce as coerce_value, preview};
pub use schema::input_schema;

use crate::model::{CompiledTool, Implementation, Parameter};

/// Everything that is wrong with the parameters of a call.
///
/// Displayed: what a model reads after `Validation error for tool '<key>': `: a line a problem, then the right form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ParamErrors {
    /// The problems, in the order of the declared parameters, then unknown ones as given.
    pub problems: Vec<ParamProblem>,
    /// How the tool is called: `(query:str, limit:int=10)`.
    pub usage: String,
    missing: Vec<String>,
}

/// One problem with one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamProblem {
    /// Name of the parameter as declared; as given, if it is unknown.
    pub param: String,
    /// What is wrong with it.
    pub message: String,
    /// What was probably meant.
    pub suggestion: Option<String>,
}

impl ParamErrors {
    /// Errors found while a template is rendered, in the same form.
    pub fn new(tool: &CompiledTool, problems: Vec<ParamProblem>) -> Self {
        Self { problems, usage: crate::signature::parameter_list(tool), missing: Vec::new() }
    }

    /// Names of required str, int, float and bool parameters that are missing: those a person can be asked for.
    pub fn missing_primitives(&self) -> &[String] {
        &self.missing
    }
}

impl fmt::Display for ParamErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [only] => write!(f, "{only}")?,
            several => {
                write!(f, "{} problems", several.len())?;
                for problem in several {
                    write!(f, "\n- {problem}")?;
                }
            }
        }
        write!(f, "\nParameters: {}", self.usage)
    }
}

impl fmt::Display for ParamProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.param, self.message)?;
        match &self.suggestion {
            Some(suggestion) => write!(f, "; {suggestion}"),
            None => Ok(()),
        }
    }
}

/// Checks and completes the parameters of a call.
///
/// The result has the fixed values, the given ones coerced to their types, and defaults for the rest, in declared
/// order; an optional parameter without a default that isn't given (or given as null) is left out.
pub fn validate(tool: &CompiledTool, given: &Map<String, Value>) -> Result<Map<String, Value>, ParamErrors> {
    let (matched, unknown) = match_names(tool, given);
    let mut problems = Vec::new();
    let mut missing = Vec::new();
    let mut values = Map::new();
    for (param, given) in tool.params.iter().zip(matched) {
        if let Some(fixed) = &param.fixed {
            values.insert(param.name.clone(), fixed.clone());
            continue;
        }
        match given {
            Given::Once(value) => match accept(tool, param, value) {
                Ok(value) => {
                    values.insert(param.name.clone(), value);
                }
                Err(message) => problems.push(problem(param, message)),
            },
            Given::Never if param.required => {
                if !matches!(param.kind, ParamType::List | ParamType::Dict) {
                    missing.push(param.name.clone());
                }
                problems.push(problem(param, format!("is required ({})", param.kind.name())));
            }
            Given::Never => {
                if let Some(default) = param.default.as_ref().filter(|value| !value.is_null()) {
                    values.insert(param.name.clone(), default.clone());
                }
            }
            Given::Twice => problems.push(problem(param, "is given twice, under two spellings".to_owned())),
        }
    }
    problems.extend(unknown.into_iter().map(|name| unknown_problem(tool, name, &values)));
    if problems.is_empty() {
        return Ok(values);
    }
    Err(ParamErrors { missing, ..ParamErrors::new(tool, problems) })
}

/// What a call says about one parameter.
#[derive(Clone, Copy)]
enum Given<'a> {
    Never,
    Once(&'a Value),
    Twice,
}

/// Matches given names to the tool's parameters. A name that isn't declared as it is spelled may differ in hyphens
/// for underscores and in case, which is certain because no two parameters are equal in upper case. A null counts as
/// not given. Fixed parameters can't be named. The second list has the names that match nothing.
fn match_names<'a>(tool: &CompiledTool, given: &'a Map<String, Value>) -> (Vec<Given<'a>>, Vec<&'a str>) {
    let mut matched = vec![Given::Never; tool.params.len()];
    let mut unknown = Vec::new();
    for (name, value) in given {
        let visible = || tool.params.iter().enumerate().filter(|(_, param)| param.fixed.is_none());
        let position = visible().find(|(_, param)| param.name == *name).or_else(|| {
            let folded = name.replace('-', "_");
            visible().find(|(_, param)| param.name.eq_ignore_ascii_case(&folded))
        });
        let Some((position, _)) = position else {
            unknown.push(name.as_str());
            continue;
        };
        matched[position] = match (matched[position], value) {
            (before, Value::Null) => before,
            (Given::Never, value) => Given::Once(value),
            _ => Given::Twice,
        };
    }
    (matched, unknown)
}

/// A given value as the tool gets it, or what is wrong with it.
fn accept(tool: &CompiledTool, param: &Parameter, value: &Value) -> Result<Value, String> {
    let value = coerce::coerce(param.kind, param.items, value)?;
    check_bounds(param, &value)?;
    // No program can be given U+0000 in an argument or a variable; Python gets its parameters as JSON.
    let takes_nul = matches!(tool.implementation, Implementation::Python { .. });
    if !takes_nul && coerce::has_nul(&value) {
        return Err("must not contain the character U+0000".to_owned());
    }
    Ok(value)
}

fn problem(param: &Parameter, message: String) -> ParamProblem {
    ParamProblem { param: param.name.clone(), message, suggestion: None }
}

fn unknown_problem(tool: &CompiledTool, name: &str, values: &Map<String, Value>) -> ParamProblem {
    let visible =
        || tool.params.iter().filter(|param| param.fixed.is_none()).map(|param| param.name.as_str());
    // A parameter that has its value already is hardly the one that was meant.
    let free = visible().filter(|name| !values.contains_key(*name));
    let nearest =
        crate::compile::nearest(name, free, 1).into_iter().chain(crate::compile::nearest(name, visible(), 1));
    let suggestion = match nearest.into_iter().next() {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None if visible().next().is_none() => Some("the tool takes no parameters".to_owned()),
        None => None,
    };
    let shown: String = name.chars().take(64).collect();
    ParamProblem { param: shown, message: "is not a parameter of this tool".to_owned(), suggestion }
}

#[cfg(test)]
#[path = "params_tests.rs"]
mod tests;
