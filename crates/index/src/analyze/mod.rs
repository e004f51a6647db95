//! Text to terms.
//!
//! ```text
//! text ─▶ NFKC, identifiers split, n-grams ─▶ language, stop words ─▶ word and stem ─▶ 32-bit term ids
//! ```
//!
//! Everything here is a function of its argument alone: the same text gives the same terms in every program, on every
//! machine and in every release of the same [`VERSION`].

mod grams;
mod language;
mod script;
mod split;
mod stopwords;

pub use language::Language;
pub(crate) use script::latin_share;

use language::Evidence;
use split::{Form, RawWord};
use unicode_normalization::UnicodeNormalization as _;

/// Changes whenever terms or their weights change: an index of another version has to be rebuilt.
pub const VERSION: u32 = 1;

/// A word of a text with the terms it is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word, lower case.
    pub text: String,
    /// Its terms: the word itself, and its stem (a query of unknown language: its stems).
    pub terms: Vec<u32>,
    /// Whether its parts are listed too: it then adds terms but no length.
    pub whole: bool,
}

/// The words of a tool's text without stop words, of all its fields together: the language is judged by all of them.
///
/// A field whose words are all stop words keeps them.
pub fn fields<const N: usize>(texts: [&str; N]) -> [Vec<Word>; N] {
    let raw = texts.map(split::split);
    let all: Vec<RawWord> = raw.iter().flatten().cloned().collect();
    let language = match language::detect(&all) {
        Evidence::Is(language) => language,
        Evidence::Unknown => Language::English,
    };
    raw.map(|words| analyze(&words, stops(language), &[language]))
}

/// The words of a request without stop words; a request of stop words alone keeps them.
///
/// Where nothing tells the language, each word is stemmed as each language would: only the stems that tools in that
/// language have will meet anything.
pub fn query(text: &str) -> Vec<Word> {
    let raw = split::split(text);
    match language::detect(&raw) {
        Evidence::Is(Language::English) => analyze(&raw, stops(Language::English), &[Language::English]),
        Evidence::Is(language) => analyze(&raw, stops(language), &[Language::English, language]),
        Evidence::Unknown => analyze(&raw, stops(Language::English), &language::LATIN),
    }
}

/// Stop words of a text in `language` are those of its language and the English ones; a word in another script is
/// judged by its own language's list.
fn stops(language: Language) -> u32 {
    let latin: u32 = language::LATIN.iter().map(|&language| stopwords::bit(language)).sum();
    !latin & !stopwords::bit(Language::Turkish) | stopwords::bit(language) | stopwords::bit(Language::English)
}

fn analyze(raw: &[RawWord], stops: u32, languages: &[Language]) -> Vec<Word> {
    let is_stop = |word: &RawWord| word.form != Form::Gram && stopwords::languages(&word.text) & stops != 0;
    let keep_all = raw.iter().all(|word| is_stop(word) || word.form == Form::Whole);
    raw.iter()
        .filter(|word| keep_all || !is_stop(word))
        .map(|word| Word {
            terms: terms(word, languages),
            whole: word.form == Form::Whole,
            text: word.text.clone(),
        })
        .collect()
}

/// The word's own term, then its stems'. A stem equal to its word gives no second term in English; the stems of the
/// other languages are terms of their own.
fn terms(word: &RawWord, languages: &[Language]) -> Vec<u32> {
    let text = word.text.split('\'').next().unwrap_or_default();
    let text = if text.is_empty() { word.text.as_str() } else { text };
    let mut terms = vec![term_id("", &fold(text))];
    if word.form == Form::Gram || !text.chars().any(char::is_alphabetic) {
        return terms;
    }
    let by_script = language::of_script(text);
    for &language in by_script.as_ref().map_or(languages, std::slice::from_ref) {
        let term = term_id(language.code(), &fold(&language.stem(text)));
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms
}

/// Without the marks of Latin and Greek letters (`página` is found as `pagina`), and `ё` as `е`.
fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let mut folded = String::with_capacity(word.len());
    for c in word.chars() {
        match c {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' => folded.push('d'),
            'ı' => folded.push('i'),
            'ё' => folded.push('е'),
            'ς' => folded.push('σ'),
            _ if script::is_latin(c) || matches!(u32::from(c), 0x370..=0x3FF | 0x1F00..=0x1FFF) => {
                folded.extend(
                    std::iter::once(c).nfd().filter(|&c| !unicode_normalization::char::is_combining_mark(c)),
                );
            }
            _ => folded.push(c),
        }
    }
    folded
}

/// 32-bit id of a term: FNV-1a over `language NUL term`, then the finaliser of MurmurHash3 (FNV alone leaves the high
/// bits of short words nearly constant).
fn term_id(language: &str, term: &str) -> u32 {
    let mut hash = 0x811c_9dc5_u32;
    for byte in language.bytes().chain([0]).chain(term.bytes()) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

#[cfg(test)]
#[path = "analyze_tests.rs"]
mod tests;
