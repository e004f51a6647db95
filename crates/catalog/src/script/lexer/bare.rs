//! Characters outside quotes.

use super::script::{Closer, Operator, Redirection, Role, Script};
use super::word::Word;
use super::{Frame, Lexer, Pending, Refusal};

fn is_function_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

impl Lexer {
    /// A character outside quotes.
    pub(super) fn bare(&mut self, c: char) -> Result<(), Refusal> {
        let Some(Frame::Script(script)) = self.frames.last_mut() else { return Ok(()) };
        let after_open_paren =
            std::mem::replace(&mut script.empty, false) && script.closer == Closer::Subshell;
        if script.comment {
            if c != '\n' {
                return Ok(());
            }
            script.comment = false;
        }
        if script.operator != Operator::None {
            if c == '\\' {
                self.pending = Pending::Backslash { after_name: false };
                return Ok(());
            }
            match script.grow_operator(c) {
                Growth::Taken => return Ok(()),
                Growth::CommandEnds => return script.end_command(false),
                Growth::Lost(after) => {
                    self.lose(after);
                    return Ok(());
                }
                Growth::Complete => script.settle()?,
            }
        }
        match c {
            ' ' | '\t' => {
                self.end_word();
                Ok(())
            }
            '\n' => self.newline(),
            ';' | '&' | '|' | '<' | '>' => {
                self.begin_operator(c);
                Ok(())
            }
            '(' if after_open_paren => {
                self.lose("after ((");
                Ok(())
            }
            '(' => {
                self.open_paren();
                Ok(())
            }
            ')' => self.close_paren(),
            _ => {
                self.word_character(c);
                Ok(())
            }
        }
    }

    /// A character of a word, or one that begins a quote, an expansion or a comment.
    fn word_character(&mut self, c: char) {
        let Some(Frame::Script(script)) = self.frames.last_mut() else { return };
        match c {
            '#' if script.word.is_none() => script.comment = true,
            '\\' => self.pending = Pending::Backslash { after_name: false },
            '\'' | '"' => {
                script.word().quoted = true;
                self.push(if c == '"' { Frame::Double } else { Frame::Single });
            }
            '$' => {
                script.word();
                self.pending = Pending::Dollar;
            }
            '`' => self.begin_backtick(),
            '*' | '?' => {
                script.word().push(c);
                script.word().expand();
            }
            other => script.word().push(other),
        }
    }

    fn end_word(&mut self) {
        if let Some(Frame::Script(script)) = self.frames.last_mut()
            && let Err(lost) = script.end_word()
        {
            self.lose(lost);
        }
    }

    fn newline(&mut self) -> Result<(), Refusal> {
        self.end_word();
        let Some(Frame::Script(script)) = self.frames.last_mut() else { return Ok(()) };
        let outcome = match script.role {
            // A command with nothing of it yet: an empty line, or an operator at its end, where the pipeline goes on.
            Role::Command { reserved: true }
            | Role::LoopIn
            | Role::CaseWord
            | Role::CaseIn
            | Role::Pattern { .. }
            | Role::FunctionParen
            | Role::LoopName => Ok(()),
            _ => script.end_command(false),
        };
        if self.lost.is_none() {
            self.begin_document();
        }
        outcome
    }

    fn begin_operator(&mut self, c: char) {
        if matches!(c, '<' | '>')
            && let Some(Frame::Script(script)) = self.frames.last_mut()
        {
            script.drop_descriptor();
        }
        self.end_word();
        let Some(Frame::Script(script)) = self.frames.last_mut() else { return };
        script.operator = match c {
            '|' if matches!(script.role, Role::Pattern { .. }) => {
                script.role = Role::Pattern { first: false };
                return;
            }
            ';' => Operator::Semicolon,
            '&' => Operator::Ampersand,
            '|' => Operator::Pipe,
            '<' => Operator::Less,
            _ => Operator::Greater,
        };
        if matches!(
            script.role,
            Role::CaseWord | Role::CaseIn | Role::Pattern { .. } | Role::FunctionParen | Role::LoopName
        ) {
            self.lose("after an operator where a case, a loop or a function wants a word");
        }
    }

