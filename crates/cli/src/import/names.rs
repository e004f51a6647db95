//! Names that Kubernetes and the catalog take.

use std::collections::BTreeSet;

/// Longest DNS label.
const LABEL: usize = 63;
/// Longest name of a tool.
const TOOL: usize = 64;

/// `text` as a DNS label: lower case letters, digits and hyphens. `fallback` where nothing is left of it.
pub fn label(text: &str, fallback: &str) -> String {
    let mut label = String::with_capacity(text.len());
    for c in text.chars() {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => label.push(c),
            _ if label.ends_with('-') => {}
            _ => label.push('-'),
        }
    }
    label.truncate(LABEL);
    let label = label.trim_matches('-');
    if label.is_empty() { fallback.to_owned() } else { label.to_owned() }
}

/// `text` as the name of a tool: letters, digits, `_` and `-`, at most 64.
pub fn tool(text: &str) -> String {
    let usable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut name: String = text.chars().map(|c| if usable(c) { c } else { '_' }).collect();
    name.truncate(TOOL);
    name
}

/// `text` as the name of a parameter or an environment variable.
pub fn identifier(text: &str) -> String {
    let usable = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut name: String = text.chars().map(|c| if usable(c) { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        name.insert(0, '_');
    }
    name.truncate(TOOL);
    name
}

/// `wanted`, or the first of `wanted-2`, `wanted-3`, … that isn't taken; takes it.
pub fn free(wanted: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name = wanted.to_owned();
    let mut n = 2;
    while !taken.insert(name.clone()) {
        let suffix = format!("-{n}");
        let stem: String = wanted.chars().take(LABEL - suffix.len()).collect();
        name = format!("{}{suffix}", stem.trim_end_matches('-'));
        n += 1;
    }
    name
}

/// The key of a tool: `public` and `admin` first, then the groups as declared, then the name.
pub fn key(groups: &[String], name: &str) -> String {
    let first = ["public", "admin"].into_iter().filter(|first| groups.iter().any(|group| group == first));
    let rest = groups.iter().map(String::as_str).filter(|group| !matches!(*group, "public" | "admin"));
    first.chain(rest).chain([name]).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        assert_eq!(label("Sem_Scholar.v2", "x"), "sem-scholar-v2");
        assert_eq!(label("__", "x"), "x");
        assert_eq!(label(&"a".repeat(80), "x").len(), 63);
        assert_eq!(label("große Tools", "x"), "gro-e-tools");
    }

    #[test]
    fn free_names() {
        let mut taken = BTreeSet::new();
        assert_eq!(free("a", &mut taken), "a");
        assert_eq!(free("a", &mut taken), "a-2");
        assert_eq!(free("a", &mut taken), "a-3");
    }

    #[test]
    fn keys() {
        let groups = ["net".to_owned(), "admin".to_owned(), "public".to_owned()];
        assert_eq!(key(&groups, "ping"), "public.admin.net.ping");
    }
}
