//! What works but is probably not meant.

mod variables;

use std::collections::BTreeSet;

use mcc_crds::v1alpha1::{Stdin, ToolSpec};

use super::finding::Findings;
use crate::example;
use crate::model::{CompiledTool, Reason};
use crate::params::validate;

/// Longest description that models read with profit, in characters.
const LONG_DESCRIPTION: usize = 4_000;

/// Warns of what a Tool probably doesn't mean.
pub(super) fn check(spec: &ToolSpec, tool: &CompiledTool, findings: &mut Findings) {
    check_description(spec, findings);
    check_hints(spec, findings);
    check_example(spec, tool, findings);
    check_unused(spec, findings);
    let names: BTreeSet<&str> = tool.env.iter().map(|variable| variable.name.as_str()).collect();
    variables::check(spec, &names, findings);
}

fn check_description(spec: &ToolSpec, findings: &mut Findings) {
    let length = spec.description.chars().count();
    if spec.description.trim().is_empty() {
        findings.warn(
            Reason::Suspicious,
            "spec.description",
            "the tool has no description, so search finds it by its names only",
            "say what it does in a sentence or two",
        );
    } else if length > LONG_DESCRIPTION {
        findings.warn(
            Reason::Suspicious,
            "spec.description",
            format!("{length} characters are read by a model with every search that finds the tool"),
            format!("shorten it below {LONG_DESCRIPTION}"),
        );
    }
}

fn check_hints(spec: &ToolSpec, findings: &mut Findings) {
    let hint = |value: Option<bool>| value == Some(true);
    if spec.hints.as_ref().is_some_and(|hints| hint(hints.read_only) && hint(hints.destructive)) {
        findings.warn(
            Reason::Suspicious,
            "spec.hints",
            "a tool that changes nothing can't destroy anything",
            "remove readOnly or destructive",
        );
    }
}

/// An example that couldn't be called.
fn check_example(spec: &ToolSpec, tool: &CompiledTool, findings: &mut Findings) {
    // A function whose parameters nobody declared (they could not be introspected) has an example all the same.
    let undeclared =
        tool.params.is_empty() && spec.python.as_ref().is_some_and(|python| python.function.is_some());
    if tool.example.is_empty() || undeclared {
        return;
    }
    let fault = match example::parse(&tool.example) {
        Err(error) => error.to_string(),
        Ok(example) => match example.arguments_for(tool).map(|arguments| validate(tool, &arguments)) {
            Err(error) => error.to_string(),
            Ok(Err(errors)) => errors.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
            Ok(Ok(_)) => return,
        },
    };
    findings.warn(
        Reason::Suspicious,
        "spec.example",
        format!("the example can't be called: {fault}"),
        format!("write a call with literal arguments: {}(name=\"value\", …)", tool.name),
    );
}

/// Parameters that nothing uses. A container's program may read them from its environment.
fn check_unused(spec: &ToolSpec, findings: &mut Findings) {
    let texts: Vec<&str> = if let Some(shell) = &spec.shell {
        if shell.stdin == Stdin::Params {
            return;
        }
        vec![&shell.script]
    } else if let Some(http) = &spec.http {
        let maps = http.headers.values().chain(http.query.values());
        maps.chain(&http.body).chain([&http.url]).map(String::as_str).collect()
    } else {
        return;
    };
    for (position, param) in spec.params.iter().enumerate() {
        let variable = format!("MCC_PARAM_{}", param.name.to_ascii_uppercase());
        if !texts.iter().any(|text| has_word(text, &param.name) || text.contains(&variable)) {
            findings.warn(
                Reason::Suspicious,
                format!("spec.params[{position}]"),
                format!("nothing uses the parameter {}", param.name),
                format!("write {{{{ {} }}}} or \"${variable}\" where it belongs, or remove it", param.name),
            );
        }
    }
}

/// Whether `word` stands in `text` with no letter, digit or underscore around it.
fn has_word(text: &str, word: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(inner) && !text[at + word.len()..].starts_with(inner))
}
