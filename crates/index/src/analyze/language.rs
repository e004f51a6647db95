//! Which language words are in, and its stemmer.

use snowball_stemmers_rs::{Algorithm, Stemmer};

use super::script::is_latin;
use super::split::{Form, RawWord};
use super::stopwords;

/// A language with a Snowball stemmer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Language {
    English,
    Arabic,
    Armenian,
    Catalan,
    Czech,
    Danish,
    Dutch,
    Finnish,
    French,
    German,
    Greek,
    Hindi,
    Hungarian,
    Indonesian,
    Italian,
    Norwegian,
    Persian,
    Polish,
    Portuguese,
    Romanian,
    Russian,
    Serbian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
    Ukrainian,
}

/// The languages in Latin letters that are told apart by their function words; English first.
pub(super) const LATIN: [Language; 17] = [
    Language::English,
    Language::Spanish,
    Language::French,
    Language::German,
    Language::Portuguese,
    Language::Indonesian,
    Language::Italian,
    Language::Polish,
    Language::Dutch,
    Language::Romanian,
    Language::Swedish,
    Language::Czech,
    Language::Hungarian,
    Language::Danish,
    Language::Norwegian,
    Language::Finnish,
    Language::Catalan,
];

/// Turkish is told by its letters, so that its few short function words can't be mistaken.
const TURKISH_LETTERS: [char; 2] = ['ğ', 'ı'];

impl Language {
    /// All of them.
    pub(super) const ALL: [Self; 27] = [
        Self::English,
        Self::Arabic,
        Self::Armenian,
        Self::Catalan,
        Self::Czech,
        Self::Danish,
        Self::Dutch,
        Self::Finnish,
        Self::French,
        Self::German,
        Self::Greek,
        Self::Hindi,
        Self::Hungarian,
        Self::Indonesian,
        Self::Italian,
        Self::Norwegian,
        Self::Persian,
        Self::Polish,
        Self::Portuguese,
        Self::Romanian,
        Self::Russian,
        Self::Serbian,
        Self::Spanish,
        Self::Swedish,
        Self::Tamil,
        Self::Turkish,
        Self::Ukrainian,
    ];

    /// Prefix of this language's stems: stems of different languages are different terms. English has none.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::English => "",
            Self::Arabic => "ar",
            Self::Armenian => "hy",
            Self::Catalan => "ca",
            Self::Czech => "cs",
            Self::Danish => "da",
            Self::Dutch => "nl",
            Self::Finnish => "fi",
            Self::French => "fr",
            Self::German => "de",
            Self::Greek => "el",
            Self::Hindi => "hi",
            Self::Hungarian => "hu",
            Self::Indonesian => "id",
            Self::Italian => "it",
            Self::Norwegian => "no",
            Self::Persian => "fa",
            Self::Polish => "pl",
            Self::Portuguese => "pt",
            Self::Romanian => "ro",
            Self::Russian => "ru",
            Self::Serbian => "sr",
            Self::Spanish => "es",
            Self::Swedish => "sv",
            Self::Tamil => "ta",
            Self::Turkish => "tr",
            Self::Ukrainian => "uk",
        }
    }

    /// The stem of a lower-case word.
    pub(super) fn stem(self, word: &str) -> String {
        let algorithm = match self {
            Self::English => Algorithm::English,
            Self::Arabic => Algorithm::Arabic,
            Self::Armenian => Algorithm::Armenian,
            Self::Catalan => Algorithm::Catalan,
            Self::Czech => Algorithm::Czech,
            Self::Danish => Algorithm::Danish,
            Self::Dutch => Algorithm::Dutch,
            Self::Finnish => Algorithm::Finnish,
            Self::French => Algorithm::French,
            Self::German => Algorithm::German,
            Self::Greek => Algorithm::Greek,
            Self::Hindi => Algorithm::Hindi,
            Self::Hungarian => Algorithm::Hungarian,
            Self::Indonesian => Algorithm::Indonesian,
            Self::Italian => Algorithm::Italian,
            Self::Norwegian => Algorithm::Norwegian,
            Self::Persian => Algorithm::Persian,
            Self::Polish => Algorithm::Polish,
            Self::Portuguese => Algorithm::Portuguese,
            Self::Romanian => Algorithm::Romanian,
            Self::Russian => Algorithm::Russian,
            Self::Serbian => Algorithm::Serbian,
            Self::Spanish => Algorithm::Spanish,
            Self::Swedish => Algorithm::Swedish,
            Self::Tamil => Algorithm::Tamil,
            Self::Turkish => Algorithm::Turkish,
            Self::Ukrainian => Algorithm::Ukrainian,
        };
        Stemmer::create(algorithm).stem(word).into_owned()
    }
}

