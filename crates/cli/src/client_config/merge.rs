//! Puts one entry into a configuration file's text and leaves everything else as it is.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, Table, TomlError};

use super::clients::{Client, Syntax};

/// A file's new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// The entry is there already.
    Unchanged,
    /// The new text; `replaced` when another entry of that name was there.
    Text {
        /// The text.
        text: String,
        /// Whether an entry of that name was replaced.
        replaced: bool,
    },
}

/// Why an entry can't be put into a file.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// The file doesn't parse.
    #[error("the file is not plain {language}: {reason}")]
    Unreadable {
        /// The language that was expected.
        language: &'static str,
        /// What the parser says.
        reason: String,
    },
    /// The section is there, but isn't a table.
    #[error("'{0}' is not an object in the file")]
    Section(&'static str),
    /// Editing the text would change something else, or replace an entry that only a person should touch.
    #[error("the file has an entry '{0}' already, or is laid out so that it can't be edited safely")]
    Layout(String),
}

/// The text of a file that holds `before` (empty for a new file) with `entry` under `name`.
pub fn merge(client: Client, before: &str, name: &str, entry: &Value) -> Result<Merged, MergeError> {
    match client.syntax() {
        Syntax::Json => merge_json(client.section(), before, name, entry),
        Syntax::Yaml => merge_yaml(client.section(), before, name, entry),
        Syntax::Toml => merge_toml(client.section(), before, name, entry),
    }
}

fn merge_json(section: &'static str, before: &str, name: &str, entry: &Value) -> Result<Merged, MergeError> {
    let mut document: Map<String, Value> = if before.trim().is_empty() {
        Map::new()
    } else {
        serde_json::from_str(before)
            .map_err(|error| MergeError::Unreadable { language: "JSON", reason: error.to_string() })?
    };
    let servers = document.entry(section).or_insert_with(|| Value::Object(Map::new()));
    let servers = servers.as_object_mut().ok_or(MergeError::Section(section))?;
    let previous = servers.insert(name.to_owned(), entry.clone());
    if previous.as_ref() == Some(entry) {
        return Ok(Merged::Unchanged);
    }
    let text = format!("{:#}\n", Value::Object(document));
    Ok(Merged::Text { text, replaced: previous.is_some() })
}

/// YAML is edited as text, so that comments stay: the entry goes to the top of its section, and the result has to
/// parse to the old document with the entry added.
fn merge_yaml(section: &'static str, before: &str, name: &str, entry: &Value) -> Result<Merged, MergeError> {
    let parse = |text: &str| -> Result<Map<String, Value>, MergeError> {
        if text.trim().is_empty() {
            return Ok(Map::new());
        }
        serde_yaml::from_str::<Option<Map<String, Value>>>(text)
            .map(Option::unwrap_or_default)
            .map_err(|error| MergeError::Unreadable { language: "YAML", reason: error.to_string() })
    };
    let mut expected = parse(before)?;
    let servers = expected.entry(section).or_insert_with(|| Value::Object(Map::new()));
    if servers.is_null() {
        *servers = Value::Object(Map::new());
    }
    let servers = servers.as_object_mut().ok_or(MergeError::Section(section))?;
    match servers.insert(name.to_owned(), entry.clone()) {
        Some(previous) if previous == *entry => return Ok(Merged::Unchanged),
        Some(_) => return Err(MergeError::Layout(name.to_owned())),
        None => {}
    }
    let block = yaml_block(name, entry);
    let heading = format!("{section}:");
    let mut text = String::with_capacity(before.len() + block.len());
    let mut placed = false;
    for line in before.split_inclusive('\n') {
        text.push_str(line);
        if !placed && line.trim_end() == heading {
            if !line.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&block);
            placed = true;
        }
    }
    if !placed {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&heading);
        text.push('\n');
        text.push_str(&block);
    }
    match parse(&text) {
        Ok(document) if document == expected => Ok(Merged::Text { text, replaced: false }),
        _ => Err(MergeError::Layout(name.to_owned())),
    }
}

/// The lines of one entry of a YAML section, indented by two spaces.
pub fn yaml_block(name: &str, entry: &Value) -> String {
    let mut block = format!("  {name}:\n");
    for (field, value) in entry.as_object().into_iter().flatten() {
        // JSON is YAML: scalars and lists are written as JSON, which quotes what must be quoted.
        block.push_str(&format!("    {field}: {value}\n"));
    }
    block
}

fn merge_toml(section: &'static str, before: &str, name: &str, entry: &Value) -> Result<Merged, MergeError> {
    let unreadable =
        |error: TomlError| MergeError::Unreadable { language: "TOML", reason: error.message().to_owned() };
    let mut document: DocumentMut = before.parse().map_err(unreadable)?;
    let block: DocumentMut = toml_block(section, name, entry).parse().map_err(unreadable)?;
    let new = block.get(section).and_then(|servers| servers.get(name)).cloned().unwrap_or_default();
    let implicit = || {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    };
    let servers = document.entry(section).or_insert_with(implicit);
    let servers = servers.as_table_like_mut().ok_or(MergeError::Section(section))?;
    let previous = servers.get(name).map(same_form);
    if previous.as_ref() == Some(&same_form(&new)) {
        return Ok(Merged::Unchanged);
    }
    servers.insert(name, new);
    Ok(Merged::Text { text: document.to_string(), replaced: previous.is_some() })
}

/// What an entry says, whatever it looks like.
fn same_form(item: &Item) -> BTreeMap<String, String> {
    let fields = item.as_table_like().into_iter().flat_map(|table| table.iter());
    fields
        .map(|(field, value)| {
            let value = value.clone().into_value().map(|value| value.decorated("", "").to_string());
            (field.to_owned(), value.unwrap_or_default().replace([' ', '\n'], ""))
        })
        .collect()
}

/// The table of one entry in TOML. JSON's strings and lists of strings are TOML's too.
pub fn toml_block(section: &str, name: &str, entry: &Value) -> String {
    let mut block = format!("[{section}.{name}]\n");
    for (field, value) in entry.as_object().into_iter().flatten() {
        block.push_str(&format!("{field} = {value}\n"));
    }
    block
}
