//! `\`, `$` and backquotes: what begins where, in whatever they stand.

use super::script::{Closer, Script};
use super::{Frame, Lexer, Pending, Refusal};

impl Lexer {
    /// The character after a backslash.
    pub(super) fn after_backslash(&mut self, c: char, after_name: bool) -> Result<(), Refusal> {
        if c == '\n' && after_name {
            self.lose("after a name that is cut by a line continuation");
            return Ok(());
        }
        match self.frames.last_mut() {
            Some(Frame::Script(script)) if c != '\n' => {
                script.settle()?;
                let word = script.word();
                word.quoted = true;
                word.push(c);
            }
            Some(Frame::Double) if c != '\n' => {
                if !matches!(c, '$' | '`' | '"' | '\\') {
                    self.push_literal('\\');
                }
                self.push_literal(c);
            }
            Some(Frame::Document(document)) => document.after_backslash(c),
            _ => {}
        }
        Ok(())
    }

    /// The character after a `$`.
    pub(super) fn after_dollar(&mut self, c: char) -> Result<(), Refusal> {
        match c {
            '(' => self.pending = Pending::DollarParen,
            '{' => {
                self.mark_expansion();
                let quoted = match self.top() {
                    Frame::Script(_) => false,
                    Frame::Brace { quoted, .. } => *quoted,
                    _ => true,
                };
                self.push(Frame::Brace { quoted, begun: false });
            }
            '_' => self.begin_name(),
            letter if letter.is_ascii_alphabetic() => self.begin_name(),
            '@' | '*' | '#' | '?' | '-' | '$' | '!' | '0'..='9' => self.mark_expansion(),
            '\'' if matches!(self.top(), Frame::Script(_) | Frame::Brace { .. }) => self.lose("after $'…'"),
            '[' => self.lose("after $["),
            '\\' => self.lose("after $\\"),
            other => {
                self.push_dollar();
                return self.plain(other);
            }
        }
        Ok(())
    }

    fn begin_name(&mut self) {
        self.mark_expansion();
        self.pending = Pending::Name;
    }

    /// A `$` that is nothing but itself.
    fn push_dollar(&mut self) {
        if let Some(Frame::Document(document)) = self.frames.last_mut() {
            document.push('$');
        } else {
            self.push_literal('$');
        }
    }

    /// The character after `$(`.
    pub(super) fn after_dollar_paren(&mut self, c: char) -> Result<(), Refusal> {
        match c {
            '(' => {
                self.mark_expansion();
                self.push(Frame::Arithmetic { depth: 0, closing: false });
                Ok(())
            }
            '\\' => {
                self.lose("after $(\\");
                Ok(())
            }
            other => {
                self.mark_expansion();
                self.push(Frame::Script(Box::new(Script::new(Closer::Substitution))));
                self.plain(other)
            }
        }
    }

    pub(super) fn begin_backtick(&mut self) {
        self.mark_expansion();
        self.push(Frame::Backtick { escaped: false });
    }

    pub(super) fn in_brace(&mut self, c: char) {
        let Some(Frame::Brace { quoted, begun }) = self.frames.last_mut() else { return };
        let (quoted, first) = (*quoted, !std::mem::replace(begun, true));
        match c {
            ' ' | '\t' | '\n' | '|' if first => self.lose("after ${ with a command in it"),
            '}' if !first => {
                self.frames.pop();
            }
            '\\' => self.pending = Pending::Backslash { after_name: false },
            '$' if !first => self.pending = Pending::Dollar,
            '`' => self.begin_backtick(),
            '\'' | '"' if quoted => self.lose("after quotes inside ${…} inside quotes"),
            '\'' => self.push(Frame::Single),
            '"' => self.push(Frame::Double),
            _ => {}
        }
    }

    pub(super) fn in_arithmetic(&mut self, c: char) {
        let Some(Frame::Arithmetic { depth, closing }) = self.frames.last_mut() else { return };
        if *closing {
            if c == ')' {
                self.frames.pop();
            } else {
                self.lose("after $(( that is not closed by ))");
            }
            return;
        }
        match c {
            '(' => *depth = depth.saturating_add(1),
            ')' if *depth > 0 => *depth -= 1,
            ')' => *closing = true,
            '$' => self.pending = Pending::Dollar,
            '`' => self.begin_backtick(),
            '\'' | '"' | '\\' => self.lose("after quotes inside $((…))"),
            _ => {}
        }
    }
}