/// The language of a word in letters that only few languages use; none for Latin letters and unknown scripts.
pub(super) fn of_script(word: &str) -> Option<Language> {
    let first = word.chars().find(|c| c.is_alphabetic())?;
    if is_latin(first) {
        return None;
    }
    let has = |letters: &str| word.chars().any(|c| letters.contains(c));
    match u32::from(first) {
        0x370..=0x3FF | 0x1F00..=0x1FFF => Some(Language::Greek),
        0x400..=0x4FF => Some(if has("іїєґ") {
            Language::Ukrainian
        } else if has("јљњћђџ") {
            Language::Serbian
        } else {
            Language::Russian
        }),
        0x531..=0x587 => Some(Language::Armenian),
        0x600..=0x6FF => Some(if has("پچژگ") { Language::Persian } else { Language::Arabic }),
        0x900..=0x97F => Some(Language::Hindi),
        0xB80..=0xBFF => Some(Language::Tamil),
        _ => None,
    }
}

/// The language of a text's Latin words: several when they speak for these equally, none when nothing speaks for any.
///
/// Judged by function words, two points each, and by letters that only few languages have, one point a word. English
/// wins ties: most tools are described in it, and it has no letters of its own.
pub(super) fn detect(words: &[RawWord]) -> Vec<Language> {
    let mut points = [0_u32; LATIN.len()];
    let mut turkish = 0_u32;
    for word in words.iter().filter(|word| word.form == Form::Word) {
        let stop_of = stopwords::languages(&word.text);
        for (points, &language) in points.iter_mut().zip(&LATIN) {
            if stop_of & stopwords::bit(language) != 0 {
                *points += 2;
            }
            if !word.text.is_ascii() && word.text.chars().any(|c| letters(language).contains(c)) {
                *points += 1;
            }
        }
        turkish += u32::from(word.text.chars().any(|c| TURKISH_LETTERS.contains(&c))) * 2;
    }
    let best = points.iter().copied().max().unwrap_or(0).max(turkish);
    if best == 0 {
        return Vec::new();
    }
    if points[0] == best {
        return vec![Language::English];
    }
    let tied = LATIN.iter().zip(points).filter(|&(_, points)| points == best).map(|(&language, _)| language);
    tied.chain((turkish == best).then_some(Language::Turkish)).collect()
}

/// Letters outside `a` to `z` that are usual in a language and not in most others.
fn letters(language: Language) -> &'static str {
    match language {
        Language::Catalan => "çàèòï",
        Language::Czech => "ěščřžýůťďň",
        Language::Danish | Language::Norwegian => "åæø",
        Language::Finnish => "äö",
        Language::French => "éèàçêâîôùûœë",
        Language::German => "äöüß",
        Language::Hungarian => "őűéáö",
        Language::Italian => "àèìòù",
        Language::Polish => "ąćęłńśźż",
        Language::Portuguese => "ãõçáéêâíóú",
        Language::Romanian => "ășțîâ",
        Language::Spanish => "ñáéíóú",
        Language::Swedish => "åäö",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::super::split::{Side, split};
    use super::*;

    #[test]
    fn detection() {
        for (text, language) in [
            ("Send an invoice to the customer", Language::English),
            ("Rechnung an den Kunden verschicken und drucken", Language::German),
            ("Übersetzt einen Text in eine andere Sprache", Language::German),
            ("Envía una factura al cliente por correo", Language::Spanish),
            ("Traduce un texto a otro idioma conservando el tono", Language::Spanish),
            ("Envoie une facture au client par courriel", Language::French),
            ("Invia la fattura al cliente e stampa una copia per gli archivi", Language::Italian),
            ("Envia uma fatura para o cliente, não por correio", Language::Portuguese),
            ("Stuur een factuur naar de klant via het systeem", Language::Dutch),
            ("Skicka en faktura till kunden och skriv ut den", Language::Swedish),
            ("Wyślij fakturę do klienta i wydrukuj ją", Language::Polish),
            ("Müşteriye bir fatura gönder ve yazdır, sonra sakla, çağrı için", Language::Turkish),
        ] {
            let detected = detect(&split(text, Side::Request));
            assert!(detected.contains(&language) && detected.len() <= 2, "{text}: {detected:?}");
        }
        assert!(detect(&split("factura cliente", Side::Request)).is_empty());
        let tied = detect(&split("Invia una fattura al cliente con la posta", Side::Request));
        assert!(tied.contains(&Language::Italian) && tied.contains(&Language::Spanish), "{tied:?}");
    }

    #[test]
    fn scripts() {
        assert_eq!(of_script("погода"), Some(Language::Russian));
        assert_eq!(of_script("місто"), Some(Language::Ukrainian));
        assert_eq!(of_script("καιρός"), Some(Language::Greek));
        assert_eq!(of_script("weather"), None);
    }
}
