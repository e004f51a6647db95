//! A lexer of POSIX shell scripts that is fed a text in pieces and knows, at every point, what a value would stand in.
//!
//! It follows what dash, busybox sh and bash agree on. Where they differ, or where the text is no shell it knows, it
//! is *lost*: it keeps reading, but refuses every value from there on. The state says nothing of the way that led to
//! it, so that two ways through a template may meet again ([`super::paths`]).
//!
//! ```text
//! feed(char) ─▶ frames: Script ▸ Double ▸ Script($(…)) ▸ … ─▶ value(shape) = Ok(Place) or Err(Refusal)
//! ```

mod bare;
mod command;
mod document;
mod expansion;
mod programs;
mod script;
mod tables;
mod word;

use document::Document;
use script::{Closer, Script};

/// How a value will be written, by the place it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// A bare word, or a part of one.
    Bare {
        /// Whether the value is the first that the word has, and could make it an option.
        may_be_option: bool,
        /// Whether the value is the whole word as far as is known: a list may become several.
        whole: bool,
    },
    /// Inside "…".
    Double {
        /// A `$NAME` ends right before it: the quotes are closed and opened again in between.
        after_name: bool,
        /// Whether the word begins with the value, and could be an option.
        begins_word: bool,
    },
    /// Inside '…'.
    Single,
    /// Inside $((…)).
    Arithmetic,
    /// In a here-document whose delimiter isn't quoted.
    Document {
        /// Whether something has to keep the value apart from what stands before it on its line.
        guard: bool,
    },
    /// In a here-document whose delimiter is quoted.
    QuotedDocument,
}

/// What is known of a value before it is quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Certainly a list: several words in a bare place.
    pub(crate) list: bool,
    /// Made by the filter `words`: may be options.
    pub(crate) words: bool,
    /// The value's text, when it is known.
    pub(crate) text: Option<String>,
    /// What follows: whether a word goes on after the value.
    pub(crate) ends_word: Option<bool>,
}

/// Why a value can't stand in a place, or why the script can't be followed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Refusal {
    /// What is wrong.
    pub(crate) reason: String,
    /// How to write it instead.
    pub(crate) fix: String,
    /// Whether the value is the program text of an interpreter, so that `"$MCC_PARAM_X"` means the same.
    pub(crate) program_text: bool,
}

impl Refusal {
    fn new(reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { reason: reason.into(), fix: fix.into(), program_text: false }
    }

    fn program(reason: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { program_text: true, ..Self::new(reason, fix) }
    }
}

/// The last character, where it isn't clear yet what it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Pending {
    None,
    /// `\`; whether a `$NAME` ended right before.
    Backslash {
        after_name: bool,
    },
    /// `$`.
    Dollar,
    /// `$(`.
    DollarParen,
    /// `$NAME`, which the next letter would belong to.
    Name,
}

/// What the text is inside of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Frame {
    /// Commands: the script, `(…)` or `$(…)`.
    Script(Box<Script>),
    /// "…"
    Double,
    /// '…'
    Single,
    /// `…`
    Backtick { escaped: bool },
    /// ${…}; inside "…" or a here-document, and whether its first character has been read.
    Brace { quoted: bool, begun: bool },
    /// $((…)): open parentheses, and whether the first of the two closing ones has been read.
    Arithmetic { depth: u16, closing: bool },
    /// A here-document.
    Document(Box<Document>),
}

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 64;

/// The state of reading a script.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lexer {
    frames: Vec<Frame>,
    pending: Pending,
    /// Why nothing is certain any more.
    lost: Option<&'static str>,
}

impl Lexer {
    /// At the beginning of a script.
    pub(crate) fn new() -> Self {
        Self {
            frames: vec![Frame::Script(Box::new(Script::new(Closer::End)))],
            pending: Pending::None,
            lost: None,
        }
    }

    /// Takes one character of the script's own text.
    ///
    /// # Errors
    /// The text makes a value that stands before it unsafe; the state goes on as if it were not.
    pub(crate) fn feed(&mut self, c: char) -> Result<(), Refusal> {
        if self.lost.is_some() {
            return Ok(());
        }
        if self.frames.len() > MAX_DEPTH {
            self.lose("after quotes and substitutions nested this deeply");
            return Ok(());
        }
        if c == '\n' {
            self.check_newline();
        }
        match std::mem::replace(&mut self.pending, Pending::None) {
            Pending::Backslash { after_name } => self.after_backslash(c, after_name),
            Pending::Dollar => self.after_dollar(c),
            Pending::DollarParen => self.after_dollar_paren(c),
            Pending::Name if c == '_' || c.is_ascii_alphanumeric() => {
                self.pending = Pending::Name;
                Ok(())
            }
            Pending::Name if c == '\\' && !matches!(self.top(), Frame::Single) => {
                self.plain(c)?;
                if let Pending::Backslash { after_name } = &mut self.pending {
                    *after_name = true;
                }
                Ok(())
            }
            Pending::None | Pending::Name => self.plain(c),
        }
    }

    /// Takes a value: says how to write it here.
    ///
    /// # Errors
    /// A value can't stand here; the state goes on as if it could.
    pub(crate) fn value(&mut self, shape: &Shape) -> Result<Place, Refusal> {
        if let Some(lost) = self.lost {
            return Err(Refusal::new(
                format!("a value {lost}, where it is not certain how the shell reads it"),
                "use \"$MCC_PARAM_NAME\" there, or write that part of the script otherwise",
            ));
        }
        match std::mem::replace(&mut self.pending, Pending::None) {
            Pending::Backslash { .. } => {
                return Err(Refusal::new(
                    "a value right after a backslash",
                    "leave the backslash out: values are quoted anyway",
                ));
            }
            Pending::Dollar => {
                return Err(Refusal::new(
                    "a value right after a $",
                    "write \\$ before the value for a dollar sign",
                ));
            }
            Pending::DollarParen => self.push(Frame::Script(Box::new(Script::new(Closer::Substitution)))),
            Pending::Name => return self.value_here(shape, true),
            Pending::None => {}
        }
        self.value_here(shape, false)
    }

