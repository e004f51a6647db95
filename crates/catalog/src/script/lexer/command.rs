//! A value: where it stands, and whether it may.

use super::script::{Closer, Redirection, Role, Script};
use super::{Frame, Lexer, Place, Refusal, Shape};

/// Variables that decide what the shell or the loader runs, or how the shell splits what follows.
const POWERFUL: [&str; 13] = [
    "IFS",
    "PATH",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS1",
    "PS4",
    "PROMPT_COMMAND",
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "PYTHONSTARTUP",
];

/// Whether a value may be given to the variable `name`.
pub(super) fn is_harmless(name: &str) -> bool {
    !POWERFUL.contains(&name)
}

impl Lexer {
    /// A value where the frames say; `after_name`: a `$NAME` ends right before it.
    pub(super) fn value_here(&mut self, shape: &Shape, after_name: bool) -> Result<Place, Refusal> {
        let outcome = self.settle_and_check(shape);
        let place = self.place(shape, after_name);
        let noted = self.note_value(shape);
        outcome.and(noted).and(place)
    }

    /// Finishes what the value interrupts, and checks every frame from the innermost outwards.
    fn settle_and_check(&mut self, shape: &Shape) -> Result<(), Refusal> {
        if let Some(Frame::Script(script)) = self.frames.last_mut() {
            script.settle()?;
            script.begin();
        }
        let mut innermost_script = true;
        // The script below a here-document has gone on to its next line: the value is in no word of it.
        let mut owns_document = false;
        let depth = self.frames.len();
        for (index, frame) in self.frames.iter().enumerate().rev() {
            match frame {
                Frame::Script(_) if std::mem::replace(&mut owns_document, false) => innermost_script = false,
                Frame::Script(script) if innermost_script => {
                    script.check_value(shape).map_err(|mut refusal| {
                        let begins =
                            script.current_word().is_none_or(|word| word.prefix.is_empty() && !word.more);
                        refusal.program_text &= begins;
                        refusal
                    })?;
                    innermost_script = false;
                }
                Frame::Script(script) => {
                    if script.awaits_document() {
                        return Err(Refusal::new(
                            "a value in a substitution on the line of a here-document",
                            "assign the substitution to a variable on a line before",
                        ));
                    }
                    // A subshell is a command of its own, a substitution becomes a part of a word.
                    if !self.is_subshell(index + 1) {
                        let shape = Shape { list: false, words: false, text: None, ends_word: None };
                        script
                            .check_value(&shape)
                            .map_err(|refusal| Refusal { program_text: false, ..refusal })?;
                    }
                }
                Frame::Backtick { .. } => {
                    return Err(Refusal::new("a value inside `…`", "write $(…) instead of the backquotes"));
                }
                Frame::Brace { .. } => {
                    return Err(Refusal::new(
                        "a value inside ${…}",
                        "assign it to a variable first, or use {% if %} or the filter default",
                    ));
                }
                Frame::Arithmetic { .. } if index + 1 < depth => {
                    return Err(Refusal::new(
                        "a value inside a substitution inside $((…))",
                        "assign the substitution to a variable first",
                    ));
                }
                Frame::Double | Frame::Single | Frame::Arithmetic { .. } => {}
                Frame::Document(document) if document.program => {
                    return Err(Refusal::new(
                        "a value in a here-document that is read as a program",
                        "quote the delimiter and read the value in the program from its environment: MCC_PARAM_NAME",
                    ));
                }
                Frame::Document(document) if index + 1 < depth => {
                    owns_document = true;
                    let text = shape.text.as_deref().unwrap_or_default();
                    if shape.text.is_some() && document.has_end(text) {
                        return Err(document.ended_by_value());
                    }
                    // bash joins such lines before it looks at the quotes of the substitution.
                    if text.contains("\\\n") {
                        let reason =
                            "has a backslash at the end of a line, which some shells lose in a here-document";
                        return Err(Refusal::new(reason, ""));
                    }
                }
                Frame::Document(_) => owns_document = true,
            }
        }
        Ok(())
    }

    fn is_subshell(&self, index: usize) -> bool {
        matches!(self.frames.get(index), Some(Frame::Script(script)) if script.closer == Closer::Subshell)
    }

