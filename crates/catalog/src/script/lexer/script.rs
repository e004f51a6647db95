//! Commands: where their words, operators and redirections begin and end.

use super::Refusal;
use super::document::Document;
use super::programs::Program;
use super::word::Word;

/// What ends a sequence of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Closer {
    /// The end of the text.
    End,
    /// `)` of a subshell.
    Subshell,
    /// `)` of a command substitution.
    Substitution,
}

/// What the next word is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// The name of a command, an assignment before it, or a reserved word; the latter not after an assignment.
    Command { reserved: bool },
    /// An argument; whether it would be the first.
    Argument { first: bool },
    /// After `)`, `}`, `fi`, `done`, `esac`: a reserved word or an operator.
    AfterCompound,
    /// After `for`.
    LoopName,
    /// After the name of a loop: `in` or `do`.
    LoopIn,
    /// What a loop goes over.
    LoopWord,
    /// After `case`.
    CaseWord,
    /// After the word of `case`: `in`.
    CaseIn,
    /// A pattern of `case`, or `esac`; whether it would be the first of its list.
    Pattern { first: bool },
    /// Between `name(` and `)`.
    FunctionParen,
}

/// What the next word is for a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Redirection {
    None,
    Target { input: bool },
    Delimiter { strip: bool },
}

/// An operator that may get longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operator {
    None,
    Ampersand,
    Pipe,
    Semicolon,
    DoubleSemicolon,
    Less,
    DoubleLess,
    Greater,
}

/// A sequence of commands that is being read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, each with a name")]
pub(super) struct Script {
    pub(super) closer: Closer,
    pub(super) role: Role,
    pub(super) program: Program,
    pub(super) redirection: Redirection,
    /// `--` was among the arguments.
    pub(super) options_ended: bool,
    pub(super) comment: bool,
    pub(super) word: Option<Word>,
    pub(super) operator: Operator,
    pub(super) documents: Vec<Document>,
    /// Open `case`s.
    pub(super) cases: u8,
    /// Nothing has been read yet.
    pub(super) empty: bool,
    /// A value stands in the command so far.
    pub(super) command_value: bool,
    /// A value may be in what the command reads.
    pub(super) pipeline_value: bool,
    /// A value stands in the sequence so far.
    pub(super) any_value: bool,
}

impl Script {
    pub(super) fn new(closer: Closer) -> Self {
        Self {
            closer,
            role: Role::Command { reserved: true },
            program: Program::Data,
            redirection: Redirection::None,
            options_ended: false,
            comment: false,
            word: None,
            operator: Operator::None,
            documents: Vec::new(),
            cases: 0,
            empty: true,
            command_value: false,
            pipeline_value: false,
            any_value: false,
        }
    }

    /// The word that is being read, begun if need be.
    pub(super) fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    /// Something that is no character of the text stands here.
    pub(super) fn begin(&mut self) {
        self.empty = false;
    }

    pub(super) fn current_word(&self) -> Option<&Word> {
        self.word.as_ref()
    }

    pub(super) fn awaits_document(&self) -> bool {
        !self.documents.is_empty()
    }

    pub(super) fn next_document(&mut self) -> Option<Document> {
        (!self.documents.is_empty()).then(|| self.documents.remove(0))
    }

    /// An operator is as long as it gets.
    pub(super) fn settle(&mut self) -> Result<(), Refusal> {
        match std::mem::replace(&mut self.operator, Operator::None) {
            Operator::None => Ok(()),
            Operator::Ampersand | Operator::Semicolon => self.end_command(false),
            Operator::Pipe => self.end_command(true),
            Operator::DoubleSemicolon => {
                self.end_command(false)?;
                self.role = Role::Pattern { first: true };
                Ok(())
            }
            operator @ (Operator::Less | Operator::Greater) => {
                self.redirection = Redirection::Target { input: operator == Operator::Less };
                Ok(())
            }
            Operator::DoubleLess => {
                self.redirection = Redirection::Delimiter { strip: false };
                Ok(())
            }
        }
    }

    /// The command ends, its pipeline too unless `piped`.
    pub(super) fn end_command(&mut self, piped: bool) -> Result<(), Refusal> {
        let mut outcome = Ok(());
        if matches!(self.role, Role::Argument { .. })
            && let Some(name) = self.program.reads_program_from_input()
        {
            if self.pipeline_value {
                outcome = Err(Refusal::new(
                    format!("a value is in what `{name}` here reads as its program"),
                    format!("give {name} a program of its own with values as \"$MCC_PARAM_NAME\""),
                ));
            }
            self.documents
                .iter_mut()
                .filter(|document| document.open)
                .for_each(|document| document.program = true);
        }
        self.pipeline_value |= std::mem::replace(&mut self.command_value, false);
        if self.role == Role::AfterCompound {
            self.pipeline_value |= self.any_value;
        }
        if !piped {
            self.pipeline_value = false;
            self.documents.iter_mut().for_each(|document| document.open = false);
        }
        self.role = match self.role {
            Role::LoopIn => Role::LoopIn,
            _ => Role::Command { reserved: true },
        };
        self.program = Program::Data;
        self.redirection = Redirection::None;
        self.options_ended = false;
        outcome
    }

