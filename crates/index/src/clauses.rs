//! A request with several intents, cut into its clauses.

use std::sync::LazyLock;

use regex::Regex;

use crate::analyze::content_length;

/// Most clauses; what is left stays in the last one. Each costs a search.
const MOST: usize = 12;
/// A piece of fewer words joins the one before it.
const FEWEST_WORDS: usize = 3;
/// So does one with fewer words that aren't stop words.
const FEWEST_CONTENT_WORDS: usize = 2;

/// The clauses of a request, in order; one for a request with a single intent.
///
/// Cut at sentence ends, new lines, `;`, `, and`, then / and then / also / additionally / furthermore / after that /
/// finally, the stops of Chinese and Japanese, and at a plain ` and ` when every piece keeps at least three words. A
/// piece that says too little for a search of its own joins the one before it.
pub fn split(text: &str) -> Vec<&str> {
    static CUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?xi)
            [.!?]+ (?: \s+ | $ ) | [\r\n]+ | ; | [。！？；]
            | ,? \s+ (?: and \s+ )? (?: then | also | additionally | furthermore | after \s that | finally ) \b ,?
            | , \s* and \s
            | \b (?: then | also | additionally | furthermore | after \s that | finally ) , ",
        )
        .ok()
    });
    static AND: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)\s+and\s+").ok());
    let (Some(cut), Some(and)) = (&*CUT, &*AND) else { return vec![text] };

    let mut clauses: Vec<&str> = Vec::new();
    for piece in joined(text, cut) {
        let pieces: Vec<&str> = and.split(piece).collect();
        if pieces.len() > 1 && pieces.iter().all(|piece| is_clause(piece)) {
            clauses.extend(pieces);
        } else {
            clauses.push(piece);
        }
    }
    if clauses.len() > MOST {
        let rest = offset(text, clauses[MOST - 1]);
        clauses.truncate(MOST - 1);
        clauses.push(&text[rest..]);
    }
    clauses
}

/// The pieces between cuts; a short one joins the one before it.
fn joined<'a>(text: &'a str, cut: &Regex) -> Vec<&'a str> {
    let mut pieces: Vec<&str> = Vec::new();
    for piece in cut.split(text) {
        let piece = piece.trim();
        if piece.is_empty() {
            continue;
        }
        match pieces.last_mut() {
            Some(before) if !is_clause(piece) || !is_clause(before) => {
                *before = &text[offset(text, before)..offset(text, piece) + piece.len()];
            }
            _ => pieces.push(piece),
        }
    }
    if pieces.is_empty() { vec![text] } else { pieces }
}

/// Where a piece of `text` begins in it.
fn offset(text: &str, piece: &str) -> usize {
    piece.as_ptr().addr() - text.as_ptr().addr()
}

/// Words of any kind; in scripts without spaces, two characters count as one.
fn words(text: &str) -> usize {
    let unspaced = text.chars().filter(|c| u32::from(*c) >= 0x2E80).count();
    text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count().max(unspaced / 2)
}

/// Whether a piece says what is wanted: "Thanks a lot" and "This is ridiculous" don't.
fn is_clause(piece: &str) -> bool {
    words(piece) >= FEWEST_WORDS && content_length(piece) >= FEWEST_CONTENT_WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_intent_stays_whole() {
        for text in [
            "find papers about cats and dogs",
            "weather",
            "",
            "   ",
            "search, and find",
            "What is v1.2 of it?",
        ] {
            assert_eq!(split(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn several_intents() {
        assert_eq!(
            split(
                "Find a flight to Rome. Book a hotel there, and send me the invoice; then create a calendar event"
            ),
            ["Find a flight to Rome", "Book a hotel there", "send me the invoice", "create a calendar event"]
        );
        assert_eq!(
            split("translate this long text and send it by mail"),
            ["translate this long text", "send it by mail"]
        );
        assert_eq!(
            split("查询北京明天的天气。给张三发送一封邮件"),
            ["查询北京明天的天气", "给张三发送一封邮件"]
        );
    }

    #[test]
    fn short_pieces_join_the_one_before() {
        assert_eq!(
            split("Find me a flight to Rome. Thanks! Book a nice hotel"),
            ["Find me a flight to Rome. Thanks", "Book a nice hotel"]
        );
    }

    #[test]
    fn clauses_are_bounded() {
        let text = "find the next thing. ".repeat(100);
        let clauses = split(&text);
        assert_eq!(clauses.len(), MOST);
        assert!(clauses[MOST - 1].len() > 1000);
    }
}
