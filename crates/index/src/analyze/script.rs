//! Which letters are written without spaces between words, and which are Latin.

/// How the words of a script are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharClass {
    /// Belongs to a word that spaces or punctuation end.
    Letter,
    /// A digit.
    Digit,
    /// Chinese characters.
    Han,
    /// Japanese syllables of grammar and of native words.
    Hiragana,
    /// Japanese syllables of loan words.
    Katakana,
    /// Korean syllables: spaces are there, but particles are glued to the words.
    Hangul,
    /// Thai, Lao, Burmese, Khmer, Tibetan: no spaces between words.
    Unspaced,
    /// Between words.
    Separator,
}

impl CharClass {
    /// Whether words of this class are found by their n-grams.
    pub(super) fn is_gram(self) -> bool {
        matches!(self, Self::Han | Self::Hiragana | Self::Katakana | Self::Hangul | Self::Unspaced)
    }
}

/// The class of a character of an NFKC text.
pub(super) fn class(c: char) -> CharClass {
    if c.is_ascii() {
        return match c {
            'a'..='z' | 'A'..='Z' => CharClass::Letter,
            '0'..='9' => CharClass::Digit,
            _ => CharClass::Separator,
        };
    }
    match u32::from(c) {
        0x3005 | 0x3007 | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_23AF => {
            CharClass::Han
        }
        0x3041..=0x309F => CharClass::Hiragana,
        // The middle dot separates words.
        0x30FB => CharClass::Separator,
        0x30A1..=0x30FF | 0x31F0..=0x31FF => CharClass::Katakana,
        0x1100..=0x11FF | 0x3130..=0x318F | 0xA960..=0xA97F | 0xAC00..=0xD7FF => CharClass::Hangul,
        0x0E01..=0x0E4E | 0x0E81..=0x0ECE | 0x0F40..=0x0FBC | 0x1000..=0x109F | 0x1780..=0x17D3 => {
            CharClass::Unspaced
        }
        _ if c.is_alphabetic() || unicode_normalization::char::is_combining_mark(c) => CharClass::Letter,
        _ if c.is_numeric() => CharClass::Digit,
        _ => CharClass::Separator,
    }
}

/// Share of `text`'s letters that are Latin, 1.0 for a text without letters.
///
/// An English model knows nothing of the others; its vectors of them are noise.
pub(crate) fn latin_share(text: &str) -> f32 {
    let (mut latin, mut letters) = (0_u16, 0_u16);
    for c in text.chars() {
        if !c.is_alphabetic() {
            continue;
        }
        letters = letters.saturating_add(1);
        if is_latin(c) {
            latin = latin.saturating_add(1);
        }
    }
    if letters == 0 { 1.0 } else { f32::from(latin) / f32::from(letters) }
}

/// Whether a letter is Latin, with or without marks.
pub(super) fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(u32::from(c), 0xAA | 0xBA | 0xC0..=0x24F | 0x1E00..=0x1EFF | 0xFF21..=0xFF5A)
}