    /// The word ends.
    pub(super) fn end_word(&mut self) -> Result<(), &'static str> {
        let Some(word) = self.word.take() else { return Ok(()) };
        match std::mem::replace(&mut self.redirection, Redirection::None) {
            Redirection::None => self.take_word(&word),
            Redirection::Target { .. } => {
                if let Role::Command { reserved } = &mut self.role {
                    *reserved = false;
                }
                Ok(())
            }
            Redirection::Delimiter { strip } => {
                let sure =
                    |text: &&str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_.-+!:@%/,".contains(c));
                let Some(delimiter) = word.text().filter(sure) else {
                    return Err("after a here-document whose delimiter isn't a plain word");
                };
                self.documents.push(Document::new(delimiter, strip, word.quoted));
                Ok(())
            }
        }
    }

    /// A whole word that no redirection takes.
    fn take_word(&mut self, word: &Word) -> Result<(), &'static str> {
        match self.role {
            Role::Command { reserved } => {
                if reserved
                    && let Some(text) = word.bare_text()
                    && self.reserved_word(text)?
                {
                    return Ok(());
                }
                if word.assigned().is_some() {
                    self.role = Role::Command { reserved: false };
                    return Ok(());
                }
                self.role = Role::Argument { first: true };
                self.program = match word.text() {
                    Some("[[") => return Err("after [["),
                    Some("function") => return Err("after function, which is not POSIX"),
                    Some("select" | "coproc") => return Err("after select or coproc"),
                    Some("alias") => return Err("after an alias"),
                    Some(name) => Program::of_command(name),
                    None => Program::variable(),
                };
            }
            Role::Argument { .. } => {
                self.role = Role::Argument { first: false };
                if word.text() == Some("--") {
                    self.options_ended = true;
                }
                self.program.take_word(word);
            }
            Role::AfterCompound => {
                if !word.bare_text().map_or(Ok(false), |text| self.reserved_word(text))? {
                    return Err("after a word that follows a compound command");
                }
            }
            Role::LoopName if word.text().is_none_or(|name| !super::command::is_harmless(name)) => {
                return Err("after a loop over a variable that the shell itself uses");
            }
            Role::LoopName => self.role = Role::LoopIn,
            Role::LoopIn => match word.bare_text() {
                Some("in") => self.role = Role::LoopWord,
                Some("do") => self.role = Role::Command { reserved: true },
                _ => return Err("after a for loop without in or do"),
            },
            Role::LoopWord => {}
            Role::CaseWord => self.role = Role::CaseIn,
            Role::CaseIn if word.bare_text() == Some("in") => self.role = Role::Pattern { first: true },
            Role::CaseIn => return Err("after a case without in"),
            Role::Pattern { first: true } if word.bare_text() == Some("esac") => self.close_case()?,
            Role::Pattern { .. } => self.role = Role::Pattern { first: false },
            Role::FunctionParen => return Err("after a word in the parentheses of a function"),
        }
        Ok(())
    }

    fn close_case(&mut self) -> Result<(), &'static str> {
        self.cases = self.cases.checked_sub(1).ok_or("after an esac without case")?;
        self.role = Role::AfterCompound;
        Ok(())
    }

    /// Takes a word that is reserved where commands begin; false: it isn't.
    fn reserved_word(&mut self, text: &str) -> Result<bool, &'static str> {
        self.role = match text {
            "if" | "then" | "elif" | "else" | "while" | "until" | "do" | "{" | "!" => {
                Role::Command { reserved: true }
            }
            "fi" | "done" | "}" => Role::AfterCompound,
            "for" => Role::LoopName,
            "case" => {
                self.cases = self.cases.checked_add(1).ok_or("after cases nested this deeply")?;
                Role::CaseWord
            }
            "esac" => {
                self.close_case()?;
                Role::AfterCompound
            }
            _ => return Ok(false),
        };
        Ok(true)
    }

    /// Drops a word of digits: the descriptor of a redirection.
    pub(super) fn drop_descriptor(&mut self) {
        let is_number =
            |word: &Word| word.bare_text().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
    }
}
