//! The texts that describe a tool to a model.

use std::fmt::Write;

use serde_json::Value;

use crate::model::{CompiledTool, Parameter};

/// The block that search shows below the score: `## key (params) -> type`, a line a parameter, the description.
/// No trailing newline.
pub fn signature(tool: &CompiledTool) -> String {
    let mut text = format!("## {} {} -> {}", tool.key, parameter_list(tool), tool.returns);
    for line in tool.params.iter().filter(|param| param.fixed.is_none()).filter_map(parameter_line) {
        text.push('\n');
        text.push_str(&line);
    }
    if !tool.description.is_empty() {
        text.push('\n');
        text.push_str(&tool.description);
    }
    text
}

/// The visible parameters in declared order: `(query:str, limit:int=10)`.
pub fn parameter_list(tool: &CompiledTool) -> String {
    let visible = tool.params.iter().filter(|param| param.fixed.is_none());
    let params: Vec<String> = visible
        .map(|param| {
            let kind = param.kind.name();
            if param.required {
                return format!("{}:{kind}", param.name);
            }
            format!("{}:{kind}={}", param.name, default_text(param))
        })
        .collect();
    format!("({})", params.join(", "))
}

/// `` `limit` — Number of results to return. Default 10, max 100.``; none if there is nothing to say.
fn parameter_line(param: &Parameter) -> Option<String> {
    let description = single_line(&param.description);
    let facts = unsaid_facts(param, &description);
    if description.is_empty() {
        // The signature shows a default already; a line for it alone says nothing new.
        let only_default = facts.len() == 1 && has_default(param);
        return (!facts.is_empty() && !only_default)
            .then(|| format!("`{}` — {}", param.name, sentence(&facts)));
    }
    let mut line = format!("`{}` — {description}", param.name);
    if !facts.is_empty() {
        if !line.ends_with(['.', '!', '?', ':', ';', ')', '。', '！', '？']) {
            line.push('.');
        }
        line.push(' ');
        line.push_str(&sentence(&facts));
    }
    Some(line)
}

/// What the words of the description don't already say: default, bounds, choices.
fn unsaid_facts(param: &Parameter, description: &str) -> Vec<String> {
    let said = Said::new(description);
    let mut facts = Vec::new();
    if has_default(param) {
        let default = default_text(param);
        if !(said.word("default") || said.word("defaults")) || !said.value(&default) {
            facts.push(format!("default {default}"));
        }
    }
    if let Some(minimum) = param.minimum.filter(|minimum| ![0.0, 1.0].contains(minimum))
        && !said.value(&minimum.to_string())
    {
        facts.push(format!("min {minimum}"));
    }
    if let Some(maximum) = param.maximum.filter(|maximum| !said.value(&maximum.to_string())) {
        facts.push(format!("max {maximum}"));
    }
    if !param.choices.is_empty() {
        let choices: Vec<String> = param.choices.iter().map(python_repr).collect();
        if !choices.iter().all(|choice| said.value(choice)) {
            facts.push(format!("one of {}", choices.join(", ")));
        }
    }
    facts
}

/// A default that is worth a word: null and the empty text are what an absent value is anyway.
fn has_default(param: &Parameter) -> bool {
    !param.required
        && !matches!(&param.default, None | Some(Value::Null))
        && param.default.as_ref().and_then(Value::as_str) != Some("")
}

/// The facts as one sentence: comma-separated, capitalised, with a full stop.
fn sentence(facts: &[String]) -> String {
    let joined = facts.join(", ");
    let mut chars = joined.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

/// The words of a description, to see what it says already.
struct Said {
    words: Vec<String>,
}

impl Said {
    fn new(description: &str) -> Self {
        Self { words: words(description) }
    }

    fn word(&self, word: &str) -> bool {
        self.words.iter().any(|said| said == word)
    }

    /// Whether the words of `value` stand in the description, one after the other.
    fn value(&self, value: &str) -> bool {
        let value = words(value);
        !value.is_empty() && self.words.windows(value.len()).any(|window| window == value)
    }
}

/// Lower-case words; a number keeps its sign, its decimal point, and loses its thousands separators.
fn words(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let mut words = Vec::new();
    let mut word = String::new();
    for (at, &c) in chars.iter().enumerate() {
        let inside_number = at > 0 && digit(at - 1) && digit(at + 1);
        let sign =
            c == '-' && digit(at + 1) && (at == 0 || chars[at - 1].is_whitespace() || chars[at - 1] == '(');
        match c {
            _ if c.is_alphanumeric() || c == '_' || sign => word.extend(c.to_lowercase()),
            '.' if inside_number => word.push(c),
            ',' if inside_number => {}
            _ if !word.is_empty() => words.push(std::mem::take(&mut word)),
            _ => {}
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// What stands after `=` in the signature: a str in double quotes, null as `""` there, else as Python writes it.
fn default_text(param: &Parameter) -> String {
    use mcc_crds::v1alpha1::ParamType::Str;
    match (&param.default, param.kind) {
        (None | Some(Value::Null), Str) => "\"\"".to_owned(),
        (None, _) => "None".to_owned(),
        (Some(Value::String(text)), Str) => quoted(text),
        (Some(value), _) => python_repr(value),
    }
}

/// A value as Python writes it, but texts of their own in double quotes: `True`, `None`, `"en"`, `['a', 1]`.
fn python_repr(value: &Value) -> String {
    if let Value::String(text) = value {
        return quoted(text);
    }
    let mut text = String::new();
    write_repr(&mut text, value);
    text
}

/// In double quotes, without escaping but for line ends and tabs, which would break the block.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t"))
}

fn write_repr(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        // Writing to a String can't fail.
        Value::Number(number) => drop(write!(out, "{number}")),
        Value::String(text) => {
            let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
            out.push(quote);
            for c in text.chars() {
                match c {
                    '\n' => out.push_str("\\n"),
                    '\r' => out.push_str("\\r"),
                    '\t' => out.push_str("\\t"),
                    '\\' => out.push_str("\\\\"),
                    c if c == quote => out.extend(['\\', c]),
                    c => out.push(c),
                }
            }
            out.push(quote);
        }
        Value::Array(elements) => {
            out.push('[');
            for (position, element) in elements.iter().enumerate() {
                if position > 0 {
                    out.push_str(", ");
                }
                write_repr(out, element);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (position, (name, field)) in fields.iter().enumerate() {
                if position > 0 {
                    out.push_str(", ");
                }
                write_repr(out, &Value::from(name.as_str()));
                out.push_str(": ");
                write_repr(out, field);
            }
            out.push('}');
        }
    }
}

/// White space, line ends included, as single blanks.
fn single_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
