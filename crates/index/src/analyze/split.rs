//! Text to words: identifiers are split, case and compatibility forms folded.

use unicode_normalization::UnicodeNormalization as _;

use super::grams;
use super::script::{CharClass, class};

/// What a raw word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A word between separators, or a part of an identifier.
    Word,
    /// The whole of an identifier whose parts are listed before it (`github` after `git`, `hub`).
    Whole,
    /// An n-gram of a script without spaces.
    Gram,
    /// A character of such a script, of which the n-grams are listed too.
    Character,
}

/// A word before stop words and stemming.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RawWord {
    /// Lower-case text.
    pub text: String,
    /// What it is.
    pub form: Form,
}

/// A whole identifier longer than this is of no use: nobody types it as one word.
const LONGEST_WHOLE: usize = 32;

/// Whose text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// A tool's.
    Tool,
    /// A request's.
    Request,
}

/// The words of `text`, in order.
pub(super) fn split(text: &str, side: Side) -> Vec<RawWord> {
    let chars: Vec<char> = text.nfkc().map(straighten).collect();
    let mut words = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let kind = class(chars[at]);
        let start = at;
        if kind.is_gram() {
            while at < chars.len() && class(chars[at]).is_gram() {
                at += 1;
            }
            grams::push(&chars[start..at], side == Side::Tool, &mut words);
        } else if kind == CharClass::Separator {
            at += 1;
        } else {
            while at < chars.len() && belongs_to_word(&chars, at) {
                at += 1;
            }
            push_word(&chars[start..at], &mut words);
        }
    }
    words
}

/// Typographic apostrophes become the plain one.
fn straighten(c: char) -> char {
    if matches!(c, '\u{2018}' | '\u{2019}' | '\u{02BC}') { '\'' } else { c }
}

/// Letters and digits belong to a word, and an apostrophe between two letters does.
fn belongs_to_word(chars: &[char], at: usize) -> bool {
    match class(chars[at]) {
        CharClass::Letter | CharClass::Digit => true,
        CharClass::Separator if chars[at] == '\'' => {
            at > 0
                && class(chars[at - 1]) == CharClass::Letter
                && chars.get(at + 1).is_some_and(|&next| class(next) == CharClass::Letter)
        }
        _ => false,
    }
}

/// Pushes the parts of an identifier, then the whole if there are several.
fn push_word(chars: &[char], words: &mut Vec<RawWord>) {
    let parts = parts(chars);
    let whole = lower(chars);
    if let [_] = parts.as_slice() {
        push(whole, Form::Word, words);
        return;
    }
    let has_digit = chars.iter().any(|&c| class(c) == CharClass::Digit);
    for part in &parts {
        // `mp`, `3` of mp3: a lone character of a letter-digit border says nothing.
        if has_digit && part.len() < 2 {
            continue;
        }
        push(lower(part), Form::Word, words);
    }
    if whole.chars().count() <= LONGEST_WHOLE {
        words.push(RawWord { text: whole, form: Form::Whole });
    }
}

/// Pushes a word; of an elision (`l'adresse`) both sides are words, an English contraction stays one.
fn push(text: String, form: Form, words: &mut Vec<RawWord>) {
    const CONTRACTIONS: [&str; 7] = ["s", "t", "m", "d", "re", "ve", "ll"];
    match text.rsplit_once('\'') {
        Some((head, tail)) if !CONTRACTIONS.contains(&tail) => {
            for piece in head.split('\'').chain([tail]) {
                words.push(RawWord { text: piece.to_owned(), form });
            }
        }
        _ => words.push(RawWord { text, form }),
    }
}

/// Splits at `aB`, at `ABc` before the `B`, and between letters and digits.
fn parts(chars: &[char]) -> Vec<&[char]> {
    let mut parts = Vec::new();
    let mut start = 0;
    for at in 1..chars.len() {
        let (before, here) = (chars[at - 1], chars[at]);
        let camel = before.is_lowercase() && here.is_uppercase();
        let run_ends = before.is_uppercase()
            && here.is_uppercase()
            && chars.get(at + 1).is_some_and(|next| next.is_lowercase())
            // `URLs`, `APIs`: the plural of an abbreviation.
            && !(chars.get(at + 1) == Some(&'s') && chars.get(at + 2).is_none());
        let digit = (class(before) == CharClass::Digit) != (class(here) == CharClass::Digit);
        if camel || run_ends || (digit && before != '\'' && here != '\'') {
            parts.push(&chars[start..at]);
            start = at;
        }
    }
    parts.push(&chars[start..]);
    parts
}

fn lower(chars: &[char]) -> String {
    // The dot above is what lower-casing leaves of the Turkish capital İ.
    chars.iter().flat_map(|c| c.to_lowercase()).filter(|&c| c != '\u{307}').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        split(text, Side::Request).into_iter().map(|word| word.text).collect()
    }

    #[test]
    fn identifiers_are_split() {
        assert_eq!(words("get_web-page.v2/title"), ["get", "web", "page", "v2", "title"]);
        assert_eq!(words("HTTPServer"), ["http", "server", "httpserver"]);
        assert_eq!(words("getUserID"), ["get", "user", "id", "getuserid"]);
        assert_eq!(words("listURLs"), ["list", "urls", "listurls"]);
        assert_eq!(words("base64"), ["base", "64", "base64"]);
        assert_eq!(words("mp3"), ["mp", "mp3"]);
        assert_eq!(words("GitHub"), ["git", "hub", "github"]);
    }

    #[test]
    fn compatibility_forms_and_case_are_folded() {
        assert_eq!(words("Ｆｕｌｌ ﬁle"), ["full", "file"]);
        assert_eq!(words("ГОРОД Straße ΑΘΗΝΑ"), ["город", "straße", "αθηνα"]);
    }

    #[test]
    fn apostrophes() {
        assert_eq!(words("what's the user’s l'adresse"), ["what's", "the", "user's", "l", "adresse"]);
        assert_eq!(words("'quoted' rock 'n' roll"), ["quoted", "rock", "n", "roll"]);
    }
}
