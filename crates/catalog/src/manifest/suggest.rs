//! How to mend what doesn't fit.

use crate::model::Reason;

use super::scalar;
use super::schema::{Kind, Schema};
use super::tree::{Content, Node};

/// Names that people use for a field of ours, from other systems or from habit.
const ALIASES: [(&str, &str); 24] = [
    ("parameters", "params"),
    ("args", "params"),
    ("arguments", "params"),
    ("inputSchema", "params"),
    ("script", "shell.script"),
    ("exec", "shell.script"),
    ("command", "shell.script"),
    ("cmd", "shell.script"),
    ("curl", "http"),
    ("url", "http.url"),
    ("fn", "python.function"),
    ("function", "python.function"),
    ("source", "python.source"),
    ("image", "shell.image"),
    ("timeout", "limits.timeoutSeconds"),
    ("timeoutSeconds", "limits.timeoutSeconds"),
    ("cacheSeconds", "cache.seconds"),
    ("cache_ttl", "cache.seconds"),
    ("return_type", "returns.type"),
    ("annotations", "hints"),
    ("tags", "keywords"),
    ("group", "groups"),
    ("user", "subject"),
    ("expires", "expiresAt"),
];

/// The name most like `name`: the same but for case and separators, else at most a third of it different.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(name);
    let distance = |candidate: &str| strsim::damerau_levenshtein(&folded, &fold(candidate));
    known
        .into_iter()
        .map(|candidate| (distance(candidate), candidate))
        .filter(|&(distance, candidate)| distance * 3 <= candidate.chars().count().max(3))
        .min()
        .map(|(_, candidate)| candidate)
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).take(64).flat_map(char::to_lowercase).collect()
}

/// What to write instead of a field that `schema` doesn't have.
pub(super) fn instead_of(name: &str, schema: &Schema, at_root: bool) -> String {
    if let Some(near) = nearest(name, schema.fields.keys().map(String::as_str)) {
        return format!("did you mean {near}?");
    }
    let alias = ALIASES.iter().find(|(other, _)| *other == name).map(|&(_, ours)| ours);
    let spec = if at_root { schema.fields.get("spec") } else { None };
    if let Some(spec) = spec {
        if spec.fields.contains_key(name) {
            return format!("move it under spec: spec.{name}");
        }
        if let Some(ours) = alias.filter(|ours| has(spec, ours)) {
            return format!("did you mean spec.{ours}?");
        }
    }
    if let Some(ours) = alias.filter(|ours| has(schema, ours)) {
        return format!("did you mean {ours}?");
    }
    let mut names: Vec<&str> = schema.fields.keys().map(String::as_str).collect();
    if at_root {
        names.retain(|name| *name != "status");
    }
    if names.len() > 24 {
        return "remove it".to_owned();
    }
    format!("remove it, or use one of {}", names.join(", "))
}

fn has(schema: &Schema, path: &str) -> bool {
    path.split('.').try_fold(schema, |schema, name| schema.fields.get(name)).is_some()
}

/// How to give a field that is missing.
pub(super) fn fill_in(name: &str, schema: Option<&Schema>) -> String {
    let Some(schema) = schema else { return format!("add {name}") };
    match schema.kind {
        Kind::Object if !schema.required.is_empty() => {
            format!("add {name} with {}", schema.required.join(", "))
        }
        Kind::Object => format!("add {name}"),
        Kind::Integer | Kind::Number => format!("add {name}: NUMBER{}", bounds(schema, ", ")),
        _ if !schema.choices.is_empty() => format!("add {name}: one of {}", schema.choices.join(", ")),
        _ => format!("add {name}: VALUE"),
    }
}

/// The numbers that fit.
pub(super) fn range(schema: &Schema) -> String {
    format!("write a number{}", bounds(schema, " "))
}

