//! Quoting for a POSIX shell, and splitting as it does.

/// `text` as one word, wherever a bare word may stand.
pub(crate) fn word(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('\'');
    push_single(&mut quoted, text);
    quoted.push('\'');
    quoted
}

/// `text` for the inside of '…'.
pub(crate) fn push_single(out: &mut String, text: &str) {
    for (index, part) in text.split('\'').enumerate() {
        if index > 0 {
            out.push_str("'\\''");
        }
        out.push_str(part);
    }
}

/// `text` for the inside of "…".
pub(crate) fn push_double(out: &mut String, text: &str) {
    for c in text.chars() {
        if matches!(c, '\\' | '"' | '$' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
}

/// An expansion that is always empty. It keeps a line from being the end of a here-document, and its tabs from being
/// removed, without a process of its own.
const NOTHING: &str = "${-+}";

/// `text` for a here-document whose delimiter isn't quoted.
///
/// `guard`: what stands before the text on its line could make the end of the document with it, or become part of it.
/// Every line that begins as the delimiter does is guarded, not only those that are the delimiter: dash (0.5.12) loses a
/// byte of a line that begins so and goes on with a character that isn't ASCII.
pub(crate) fn push_document(out: &mut String, text: &str, guard: bool, delimiter: &str, strip: bool) {
    let mut lines = text.split('\n').enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        if index > 0 {
            out.push('\n');
        }
        let alike = line.chars().next() == delimiter.chars().next();
        // The template's own text may follow the last line.
        let open = line.is_empty() && lines.peek().is_none();
        if (index == 0 && guard) || (index > 0 && (alike || open || (strip && line.starts_with('\t')))) {
            out.push_str(NOTHING);
        }
        for c in line.chars() {
            if matches!(c, '\\' | '$' | '`') {
                out.push('\\');
            }
            out.push(c);
        }
    }
}

/// Splits an option string into words as a shell does: blanks, '…', "…" and backslashes; nothing is expanded.
///
/// # Errors
/// Says which quote or backslash is left open.
pub(crate) fn split_words(text: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut current: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' | '\n' => words.extend(current.take()),
            '\'' => {
                let word = current.get_or_insert_default();
                loop {
                    match chars.next().ok_or("has a ' that is not closed")? {
                        '\'' => break,
                        inner => word.push(inner),
                    }
                }
            }
            '"' => {
                let word = current.get_or_insert_default();
                loop {
                    match chars.next().ok_or("has a \" that is not closed")? {
                        '"' => break,
                        '\\' => match chars.next().ok_or("has a \" that is not closed")? {
                            '\n' => {}
                            escaped @ ('\\' | '"' | '$' | '`') => word.push(escaped),
                            other => word.extend(['\\', other]),
                        },
                        inner => word.push(inner),
                    }
                }
            }
            '\\' => match chars.next().ok_or("ends in a backslash")? {
                '\n' => {}
                escaped => current.get_or_insert_default().push(escaped),
            },
            other => current.get_or_insert_default().push(other),
        }
    }
    words.extend(current);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_closed_and_reopened_around_its_quotes() {
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(""), "''");
    }

    #[test]
    fn words_are_split_as_a_shell_splits() {
        let split = |text| split_words(text).unwrap();
        assert_eq!(
            split("  -r --arg a 'b c' \"d \\\"e\\\" \\n\" f\\ g ''"),
            ["-r", "--arg", "a", "b c", "d \"e\" \\n", "f g", ""]
        );
        assert_eq!(split(""), Vec::<String>::new());
        assert_eq!(split("$(id) `id` ; > x"), ["$(id)", "`id`", ";", ">", "x"]);
        assert!(split_words("'a").is_err());
        assert!(split_words("\"a").is_err());
        assert!(split_words("a\\").is_err());
    }
}
