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

use split::{Form, RawWord, Side};
use unicode_normalization::UnicodeNormalization as _;

/// Changes whenever terms or their weights change: an index of another version has to be rebuilt.
pub const VERSION: u32 = 1;

/// Where a term of a word comes from: indexes weigh them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The word's stem, or an n-gram.
    Stem,
    /// The word as it was written.
    Surface,
    /// Two neighbours written as one word (`webpage` of "web page").
    Joined,
}

/// A word of a text with the terms it is found by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word, lower case.
    pub text: String,
    /// Its terms: stems, and the word as it was written.
    pub terms: Vec<(u32, Origin)>,
    /// Whether it only repeats words listed before it: it then adds terms but no length.
    pub repeats: bool,
}

/// What a field of a tool holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Names, mostly made of English words whatever language the tool is described in.
    Identifiers,
    /// Sentences.
    Prose,
    /// Sentences about a part of the tool: stems are enough of them.
    Detail,
}

/// The words of a tool's fields without stop words. The language is judged by all fields together.
///
/// A field whose words are all stop words keeps them.
pub fn fields<const N: usize>(texts: [(&str, Content); N]) -> [Vec<Word>; N] {
    let raw = texts.map(|(text, content)| (split::split(text, Side::Tool), content));
    let all: Vec<RawWord> = raw.iter().flat_map(|(words, _)| words).cloned().collect();
    let mut spoken = language::detect(&all);
    if spoken.is_empty() {
        spoken.push(Language::English);
    }
    let mut with_english = spoken.clone();
    if !spoken.contains(&Language::English) {
        with_english.insert(0, Language::English);
    }
    let stops = stops(&spoken);
    raw.map(|(words, content)| {
        let languages = if content == Content::Identifiers { &with_english } else { &spoken };
        let words = content_words(words, stops);
        let mut analysed: Vec<Word> = words.iter().map(|word| analyze(word, languages)).collect();
        if content == Content::Detail {
            for word in &mut analysed {
                word.terms.retain(|&(_, origin)| origin == Origin::Stem);
            }
        } else {
            analysed.extend(pairs(&words, JOINED));
        }
        analysed
    })
}

/// The words of a request without stop words; a request of stop words alone keeps them.
///
/// Where nothing tells the language, each word is stemmed as each language would: only the stems that tools in that
/// language have will meet anything.
pub fn query(text: &str) -> Vec<Word> {
    let raw = split::split(text, Side::Request);
    let mut spoken = language::detect(&raw);
    let stops = stops(&spoken);
    if spoken.is_empty() {
        spoken.extend(language::LATIN);
    } else if !spoken.contains(&Language::English) {
        spoken.insert(0, Language::English);
    }
    let raw = content_words(raw, stops);
    let pairs = pairs(&raw, "");
    let mut words: Vec<Word> = raw.iter().map(|word| analyze(word, &spoken)).collect();
    for (word, raw) in words.iter_mut().zip(&raw) {
        if matches!(raw.form, Form::Word | Form::Whole) {
            word.terms.push((term_id(JOINED, &fold(&Language::English.stem(&raw.text))), Origin::Joined));
        }
    }
    words.extend(pairs);
    words
}

/// How many words of a request say what is wanted. Cheap.
pub(crate) fn content_length(text: &str) -> usize {
    content_words(split::split(text, Side::Request), stops(&[]))
        .iter()
        .filter(|word| word.form != Form::Whole)
        .count()
}

/// Prefix of words that are two in the text.
const JOINED: &str = "+";
/// Prefix of words as they were written.
const SURFACE: &str = "=";

/// Stop words of a text in these languages, a bit for each list that counts: theirs and the English ones, and those of
/// the other scripts, whose words can't be mistaken.
fn stops(spoken: &[Language]) -> u32 {
    let latin: u32 = language::LATIN.iter().map(|&language| stopwords::bit(language)).sum();
    let spoken =
        spoken.iter().fold(stopwords::bit(Language::English), |bits, &one| bits | stopwords::bit(one));
    !latin & !stopwords::bit(Language::Turkish) | spoken
}

/// Without stop words, unless nothing else is there.
fn content_words(mut raw: Vec<RawWord>, stops: u32) -> Vec<RawWord> {
    let is_stop = |word: &RawWord| {
        matches!(word.form, Form::Word | Form::Whole) && stopwords::languages(&word.text) & stops != 0
    };
    if !raw.iter().all(|word| is_stop(word) || word.form == Form::Whole) {
        raw.retain(|word| !is_stop(word));
    }
    raw
}

fn analyze(word: &RawWord, languages: &[Language]) -> Word {
    Word {
        terms: terms(&word.text, word.form, languages),
        repeats: matches!(word.form, Form::Whole | Form::Character),
        text: word.text.clone(),
    }
}

/// Neighbouring words as one, so that "web pages" and "webpage" meet. The side of the tool and the side of the request
/// use different prefixes: a pair meets a word, but a pair doesn't meet a pair (that would rank phrases up).
fn pairs(words: &[RawWord], prefix: &str) -> Vec<Word> {
    let parts: Vec<&RawWord> = words.iter().filter(|word| word.form == Form::Word).collect();
    let mut pairs = Vec::new();
    for pair in parts.windows(2) {
        let [first, second] = pair else { continue };
        let plain = |word: &str| word.len() > 1 && word.chars().all(char::is_alphabetic);
        if first.text == second.text
            || !plain(&first.text)
            || !plain(&second.text)
            || first.text.len() + second.text.len() > LONGEST_PAIR
        {
            continue;
        }
        let text = format!("{}{}", first.text, second.text);
        let term = term_id(prefix, &fold(&Language::English.stem(&text)));
        pairs.push(Word { text, terms: vec![(term, Origin::Joined)], repeats: true });
    }
    pairs
}

/// Longest word that is looked for in two pieces, in bytes.
const LONGEST_PAIR: usize = 24;

/// The word's stems, then the word as it was written. The stems of different languages are different terms.
fn terms(text: &str, form: Form, languages: &[Language]) -> Vec<(u32, Origin)> {
    if matches!(form, Form::Gram | Form::Character) || !text.chars().any(char::is_alphabetic) {
        return vec![(term_id("", &fold(text)), Origin::Stem)];
    }
    // The English possessive.
    let text = text.split('\'').find(|part| !part.is_empty()).unwrap_or(text);
    let by_script = language::of_script(text);
    let mut terms = Vec::with_capacity(2);
    for &language in by_script.as_ref().map_or(languages, std::slice::from_ref) {
        let term = (term_id(language.code(), &fold(&language.stem(text))), Origin::Stem);
        if !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms.push((term_id(SURFACE, &fold(text)), Origin::Surface));
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
