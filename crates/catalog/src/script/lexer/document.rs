//! Here-documents.

use super::{Frame, Lexer, Pending, Refusal};

/// A here-document that is awaited or being read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each with a name")]
pub(super) struct Document {
    delimiter: String,
    /// `<<-`: leading tabs are removed.
    strip: bool,
    /// The delimiter is quoted: nothing is expanded.
    quoted: bool,
    /// Its command reads it as a program.
    pub(super) program: bool,
    /// Its pipeline goes on: a later command of it may make it a program.
    pub(super) open: bool,
    /// The line so far, as long as it may still be the delimiter.
    line: String,
    /// The line can't be the delimiter.
    other: bool,
    /// A `\` and newline came before: shells differ about whether the line may be the delimiter.
    joined: bool,
    /// A value stands in the line.
    value: bool,
}

impl Document {
    pub(super) fn new(delimiter: &str, strip: bool, quoted: bool) -> Self {
        Self {
            delimiter: delimiter.to_owned(),
            strip,
            quoted,
            program: false,
            open: true,
            line: String::new(),
            other: false,
            joined: false,
            value: false,
        }
    }

    pub(super) fn delimiter(&self) -> &str {
        &self.delimiter
    }

    pub(super) fn strip(&self) -> bool {
        self.strip
    }

    pub(super) fn is_quoted(&self) -> bool {
        self.quoted
    }

    /// Whether the line that is being read would end the document.
    pub(super) fn ends_here(&self) -> bool {
        !self.other && !self.joined && self.line == self.delimiter
    }

    /// Whether the line that is being read is nothing but a beginning of the delimiter: what follows could complete it.
    pub(super) fn may_end(&self) -> bool {
        !self.other
    }

    pub(super) fn push(&mut self, c: char) {
        if self.other || (self.strip && self.line.is_empty() && c == '\t') {
            return;
        }
        self.line.push(c);
        if !self.delimiter.starts_with(&self.line) {
            self.line.clear();
            self.other = true;
        }
    }

    pub(super) fn expand(&mut self) {
        self.line.clear();
        self.other = true;
    }

    pub(super) fn new_line(&mut self) {
        self.line.clear();
        self.other = false;
        self.joined = false;
        self.value = false;
    }

    /// Takes a value's text; none when it isn't known yet.
    ///
    /// # Errors
    /// Nothing is expanded in the document, and a line of the value would end it or lose its tabs.
    pub(super) fn add_value(&mut self, text: Option<&str>) -> Result<(), Refusal> {
        self.value = true;
        let Some(text) = text.filter(|_| self.quoted) else {
            self.expand();
            return Ok(());
        };
        let mut at_start = !self.other && self.line.is_empty();
        for c in text.chars() {
            if at_start && self.strip && c == '\t' {
                return Err(Refusal::new("has a line that begins with a tab, which <<- removes", ""));
            }
            at_start = c == '\n';
            if at_start {
                if self.ends_here() {
                    return Err(self.ended_by_value());
                }
                self.new_line();
                self.value = true;
            } else {
                self.check_byte(c)?;
                self.push(c);
            }
        }
        Ok(())
    }

    /// Refuses a character that dash (0.5.12) would lose a byte of: it reads a line that begins as the delimiter does
    /// again from its second byte, but one byte too few if what doesn't fit isn't ASCII.
    fn check_byte(&self, c: char) -> Result<(), Refusal> {
        if self.value && !self.other && !self.line.is_empty() && !c.is_ascii() {
            let reason = format!(
                "has a line that begins as {} does and goes on with {c:?}, which some shells lose in a here-document",
                self.delimiter
            );
            return Err(Refusal::new(reason, ""));
        }
        Ok(())
    }

    /// Whether a line of `text` would end the document.
    pub(super) fn has_end(&self, text: &str) -> bool {
        text.split('\n')
            .any(|line| if self.strip { line.trim_start_matches('\t') } else { line } == self.delimiter)
    }

    pub(super) fn ended_by_value(&self) -> Refusal {
        Refusal::new(
            format!("has a line {} that would end the here-document it is written to", self.delimiter),
            "",
        )
    }

    /// The character after a backslash, where backslashes count.
    pub(super) fn after_backslash(&mut self, c: char) {
        if c == '\n' {
            self.new_line();
            self.joined = true;
        } else {
            self.expand();
        }
    }
}

impl Lexer {
    pub(super) fn in_document(&mut self, c: char) -> Result<(), Refusal> {
        let Some(Frame::Document(document)) = self.frames.last_mut() else { return Ok(()) };
        let mut outcome = Ok(());
        match c {
            '\n' if document.joined && !document.other && document.line == document.delimiter => {
                self.lose("after a here-document with a line continuation before its end");
            }
            '\n' if document.ends_here() => {
                if document.value {
                    outcome = Err(document.ended_by_value());
                }
                self.frames.pop();
                self.begin_document();
            }
            '\n' => document.new_line(),
            '\\' if !document.quoted => self.pending = Pending::Backslash { after_name: false },
            '$' if !document.quoted => self.pending = Pending::Dollar,
            '`' if !document.quoted => self.begin_backtick(),
            other => {
                if document.quoted {
                    outcome = document.check_byte(other);
                }
                document.push(other);
            }
        }
        outcome
    }

    /// Begins the next here-document that the innermost script awaits, if there is one.
    pub(super) fn begin_document(&mut self) {
        if let Some(Frame::Script(script)) = self.frames.last_mut()
            && let Some(document) = script.next_document()
        {
            self.push(Frame::Document(Box::new(document)));
        }
    }
}
