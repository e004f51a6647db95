//! The template of a JSON body, as far as it tells where a value stands.

/// The expressions of `source` that stand inside a string of JSON, with their places in bytes.
pub(super) fn values_in_strings(source: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut at, mut in_string) = (0, false);
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        let close = if rest.starts_with("{{") {
            "}}"
        } else if rest.starts_with("{%") {
            "%}"
        } else {
            in_string ^= c == '"';
            // What is escaped ends no string.
            at += c.len_utf8();
            if c == '\\' && in_string {
                at += source[at..].chars().next().map_or(0, char::len_utf8);
            }
            continue;
        };
        let Some(length) = rest.find(close) else { break };
        if in_string && close == "}}" {
            found.push((at, &rest[2..length]));
        }
        at += length + close.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_told_from_the_rest() {
        let source =
            r#"{"a": "x {{ a }}", "b": {{ b | tojson }}, "c\"{{ c }}": [1{% if d %}, "{{ d }}"{% endif %}]}"#;
        let found: Vec<&str> = values_in_strings(source).into_iter().map(|(_, value)| value.trim()).collect();
        assert_eq!(found, ["a", "c", "d"]);
        assert!(values_in_strings("{\"a\": {{ open").is_empty());
    }
}
