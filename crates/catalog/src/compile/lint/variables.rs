//! Environment variables that are written where nothing expands them.

use std::collections::BTreeSet;

use mcc_crds::v1alpha1::ToolSpec;

use crate::compile::finding::{Finding, Findings};
use crate::model::{Reason, Severity};

/// Programs to which `$NAME` inside single quotes says something.
const INTERPRETERS: [&str; 18] = [
    "sh", "bash", "dash", "ash", "busybox", "zsh", "eval", "jq", "yq", "awk", "gawk", "perl", "ruby",
    "envsubst", "su", "ssh", "trap", "xargs",
];

/// Warns where one of `names` is written in a form that stays as it is.
pub(super) fn check(spec: &ToolSpec, names: &BTreeSet<&str>, findings: &mut Findings) {
    if let Some(shell) = &spec.shell {
        in_script(&shell.script, names, findings);
    }
    if let Some(http) = &spec.http {
        let mut texts = vec![("spec.http.url".to_owned(), &http.url)];
        texts.extend(http.body.iter().map(|body| ("spec.http.body".to_owned(), body)));
        texts.extend(http.headers.iter().map(|(name, text)| (format!("spec.http.headers.{name}"), text)));
        texts.extend(http.query.iter().map(|(name, text)| (format!("spec.http.query.{name}"), text)));
        without_shell(&texts, names, findings);
    }
    if let Some(container) = &spec.container {
        let command = container.command.iter().enumerate();
        let args = container.args.iter().enumerate();
        let mut texts: Vec<(String, &String)> =
            command.map(|(at, text)| (format!("spec.container.command[{at}]"), text)).collect();
        texts.extend(args.map(|(at, text)| (format!("spec.container.args[{at}]"), text)));
        // A shell as the program expands them itself.
        if !container.command.first().is_some_and(|program| is_interpreter(program)) {
            without_shell(&texts, names, findings);
        }
    }
}

/// `$NAME` in a text that no shell reads.
fn without_shell(texts: &[(String, &String)], names: &BTreeSet<&str>, findings: &mut Findings) {
    for (path, text) in texts {
        for (_, name) in references(text).filter(|(_, name)| names.contains(name)) {
            findings.warn(
                Reason::Suspicious,
                path.as_str(),
                format!("${name} stays as it is: no shell reads this text"),
                format!("write $({name}) for the environment variable"),
            );
        }
    }
}

fn in_script(script: &str, names: &BTreeSet<&str>, findings: &mut Findings) {
    for (at, name) in command_substitutions(script).filter(|(_, name)| names.contains(name)) {
        add(
            script,
            at,
            format!("$({name}) runs a command called {name}"),
            format!("write \"${name}\" for the environment variable"),
            findings,
        );
    }
    // A here-document's text has quotes that are none; telling them apart is not worth a wrong warning.
    if script.contains("<<") {
        return;
    }
    for (start, quoted, before) in single_quoted(script) {
        if before.split(|c: char| !c.is_ascii_alphanumeric()).any(is_interpreter) {
            continue;
        }
        let expected = |name: &str| {
            names.contains(name) || name.starts_with("MCC_PARAM_") || name.starts_with("MCC_CTX_")
        };
        for (at, name) in references(quoted).filter(|(_, name)| expected(name)) {
            add(
                script,
                start + at,
                format!("${name} stays as it is inside single quotes"),
                "write it inside double quotes".to_owned(),
                findings,
            );
        }
    }
}

fn add(script: &str, at: usize, message: String, fix: String, findings: &mut Findings) {
    let block = script.trim_end().contains('\n');
    let line = u32::try_from(script[..at].matches('\n').count() + 1).unwrap_or(0);
    findings.add(Finding {
        severity: Severity::Warning,
        reason: Reason::Suspicious,
        path: "spec.shell.script".to_owned(),
        line: if block { line } else { 0 },
        message,
        fix,
    });
}

fn is_interpreter(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or_default();
    INTERPRETERS.contains(&name)
}

/// `$NAME` and `${NAME…` with their offsets.
fn references(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices('$').filter_map(|(at, _)| {
        let rest = &text[at + 1..];
        let name = name_at(rest.strip_prefix('{').unwrap_or(rest));
        (!name.is_empty()).then_some((at, name))
    })
}

/// `$(NAME)` with their offsets.
fn command_substitutions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices("$(").filter_map(|(at, _)| {
        let rest = &text[at + 2..];
        let name = name_at(rest);
        (!name.is_empty() && rest[name.len()..].starts_with(')')).then_some((at, name))
    })
}

/// The variable name that `text` begins with; may be empty.
fn name_at(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &text[..end] }
}

/// The single-quoted texts of a script: offset, text, and what stands before it in its command.
fn single_quoted(script: &str) -> Vec<(usize, &str, &str)> {
    let bytes = script.as_bytes();
    let mut found = Vec::new();
    let (mut at, mut command, mut double) = (0, 0, false);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => double = !double,
            b'\'' if !double => {
                let start = at + 1;
                let Some(length) = script[start..].find('\'') else { break };
                found.push((start, &script[start..start + length], &script[command..at]));
                at = start + length;
            }
            // Templates have quotes of their own.
            b'{' if matches!(bytes.get(at + 1), Some(b'{' | b'%' | b'#')) => {
                let close = match bytes[at + 1] {
                    b'{' => "}}",
                    b'%' => "%}",
                    _ => "#}",
                };
                let Some(length) = script[at..].find(close) else { break };
                at += length + 1;
            }
            b'#' if !double && (at == 0 || bytes[at - 1].is_ascii_whitespace()) => {
                let Some(length) = script[at..].find('\n') else { break };
                at += length - 1;
            }
            b'\n' | b';' | b'|' | b'&' | b'(' if !double => command = at + 1,
            _ => {}
        }
        at += 1;
    }
    found
}
