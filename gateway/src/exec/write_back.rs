//! What a tool wrote for the session, read as the difference against what it was given.

use mcc_catalog::seam::{SessionBag, SessionChanges};
use serde::Deserialize;
use serde_json::Value;

use super::capture::{SessionForm, session_overflows};

/// The changes of a Python tool, as its runner writes them.
#[derive(Deserialize)]
struct Written {
    set: SessionBag,
    deleted: Vec<String>,
}

/// Reads a session section. One line that can't be read makes all of it void, as a bad name does later.
pub fn read(form: SessionForm, section: &[u8], given: &SessionBag) -> Result<SessionChanges, String> {
    if session_overflows(section) {
        return Err("more than 1 MiB was written to $MCC_SESSION: a session holds at most 512 KiB".into());
    }
    let text = std::str::from_utf8(section)
        .map_err(|_| "what was written to $MCC_SESSION is not UTF-8".to_owned())?;
    let mut changes = match form {
        SessionForm::Lines => read_lines(text)?,
        SessionForm::Json => {
            let Written { set, deleted } = serde_json::from_str(text).map_err(|error| error.to_string())?;
            SessionChanges { set, deleted }
        }
    };
    changes.set.retain(|name, value| given.get(name) != Some(value));
    changes.deleted.retain(|name| given.contains_key(name));
    Ok(changes)
}

fn read_lines(text: &str) -> Result<SessionChanges, String> {
    let mut changes = SessionChanges::default();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let place = number + 1;
        let Some((name, value)) = line.split_once('=') else {
            return Err(format!("line {place} of $MCC_SESSION has no `=`: write name=<JSON>"));
        };
        // The last line about a name holds.
        changes.deleted.retain(|deleted| deleted != name);
        changes.set.shift_remove(name);
        if value.trim().is_empty() {
            changes.deleted.push(name.to_owned());
            continue;
        }
        let value: Value = serde_json::from_str(value).map_err(|_| {
            format!(
                "line {place} of $MCC_SESSION: the value of {name} is not JSON: write text as {name}=\"text\""
            )
        })?;
        changes.set.insert(name.to_owned(), value);
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bag(value: &Value) -> SessionBag {
        value.as_object().unwrap().clone()
    }

    fn lines(text: &str) -> Result<SessionChanges, String> {
        read(SessionForm::Lines, text.as_bytes(), &bag(&json!({"a": 1, "b": "x"})))
    }

    #[test]
    fn only_differences_are_changes() {
        let changes = lines("a=1\nb=\"y\"\nc={\"k\": [null]}\n\nd=null").unwrap();
        assert_eq!(changes.set, bag(&json!({"b": "y", "c": {"k": [null]}, "d": null})));
        assert!(changes.deleted.is_empty());
    }

    #[test]
    fn an_empty_value_deletes_and_the_last_line_holds() {
        let changes = lines("a=\nz=\nb=\nb=5\n").unwrap();
        assert_eq!(changes.set, bag(&json!({"b": 5})));
        assert_eq!(changes.deleted, ["a"]);
    }

    #[test]
    fn one_bad_line_voids_all() {
        assert!(lines("a=2\nb=text\n").unwrap_err().contains("line 2"));
        assert!(lines("a=2\nb\n").unwrap_err().contains("no `=`"));
        assert!(read(SessionForm::Lines, b"a=\"\xff\"\n", &SessionBag::new()).unwrap_err().contains("UTF-8"));
        let long = format!("a=\"{}\"", "x".repeat(1 << 20));
        assert!(lines(&long).unwrap_err().contains("512 KiB"));
    }

    #[test]
    fn reads_the_changes_of_the_python_runner() {
        let section = br#"{"set":{"a":2,"b":"x"},"deleted":["b","c"]}"#;
        let changes = read(SessionForm::Json, section, &bag(&json!({"a": 1, "b": "x"}))).unwrap();
        assert_eq!(changes.set, bag(&json!({"a": 2})));
        assert_eq!(changes.deleted, ["b"]);
    }
}
