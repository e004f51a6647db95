//! What is embedded of a tool.

use std::fmt::Write as _;

use mcc_catalog::model::ToolDocument;

/// Longest text given to an embedder, in bytes: beyond, a model reads nothing or averages everything to nothing.
const LONGEST: usize = 8 * 1024;

/// `split groups + name: description`, then `split parameter: description; …` on a line of its own.
///
/// Splitting the identifiers and adding the parameters each help a model that never saw identifiers (SEARCH.md).
pub fn dense_text(tool: &ToolDocument) -> String {
    let mut text = String::with_capacity(256);
    for group in &tool.facets.groups {
        text.push_str(&spaced(group));
        text.push(' ');
    }
    text.push_str(&spaced(&tool.name));
    let _ = write!(text, ": {}", tool.description.trim());
    if !tool.keywords.is_empty() {
        let _ = write!(text, " {}", tool.keywords.join(", "));
    }
    for (at, (param, description)) in tool.params.iter().enumerate() {
        text.push_str(if at == 0 { "\n" } else { "; " });
        let _ = write!(text, "{}: {}", spaced(param), description.trim());
        if text.len() > LONGEST {
            break;
        }
    }
    truncate(&mut text, LONGEST);
    text
}

/// An identifier as words: `getUser_byID` → `get User by ID`.
pub(crate) fn spaced(identifier: &str) -> String {
    let chars: Vec<char> = identifier.chars().collect();
    let mut words = String::with_capacity(identifier.len() + 4);
    for (at, &c) in chars.iter().enumerate() {
        if matches!(c, '_' | '-' | '.' | '/' | ' ') {
            if !words.is_empty() && !words.ends_with(' ') {
                words.push(' ');
            }
            continue;
        }
        let before = at.checked_sub(1).map(|at| chars[at]);
        let next = chars.get(at + 1);
        let border = before.is_some_and(|before| {
            (before.is_lowercase() && c.is_uppercase())
                || (before.is_uppercase() && c.is_uppercase() && next.is_some_and(|next| next.is_lowercase()))
        });
        if border && !words.ends_with(' ') {
            words.push(' ');
        }
        words.push(c);
    }
    words.truncate(words.trim_end().len());
    words
}

/// Cuts at a character border at or before `bytes`.
pub(crate) fn truncate(text: &mut String, bytes: usize) {
    if text.len() > bytes {
        let border = (0..=bytes).rev().find(|&at| text.is_char_boundary(at));
        text.truncate(border.unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use mcc_catalog::model::Facets;

    use super::*;

    #[test]
    fn identifiers_become_words() {
        assert_eq!(spaced("get_user-byID"), "get user by ID");
        assert_eq!(spaced("HTTPServer.start"), "HTTP Server start");
    }

    #[test]
    fn the_text_of_a_tool() {
        let tool = ToolDocument {
            facets: Facets::new("geo.reverse_geocode", &["geo".to_owned()]),
            name: "reverse_geocode".to_owned(),
            description: "Finds the address of a place.\n".to_owned(),
            params: vec![
                ("lat".to_owned(), "Latitude".to_owned()),
                ("lonDeg".to_owned(), "Longitude".to_owned()),
            ],
            ..ToolDocument::default()
        };
        assert_eq!(
            dense_text(&tool),
            "geo reverse geocode: Finds the address of a place.\nlat: Latitude; lon Deg: Longitude"
        );
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let tool = ToolDocument { description: "ß".repeat(10_000), ..ToolDocument::default() };
        assert!(dense_text(&tool).len() <= LONGEST);
    }
}