    /// Takes the end of the text.
    ///
    /// # Errors
    /// A quote, a substitution or a here-document is left open, or a value before the end is unsafe.
    pub(crate) fn finish(&mut self) -> Result<(), Refusal> {
        if self.lost.is_some() {
            return Ok(());
        }
        if matches!(self.pending, Pending::DollarParen) {
            return Err(open("$("));
        }
        self.pending = Pending::None;
        if let Frame::Document(document) = self.top()
            && document.ends_here()
        {
            self.feed('\n')?;
        }
        match self.top() {
            Frame::Script(script) if script.closer == Closer::End => {}
            Frame::Script(script) if script.closer == Closer::Subshell => return Err(open("(")),
            Frame::Script(_) => return Err(open("$(")),
            Frame::Double => return Err(open("\"")),
            Frame::Single => return Err(open("'")),
            Frame::Backtick { .. } => return Err(open("`")),
            Frame::Brace { .. } => return Err(open("${")),
            Frame::Arithmetic { .. } => return Err(open("$((")),
            Frame::Document(document) => {
                return Err(Refusal::new(
                    format!("the here-document <<{} has no end", document.delimiter()),
                    "write its delimiter alone on a line after it",
                ));
            }
        }
        self.feed('\n')?;
        if let Frame::Document(document) = self.top() {
            return Err(Refusal::new(
                format!("the here-document <<{} has no end", document.delimiter()),
                "write it after the line, and its delimiter alone on a line",
            ));
        }
        Ok(())
    }

    fn lose(&mut self, after: &'static str) {
        self.lost.get_or_insert(after);
    }

    fn push(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    fn top(&self) -> &Frame {
        // There is always the script itself: it is never popped.
        self.frames.last().unwrap_or(&Frame::Double)
    }

    /// Newlines where some shell might look for a pending here-document, or for the end of one, differently.
    fn check_newline(&mut self) {
        let below = self.frames.len().saturating_sub(1);
        let nested = matches!(
            self.top(),
            Frame::Script(_) | Frame::Backtick { .. } | Frame::Brace { .. } | Frame::Arithmetic { .. }
        );
        let inside_document = self.frames[..below].iter().any(|frame| matches!(frame, Frame::Document(_)));
        if inside_document {
            self.lose("after a newline inside a substitution of a here-document");
        }
        let awaited = self.frames[..below]
            .iter()
            .any(|frame| matches!(frame, Frame::Script(script) if script.awaits_document()));
        if awaited && (nested || !matches!(self.top(), Frame::Document(_)) && self.nested_script()) {
            self.lose("after a newline in a substitution on the line of a here-document");
        }
    }

    /// Whether the innermost script is a substitution inside another.
    fn nested_script(&self) -> bool {
        self.frames.iter().filter(|frame| matches!(frame, Frame::Script(_))).count() > 1
    }

    /// A character that doesn't continue an expansion.
    fn plain(&mut self, c: char) -> Result<(), Refusal> {
        match self.frames.last_mut() {
            Some(Frame::Script(_)) => self.bare(c),
            Some(Frame::Double) => {
                self.in_double(c);
                Ok(())
            }
            Some(Frame::Single) => {
                if c == '\'' {
                    self.frames.pop();
                } else {
                    self.push_literal(c);
                }
                Ok(())
            }
            Some(Frame::Backtick { escaped }) => {
                if *escaped {
                    *escaped = false;
                } else if c == '\\' {
                    *escaped = true;
                } else if c == '`' {
                    self.frames.pop();
                }
                Ok(())
            }
            Some(Frame::Brace { .. }) => {
                self.in_brace(c);
                Ok(())
            }
            Some(Frame::Arithmetic { .. }) => {
                self.in_arithmetic(c);
                Ok(())
            }
            Some(Frame::Document(_)) => self.in_document(c),
            None => Ok(()),
        }
    }

    fn in_double(&mut self, c: char) {
        match c {
            '"' => {
                self.frames.pop();
            }
            '\\' => self.pending = Pending::Backslash { after_name: false },
            '$' => self.pending = Pending::Dollar,
            '`' => self.begin_backtick(),
            other => self.push_literal(other),
        }
    }

    /// Adds a character to the text of the word that the quotes belong to.
    fn push_literal(&mut self, c: char) {
        let owner =
            self.frames.iter_mut().rev().find(|frame| !matches!(frame, Frame::Double | Frame::Single));
        if let Some(Frame::Script(script)) = owner {
            script.word().push(c);
        }
    }

    /// The word that is being read holds something that only the shell knows.
    fn mark_expansion(&mut self) {
        for frame in self.frames.iter_mut().rev() {
            match frame {
                Frame::Double
                | Frame::Single
                | Frame::Brace { .. }
                | Frame::Arithmetic { .. }
                | Frame::Backtick { .. } => {}
                Frame::Script(script) => {
                    script.word().expand();
                    break;
                }
                Frame::Document(document) => {
                    document.expand();
                    break;
                }
            }
        }
    }
}

fn open(what: &str) -> Refusal {
    Refusal::new(format!("{what} is not closed"), "close it before the end of the script")
}
