//! Environment variables: the original puts them into the text of a file when it loads it; here they are read at run
//! time, from the Tool's `env`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// A use of a variable in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name, as an environment variable may be called.
    pub name: String,
    /// Value that the author gave for the case that it isn't set.
    pub default: Option<String>,
    /// Bytes of the text that it takes.
    pub length: usize,
}

/// The variable at the beginning of `text`, which begins with `$`: `$NAME`, `${NAME}`, `${NAME|default}`, or
/// `$NAME|default` to the end of the line.
pub fn variable(text: &str) -> Option<Variable> {
    let rest = text.strip_prefix('$')?;
    if let Some(braced) = rest.strip_prefix('{') {
        let end = braced.find('}')?;
        let (name, default) = match braced[..end].split_once('|') {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (&braced[..end], None),
        };
        return is_variable(name).then(|| Variable { name: clean(name), default, length: end + 3 });
    }
    let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let name = &rest[..length];
    if !is_variable(name) {
        return None;
    }
    match rest[length..].strip_prefix('|').filter(|after| !after.starts_with([' ', '|', '\t'])) {
        Some(after) => {
            let line = after.lines().next().unwrap_or_default();
            Some(Variable {
                name: name.to_owned(),
                default: Some(line.to_owned()),
                length: length + 2 + line.len(),
            })
        }
        None => Some(Variable { name: name.to_owned(), default: None, length: length + 1 }),
    }
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
}

fn clean(name: &str) -> String {
    name.replace(['.', '-'], "_")
}

/// Whether a variable of this name in single quotes is one of the environment: authors write those in capitals, and
/// what jq and awk call `$name` in small letters.
pub fn is_environment(name: &str) -> bool {
    name.chars().any(|c| c.is_ascii_uppercase()) && !name.chars().any(|c| c.is_ascii_lowercase())
}

/// Variables that every tool has, or that the shell sets itself.
pub fn is_floor(name: &str) -> bool {
    const FLOOR: [&str; 16] = [
        "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LANG", "LC_ALL", "TZ", "TERM", "SHELL", "PWD",
        "OLDPWD", "IFS", "PPID", "LINENO", "OPTARG",
    ];
    FLOOR.contains(&name) || name.starts_with("MCC_")
}

/// `text` with the defaults of its variables filled in and `$$` as `$`, and the variables that stay as written.
pub fn fill_in(text: &str) -> (String, Vec<String>) {
    let mut out = String::with_capacity(text.len());
    let mut open = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("$$") {
            out.push('$');
            rest = after;
            continue;
        }
        match variable(rest) {
            Some(Variable { default: Some(default), length, .. }) => {
                out.push_str(&default);
                rest = &rest[length..];
            }
            Some(Variable { name, length, .. }) => {
                if is_environment(&name) && !open.contains(&name) {
                    open.push(name);
                }
                out.push_str(&rest[..length]);
                rest = &rest[length..];
            }
            None => {
                out.push('$');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    (out, open)
}

/// Whether a variable holds something that belongs into a Secret.
pub fn is_secret(name: &str) -> bool {
    const PARTS: [&str; 9] =
        ["KEY", "TOKEN", "SECRET", "PASS", "PASSWORD", "PASSWD", "AUTH", "CREDENTIAL", "CREDENTIALS"];
    name.to_ascii_uppercase().split('_').any(|part| PARTS.contains(&part) || part.ends_with("KEY"))
}

/// The environment of one tool, being put together.
#[derive(Debug, Default)]
pub struct ToolEnv {
    entries: Vec<(String, Value)>,
    /// Variables that are read from the Secret.
    pub secrets: Vec<String>,
    /// Variables for which nobody gave a value.
    pub unset: Vec<String>,
}

impl ToolEnv {
    /// Gives `name` a value, unless it has one.
    pub fn value(&mut self, name: &str, value: &str) {
        if !self.has(name) {
            self.entries.push((name.to_owned(), json!({ "name": name, "value": value })));
        }
    }

    /// Reads `name` from the Secret `secret`.
    pub fn secret(&mut self, name: &str, secret: &str) {
        if !self.has(name) {
            let reference = json!({ "secretKeyRef": { "name": secret, "key": name } });
            self.entries.push((name.to_owned(), json!({ "name": name, "valueFrom": reference })));
            self.secrets.push(name.to_owned());
        }
    }

    /// Whether `name` is set.
    pub fn has(&self, name: &str) -> bool {
        self.entries.iter().any(|(entry, _)| entry == name)
    }

    /// A variable that a script or a request uses: its default, or the Secret.
    pub fn used(&mut self, name: &str, default: Option<&str>, secret: &str, has_env_file: bool) {
        if is_floor(name) || self.has(name) {
            return;
        }
        match default {
            Some(default) => self.value(name, default),
            None if has_env_file || is_secret(name) => self.secret(name, secret),
            None => {
                self.value(name, "");
                self.unset.push(name.to_owned());
            }
        }
    }

    /// The entries for `spec.env`.
    pub fn into_entries(self) -> Vec<Value> {
        self.entries.into_iter().map(|(_, value)| value).collect()
    }
}

/// The Secrets that imported tools read, with the names of their values.
#[derive(Debug, Default)]
pub struct Secrets {
    by_name: BTreeMap<String, (BTreeSet<String>, Vec<String>)>,
}

impl Secrets {
    /// Notes that `secret` has to hold `keys`, for tools of `file`.
    pub fn need<'a>(&mut self, secret: &str, keys: impl IntoIterator<Item = &'a String>, from: &str) {
        let (all, files) = self.by_name.entry(secret.to_owned()).or_default();
        all.extend(keys.into_iter().cloned());
        if !files.iter().any(|file| file == from) {
            files.push(from.to_owned());
        }
    }

    /// Skeletons: every value empty.
    pub fn skeletons(&self) -> impl Iterator<Item = (String, Map<String, Value>)> {
        self.by_name.iter().map(|(name, (keys, files))| {
            let values: Map<String, Value> =
                keys.iter().map(|key| (key.clone(), Value::String(String::new()))).collect();
            let mut object = Map::new();
            object.insert("apiVersion".to_owned(), json!("v1"));
            object.insert("kind".to_owned(), json!("Secret"));
            object.insert("metadata".to_owned(), json!({ "name": name }));
            object.insert("stringData".to_owned(), Value::Object(values));
            (files.join(", "), object)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let of = |text: &str| variable(text).map(|found| (found.name, found.default, found.length));
        assert_eq!(of("$A_B:x"), Some(("A_B".to_owned(), None, 4)));
        assert_eq!(of("${A}x"), Some(("A".to_owned(), None, 4)));
        assert_eq!(of("${A.b|de f}x"), Some(("A_b".to_owned(), Some("de f".to_owned()), 11)));
        assert_eq!(of("$A|x y\nz"), Some(("A".to_owned(), Some("x y".to_owned()), 6)));
        assert_eq!(of("$A | x"), Some(("A".to_owned(), None, 2)));
        assert_eq!(of("$A||x"), Some(("A".to_owned(), None, 2)));
        assert_eq!(of("$1"), None);
        assert_eq!(of("${A:-x}"), None);
    }

    #[test]
    fn texts() {
        assert_eq!(fill_in("a ${X|1} $$5 $KEY $x"), ("a 1 $5 $KEY $x".to_owned(), vec!["KEY".to_owned()]));
    }

    #[test]
    fn secrets() {
        assert!(is_secret("OSINT_API_KEY") && is_secret("APIKEY") && is_secret("GITHUB_TOKEN"));
        assert!(!is_secret("API_HOST"));
    }
}
