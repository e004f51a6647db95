//! The words of a simple shell command, with the templates and variables in them. Anything that isn't one simple
//! command (pipes, redirections, substitutions, conditionals around words) has no answer here.

use super::environment::{self, Variable};
use super::template::{Segment, segments};

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Literal text.
    Text(String),
    /// `{{ … }}`: what stands inside.
    Value(String),
    /// `{% … %}`, whole.
    Control(String),
    /// An environment variable.
    Variable(Variable),
}

/// A word.
pub type Word = Vec<Piece>;

/// The words of `command`; none if it is anything but one simple command.
pub fn split(command: &str) -> Option<Vec<Word>> {
    let mut reader = Reader::default();
    let mut rest = command;
    while !rest.is_empty() {
        rest = reader.step(rest)?;
    }
    if reader.quote.is_some() {
        return None;
    }
    reader.end_word();
    reader.words.iter().all(is_balanced).then_some(reader.words)
}

/// `text` as one word, as if it stood in single quotes and had none in it.
pub fn quoted(text: &str) -> Word {
    let mut word = Word::new();
    for segment in segments(text) {
        match segment {
            Segment::Value(inner) => word.push(Piece::Value(inner.to_owned())),
            Segment::Control(tag) => word.push(Piece::Control(tag.to_owned())),
            Segment::Text(text) => literal(text, &mut word),
        }
    }
    word
}

fn literal(mut text: &str, word: &mut Word) {
    while let Some(at) = text.find('$') {
        push_text(word, &text[..at]);
        let rest = &text[at..];
        let variable = environment::variable(rest).filter(|found| environment::is_environment(&found.name));
        let length =
            variable.as_ref().map_or(if rest.starts_with("$$") { 2 } else { 1 }, |found| found.length);
        match variable {
            Some(variable) => word.push(Piece::Variable(variable)),
            None => push_text(word, "$"),
        }
        text = &rest[length..];
    }
    push_text(word, text);
}

fn push_text(word: &mut Word, text: &str) {
    match word.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(last)) => last.push_str(text),
        _ => word.push(Piece::Text(text.to_owned())),
    }
}

#[derive(Default)]
struct Reader {
    words: Vec<Word>,
    word: Word,
    started: bool,
    quote: Option<char>,
}

impl Reader {
    fn text(&mut self, text: &str) {
        self.started = true;
        push_text(&mut self.word, text);
    }

    fn end_word(&mut self) {
        if std::mem::take(&mut self.started) {
            self.words.push(std::mem::take(&mut self.word));
        }
    }

    /// Takes one element and returns what follows it.
    fn step<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        if rest.starts_with("{{") || rest.starts_with("{%") || rest.starts_with("{#") {
            return self.tag(rest);
        }
        let c = rest.chars().next()?;
        let after = &rest[c.len_utf8()..];
        match (self.quote, c) {
            (_, '$') => self.dollar(rest),
            (Some(quote), c) if quote == c => {
                self.quote = None;
                Some(after)
            }
            (Some('\''), _) => {
                self.text(&rest[..c.len_utf8()]);
                Some(after)
            }
            (Some(_), '\\') => {
                let next = after.chars().next()?;
                if !matches!(next, '$' | '`' | '"' | '\\' | '\n') {
                    self.text("\\");
                }
                if next != '\n' {
                    self.text(&after[..next.len_utf8()]);
                }
                Some(&after[next.len_utf8()..])
            }
            (_, '`') => None,
            (Some(_), _) => {
                self.text(&rest[..c.len_utf8()]);
                Some(after)
            }
            (None, '\'' | '"') => {
                self.quote = Some(c);
                self.started = true;
                Some(after)
            }
            (None, '\\') => {
                let next = after.chars().next()?;
                if next != '\n' {
                    self.text(&after[..next.len_utf8()]);
                }
                Some(&after[next.len_utf8()..])
            }
            (None, ' ' | '\t' | '\n') => {
                self.end_word();
                Some(after)
            }
            (None, '|' | '&' | ';' | '<' | '>' | '(' | ')') => None,
            (None, '#' | '~') if !self.started => None,
            (None, _) => {
                self.text(&rest[..c.len_utf8()]);
                Some(after)
            }
        }
    }

    fn tag<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let Some(segment) = segments(rest).into_iter().next() else { return Some("") };
        self.started = true;
        match segment {
            Segment::Value(inner) => self.word.push(Piece::Value(inner.to_owned())),
            Segment::Control(whole) if whole.starts_with("{#") => {}
            Segment::Control(whole) => self.word.push(Piece::Control(whole.to_owned())),
            Segment::Text(_) => return None,
        }
        let close = if matches!(segment, Segment::Value(_)) {
            "}}"
        } else if rest.starts_with("{%") {
            "%}"
        } else {
            "#}"
        };
        rest[2..].find(close).map(|at| &rest[2 + at + 2..])
    }

    fn dollar<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        if let Some(after) = rest.strip_prefix("$$") {
            self.text("$");
            return Some(after);
        }
        match environment::variable(rest) {
            Some(variable) if self.quote != Some('\'') || environment::is_environment(&variable.name) => {
                let after = &rest[variable.length..];
                self.started = true;
                self.word.push(Piece::Variable(variable));
                Some(after)
            }
            _ if self.quote == Some('\'') => {
                self.text("$");
                Some(&rest[1..])
            }
            _ => None,
        }
    }
}

/// Whether the conditionals of a word begin and end in it.
fn is_balanced(word: &Word) -> bool {
    let mut depth = 0_i32;
    for piece in word {
        if let Piece::Control(tag) = piece {
            let name = tag.trim_matches(['{', '}', '%', '-', '+', ' ']).split_whitespace().next();
            match name.unwrap_or_default() {
                "if" | "for" => depth += 1,
                "endif" | "endfor" => depth -= 1,
                "else" | "elif" if depth > 0 => {}
                _ => return false,
            }
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    #[test]
    fn words() {
        let words = split("-H \"A: $KEY\" 'u?q={{ q }}'x a\\ b").unwrap();
        let key = Variable { name: "KEY".to_owned(), default: None, length: 4 };
        assert_eq!(
            words,
            [
                vec![text("-H")],
                vec![text("A: "), Piece::Variable(key)],
                vec![text("u?q="), Piece::Value("q".to_owned()), text("x")],
                vec![text("a b")],
            ]
        );
    }

    #[test]
    fn anything_else() {
        for command in ["a | b", "a; b", "$(a)", "\"`a`\"", "a > b", "'open", "{% if x %}-d 'a'{% endif %}-e"]
        {
            let simple = split(command);
            assert!(simple.is_none() || command.starts_with("{%"), "{command}: {simple:?}");
        }
        assert!(split("{% if x %}-d 'a b'{% endif %}").is_none_or(|words| words.len() == 1));
        assert!(split("{% if x %}-d 'a'{% endif %} {% if y %}-e f{% endif %}").is_none());
    }
}
