//! YAML text. Written here, because comments, block texts and the order of fields should come out as a person would
//! write them, and the same every time.

use serde_json::{Map, Value};

/// One YAML document with comment lines above it.
pub fn document(comments: &[String], object: &Map<String, Value>) -> String {
    let mut text = String::new();
    for comment in comments {
        comment_lines(&mut text, comment);
    }
    fields(&mut text, object, 0);
    text
}

/// A document that is commented out whole, so that nothing of it is lost.
pub fn commented(comments: &[String], object: &Map<String, Value>) -> String {
    let mut text = String::new();
    for comment in comments {
        comment_lines(&mut text, comment);
    }
    let mut body = String::new();
    fields(&mut body, object, 0);
    for line in body.lines() {
        text.push_str(format!("# {line}").trim_end());
        text.push('\n');
    }
    text
}

fn comment_lines(text: &mut String, comment: &str) {
    const WIDTH: usize = 110;
    for paragraph in comment.lines() {
        let mut line = String::from("#");
        for word in paragraph.split_whitespace() {
            if line.trim_end() != "#" && line.chars().count() + 1 + word.chars().count() > WIDTH {
                text.push_str(&line);
                text.push('\n');
                line = String::from("# ");
            }
            line.push(' ');
            line.push_str(word);
        }
        text.push_str(&line);
        text.push('\n');
    }
}

fn fields(text: &mut String, object: &Map<String, Value>, indent: usize) {
    for (name, value) in object {
        text.push_str(&" ".repeat(indent));
        text.push_str(&key(name));
        text.push(':');
        match value {
            Value::Object(map) if !map.is_empty() => {
                text.push('\n');
                fields(text, map, indent + 2);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                for item in items {
                    list_item(text, item, indent);
                }
            }
            value => {
                text.push(' ');
                scalar(text, value, indent + 2);
                text.push('\n');
            }
        }
    }
}

fn list_item(text: &mut String, item: &Value, indent: usize) {
    text.push_str(&" ".repeat(indent));
    text.push_str("- ");
    match item {
        Value::Object(map) if !map.is_empty() => {
            let mut inner = String::new();
            fields(&mut inner, map, indent + 2);
            text.push_str(inner.trim_start_matches(' '));
        }
        // Lists in lists are rare (defaults): JSON is YAML.
        item => {
            scalar(text, item, indent + 2);
            text.push('\n');
        }
    }
}

fn scalar(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::String(string) if is_block(string) => block(text, string, indent),
        Value::String(string) => text.push_str(&flow(string)),
        value => text.push_str(&value.to_string()),
    }
}

fn key(name: &str) -> String {
    flow(name)
}

/// A string on one line: plain where nobody could read it as anything else, in single quotes where that saves
/// backslashes, else in double quotes.
fn flow(string: &str) -> String {
    if is_plain(string) {
        string.to_owned()
    } else if string.contains(['"', '\\']) && string.chars().all(is_printable) {
        format!("'{}'", string.replace('\'', "''"))
    } else {
        quoted(string)
    }
}

fn is_printable(c: char) -> bool {
    !(c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'))
}

fn quoted(string: &str) -> String {
    let mut text = String::from("\"");
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            c if !is_printable(c) => text.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// Whether `string` reads as itself without quotes, in YAML 1.1 and 1.2.
fn is_plain(string: &str) -> bool {
    const WORDS: [&str; 13] =
        ["none", "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"];
    let first_ok = string.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/' || c == '_');
    let all_ok = string.chars().all(|c| c.is_alphanumeric() || " _-./,()'=:+;?&$*!@".contains(c));
    let colon = string.contains(": ") || string.ends_with(':');
    first_ok
        && all_ok
        && !colon
        && !string.ends_with(' ')
        && !WORDS.contains(&string.to_ascii_lowercase().as_str())
}

/// Whether `string` can be a block text that keeps every character.
fn is_block(string: &str) -> bool {
    let body = string.strip_suffix('\n').unwrap_or(string);
    let printable = |c| c == '\n' || c == '\t' || is_printable(c);
    string.contains('\n')
        && !body.is_empty()
        && !body.ends_with('\n')
        && !body.starts_with([' ', '\t', '\n'])
        && string.chars().all(printable)
        && !body.lines().any(|line| !line.is_empty() && line.trim().is_empty())
}

fn block(text: &mut String, string: &str, indent: usize) {
    text.push('|');
    if !string.ends_with('\n') {
        text.push('-');
    }
    for line in string.lines() {
        text.push('\n');
        if !line.is_empty() {
            text.push_str(&" ".repeat(indent));
            text.push_str(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_string_survives() {
        let strings = [
            "plain words",
            "yes",
            "Null",
            "010",
            "1e3",
            "- a",
            "a: b",
            "# no",
            "a #b",
            " lead",
            "trail ",
            "",
            "two\nlines",
            "two\nlines\n",
            "end\n\n",
            "a\n\n  b\n",
            "  a\nb",
            "tab\tx",
            "a\t\nb",
            "\u{7f}",
            "ü 日本",
            "quote \" \\ '",
            "a\r\nb",
            "{{ x | quote }}",
            "\u{2028}",
            "a\n \nb",
            "null",
            "~",
            "=",
            "=x",
            "a=b",
        ];
        for string in strings {
            let mut object = Map::new();
            object.insert("k".to_owned(), Value::from(string));
            object.insert("l".to_owned(), serde_json::json!([string, { "m": string, "n": [string] }]));
            let text = document(&[], &object);
            let back: Value = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!(back, Value::Object(object), "{text}");
        }
    }
}