fn bounds(schema: &Schema, before: &str) -> String {
    match (schema.minimum, schema.maximum) {
        (Some(min), Some(max)) => format!("{before}from {min} to {max}"),
        (Some(min), None) => format!("{before}from {min}"),
        (None, Some(max)) => format!("{before}up to {max}"),
        (None, None) => String::new(),
    }
}

/// `text` in quotes, cut where it is long.
pub(super) fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Reason, message and fix for a value of a wrong type.
pub(super) fn mismatch(node: &Node<'_>, schema: &Schema) -> (Reason, String, String) {
    let wanted = match schema.kind {
        Kind::Any => "a value",
        Kind::Object | Kind::Map => "fields",
        Kind::List => "a list",
        Kind::Text | Kind::Time | Kind::Bytes => "text",
        Kind::Integer => "a whole number",
        Kind::Number => "a number",
        Kind::Boolean => "true or false",
        Kind::IntOrText => "a number or text",
    };
    let (found, reason) = match &node.content {
        Content::List(_) => ("a list".to_owned(), Reason::InvalidField),
        Content::Map(_) => ("fields".to_owned(), Reason::InvalidField),
        Content::Scalar { text, plain: false } => {
            (format!("the text {}", shortened(text)), Reason::InvalidField)
        }
        Content::Scalar { text, plain: true } => {
            let reading = scalar::read(text);
            match reading.value {
                scalar::Plain::Text => (format!("the text {}", shortened(text)), Reason::InvalidField),
                _ if reading.surprising => (
                    format!("{text}, which kubectl reads as {}", reading.describe()),
                    Reason::AmbiguousScalar,
                ),
                _ => (reading.describe(), Reason::InvalidField),
            }
        }
    };
    (reason, format!("expected {wanted}, found {found}"), how_to_fit(node, schema))
}

fn how_to_fit(node: &Node<'_>, schema: &Schema) -> String {
    if node.is_null() {
        return "give a value, or remove the hyphen or field".to_owned();
    }
    match (&node.content, schema.kind) {
        (Content::Scalar { text, .. }, Kind::List) => {
            format!("write it as a list: [{}]", text.chars().take(40).collect::<String>())
        }
        (Content::Map(_), Kind::List) => "begin each element with a hyphen".to_owned(),
        (Content::List(_), Kind::Object | Kind::Map) => "remove the hyphens or brackets".to_owned(),
        (Content::Scalar { .. }, Kind::Object) => {
            let names: Vec<&str> = schema.fields.keys().map(String::as_str).take(12).collect();
            format!("indent its fields below it: {}", names.join(", "))
        }
        (Content::Scalar { .. }, Kind::Map) => "write it as NAME: VALUE, indented below it".to_owned(),
        (Content::Scalar { text, plain: true }, Kind::Text | Kind::Time | Kind::Bytes | Kind::IntOrText) => {
            format!("quote it: \"{text}\"")
        }
        (Content::Map(_), Kind::Text) => {
            "quote text that begins with { or contains a colon and a space".to_owned()
        }
        (Content::List(_), Kind::Text) => "write one text; quote text that begins with [ or -".to_owned(),
        (Content::Scalar { text, plain: false }, Kind::Integer | Kind::Number)
            if !matches!(scalar::read(text).value, scalar::Plain::Text | scalar::Plain::Null) =>
        {
            format!("remove the quotes: {text}")
        }
        (_, Kind::Integer | Kind::Number) => range(schema),
        (Content::Scalar { text, plain: false }, Kind::Boolean) if text == "true" || text == "false" => {
            format!("remove the quotes: {text}")
        }
        (_, Kind::Boolean) => "write true or false".to_owned(),
        _ => "see `kubectl explain` for the field".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_forgives_case_separators_and_slips() {
        let known = ["timeoutSeconds", "outputBytes", "cpu"];
        for (typed, wanted) in [
            ("timeout_seconds", Some("timeoutSeconds")),
            ("timeoutSecond", Some("timeoutSeconds")),
            ("CPU", Some("cpu")),
            ("memory", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, known), wanted, "{typed}");
        }
    }
}