    fn place(&self, shape: &Shape, after_name: bool) -> Result<Place, Refusal> {
        Ok(match self.top() {
            Frame::Script(script) => {
                let first = script.current_word().is_none_or(|word| !word.begun);
                let argument =
                    matches!(script.role, Role::Argument { .. }) && script.redirection == Redirection::None;
                let alone = script.current_word().is_none() && shape.ends_word != Some(false);
                Place::Bare {
                    may_be_option: first && argument && !script.options_ended,
                    whole: alone && script.redirection == Redirection::None && script.takes_list(),
                }
            }
            Frame::Double => Place::Double { after_name, begins_word: self.begins_argument() },
            Frame::Arithmetic { closing: true, .. } => {
                return Err(Refusal::new("a value inside )) of $((…))", "write it before the first )"));
            }
            Frame::Arithmetic { .. } if after_name => {
                return Err(Refusal::new(
                    "a value right after a name in $((…))",
                    "put an operator between them",
                ));
            }
            Frame::Arithmetic { .. } => Place::Arithmetic,
            Frame::Document(document) if document.is_quoted() => Place::QuotedDocument,
            Frame::Document(document) => Place::Document { guard: after_name || document.may_end() },
            // Nothing can stand in the other two, which has been said.
            Frame::Single | Frame::Backtick { .. } | Frame::Brace { .. } => Place::Single,
        })
    }

    /// Whether a value in quotes is the first of an argument that may be an option.
    fn begins_argument(&self) -> bool {
        self.frames
            .iter()
            .rev()
            .find_map(|frame| match frame {
                Frame::Script(script) => Some(script),
                _ => None,
            })
            .is_some_and(|script| {
                matches!(script.role, Role::Argument { .. })
                    && script.redirection == Redirection::None
                    && !script.options_ended
                    && script.program.has_options()
                    && script.current_word().is_none_or(|word| word.prefix.is_empty() && !word.more)
            })
    }

    /// Goes on as the shell will after the value.
    fn note_value(&mut self, shape: &Shape) -> Result<(), Refusal> {
        let mut outcome = Ok(());
        let filled = shape.text.as_ref().is_some_and(|text| !text.is_empty());
        let mut document_is_open = None;
        let mut innermost = true;
        for frame in self.frames.iter_mut().rev() {
            match frame {
                Frame::Script(script) => {
                    script.any_value = true;
                    match document_is_open.take() {
                        Some(open) => script.pipeline_value |= open,
                        None if innermost => script.note_value(filled),
                        None => script.command_value = true,
                    }
                    innermost = false;
                }
                Frame::Document(document) => {
                    document_is_open = Some(document.open);
                    if innermost {
                        outcome = document.add_value(shape.text.as_deref());
                    }
                    innermost = false;
                }
                _ => {}
            }
        }
        outcome
    }
}

impl Lexer {
    /// The here-document that the place belongs to: its delimiter, and whether leading tabs are removed.
    pub(crate) fn document(&self) -> Option<(&str, bool)> {
        match self.top() {
            Frame::Document(document) => Some((document.delimiter(), document.strip())),
            _ => None,
        }
    }
}

impl Script {
    /// Whether a list may become several words here.
    fn takes_list(&self) -> bool {
        matches!(self.role, Role::Argument { .. } | Role::LoopWord)
    }

    fn check_value(&self, shape: &Shape) -> Result<(), Refusal> {
        if self.comment {
            return Err(Refusal::new(
                "a value in a comment",
                "leave it out, or use a comment of the template: {# … #}",
            ));
        }
        match self.redirection {
            Redirection::Delimiter { .. } => {
                return Err(Refusal::new(
                    "a value as the delimiter of a here-document",
                    "write a word of your own there",
                ));
            }
            Redirection::Target { .. } if shape.list => return Err(one_word("the target of a redirection")),
            Redirection::Target { .. } => return Ok(()),
            Redirection::None => {}
        }
        match self.role {
            Role::Command { .. } => match self.current_word().and_then(|word| word.assigned()) {
                Some(name) if !is_harmless(name) => Err(Refusal::new(
                    format!("a value for {name}, which decides what runs or how words are split"),
                    "choose between values of your own with {% if %}",
                )),
                Some(_) => Ok(()),
                None => Err(Refusal::new(
                    "a value as the name of a command",
                    "write the command's name, and choose between several with {% if %}",
                )),
            },
            Role::Argument { .. } => self.program.check_value(self.current_word(), shape),
            Role::LoopWord | Role::Pattern { .. } | Role::CaseWord if !shape.list => Ok(()),
            Role::LoopWord => Ok(()),
            Role::CaseWord => Err(one_word("the word of a case")),
            Role::Pattern { .. } => Err(one_word("a pattern of a case")),
            Role::LoopName => {
                Err(Refusal::new("a value as the name of a loop's variable", "write a name of your own"))
            }
            Role::AfterCompound | Role::LoopIn | Role::CaseIn | Role::FunctionParen => Err(Refusal::new(
                "a value where the shell wants a word of its own",
                "check that the command before it has ended: a ; or a new line",
            )),
        }
    }

    fn note_value(&mut self, filled: bool) {
        if matches!(self.redirection, Redirection::Target { input: true }) {
            self.pipeline_value = true;
        }
        if !self.comment {
            self.command_value = true;
            self.word().add_value(filled);
        }
    }
}

fn one_word(what: &str) -> Refusal {
    Refusal::new(format!("a list as {what}, which is one word"), "pick an element, or use the filter join")
}