    fn open_paren(&mut self) {
        let Some(Frame::Script(script)) = self.frames.last_mut() else { return };
        let name = script.word.as_ref().and_then(Word::bare_text).is_some_and(is_function_name);
        match script.role {
            _ if script.redirection != Redirection::None => {
                self.lose("after ( where a redirection wants a word");
            }
            Role::Command { reserved: true } if script.word.is_none() => {
                let value = script.pipeline_value;
                let mut subshell = Script::new(Closer::Subshell);
                subshell.pipeline_value = value;
                self.push(Frame::Script(Box::new(subshell)));
            }
            Role::Command { reserved: true } if name => {
                script.word = None;
                script.role = Role::FunctionParen;
            }
            Role::Argument { first: true } if script.word.is_none() => script.role = Role::FunctionParen,
            Role::Pattern { first: true } if script.word.is_none() => {
                script.role = Role::Pattern { first: false }
            }
            _ => self.lose("after a ( inside a command"),
        }
    }

    fn close_paren(&mut self) -> Result<(), Refusal> {
        self.end_word();
        let Some(Frame::Script(script)) = self.frames.last_mut() else { return Ok(()) };
        match script.role {
            Role::Pattern { .. } | Role::FunctionParen => {
                script.role = Role::Command { reserved: true };
                return Ok(());
            }
            _ => {}
        }
        if script.closer == Closer::End || script.cases > 0 || script.awaits_document() {
            self.lose("after a ) that closes nothing");
            return Ok(());
        }
        let outcome = script.end_command(false);
        let (closer, value) = (script.closer, script.any_value);
        self.frames.pop();
        if let Some(parent) = self.frames.iter_mut().rev().find_map(|frame| match frame {
            Frame::Script(script) => Some(script),
            _ => None,
        }) {
            parent.any_value |= value;
            parent.pipeline_value |= value;
            if closer == Closer::Subshell {
                parent.role = Role::AfterCompound;
            }
        }
        outcome
    }
}

/// What a character does to the operator before it.
enum Growth {
    /// It belongs to it.
    Taken,
    /// It completes `&&` or `||`.
    CommandEnds,
    /// It doesn't belong to it.
    Complete,
    /// It makes something that isn't followed.
    Lost(&'static str),
}

impl Script {
    fn grow_operator(&mut self, c: char) -> Growth {
        let operator = std::mem::replace(&mut self.operator, Operator::None);
        match (operator, c) {
            (Operator::Semicolon, ';' | '&') if self.cases > 0 => self.operator = Operator::DoubleSemicolon,
            (Operator::Semicolon, ';' | '&') => return Growth::Lost("after ;; outside of a case"),
            (Operator::DoubleSemicolon, '&') => self.operator = Operator::DoubleSemicolon,
            (Operator::Ampersand, '&') | (Operator::Pipe, '|') => return Growth::CommandEnds,
            (Operator::Ampersand, '>') => return Growth::Lost("after &>"),
            (Operator::Pipe, '&') => return Growth::Lost("after |&"),
            (Operator::Less, '<') => self.operator = Operator::DoubleLess,
            (Operator::Less | Operator::Greater, '(') => return Growth::Lost("after a process substitution"),
            (Operator::Less, '&' | '>') | (Operator::DoubleLess, '<') => {
                self.redirection = Redirection::Target { input: true };
            }
            (Operator::Greater, '>' | '&' | '|') => self.redirection = Redirection::Target { input: false },
            (Operator::DoubleLess, '-') => self.redirection = Redirection::Delimiter { strip: true },
            _ => {
                self.operator = operator;
                return Growth::Complete;
            }
        }
        Growth::Taken
    }
}
