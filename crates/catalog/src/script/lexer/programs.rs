//! Programs whose arguments are programs themselves, or the name of another one.

use super::tables::{
    Found, LANGUAGES, Language, LanguageOption, NEVER, Next, ProgramOption, WRAPPERS, Wrapper, interpreter,
    perhaps_a_shell,
};
use super::word::Word;
use super::{Refusal, Shape};

/// What the arguments of a command are, as far as they have been read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Program {
    /// Data: nothing in them is run.
    Data,
    /// Data that is known not to be options either.
    Text,
    /// Of a command that isn't known: data, except after something like `sh -c` among them.
    /// `wrapped`: where the command begins isn't quite certain, so that any word may be its name.
    Other { interpreter: Option<Found>, text: bool, wrapped: bool },
    /// Run, or names that the shell evaluates: never a value.
    Never { name: &'static str, fix: &'static str, program: bool },
    /// Assignments.
    Declaration,
    /// Another command, after options of its own.
    Wrapper { wrapper: &'static Wrapper, next: Next, operands: u8 },
    /// Program text, or a file of it, then data.
    Interpreter { interpreter: Found, skip: bool, text: bool, input: bool },
    /// A program in a small language as first operand, then data.
    Language { language: &'static Language, skip: u8, text: bool, given: bool },
    /// `find`: data, until an `-exec` begins a command.
    Find { command: Option<Box<Program>>, begins: bool },
    /// `ssh`: data up to the destination, then a script for the other side.
    Remote { next: Next, text: bool },
}

impl Program {
    /// What the arguments of the command `name` are.
    pub(super) fn of_command(name: &str) -> Self {
        let base = name.rsplit('/').next().unwrap_or(name);
        if let Some(&(name, fix, program)) = NEVER.iter().find(|(never, ..)| *never == base) {
            return Self::Never { name, fix, program };
        }
        if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == base) {
            return Self::Wrapper { wrapper, next: Next::Any, operands: wrapper.operands };
        }
        if let Some(interpreter) = interpreter(base) {
            return if interpreter.reads_input {
                Self::Interpreter { interpreter, skip: false, text: false, input: false }
            } else {
                Self::Other { interpreter: Some(interpreter), text: false, wrapped: false }
            };
        }
        if let Some(language) = LANGUAGES.iter().find(|language| language.names.contains(&base)) {
            return Self::Language { language, skip: 0, text: false, given: false };
        }
        match base {
            "export" | "readonly" | "local" | "declare" | "typeset" => Self::Declaration,
            "find" => Self::Find { command: None, begins: false },
            "ssh" => Self::Remote { next: Next::Any, text: false },
            "echo" | "printf" | "test" | "[" | ":" | "true" | "false" => Self::Text,
            _ => Self::unknown(),
        }
    }

    /// Those of a command whose name isn't known, or that is like any other.
    pub(super) fn unknown() -> Self {
        Self::Other { interpreter: None, text: false, wrapped: false }
    }

    /// Those of a command whose name is an expansion.
    pub(super) fn variable() -> Self {
        Self::Other { interpreter: Some(perhaps_a_shell()), text: false, wrapped: false }
    }

    /// Whether it reads options that a value could be taken for.
    pub(super) fn has_options(&self) -> bool {
        !matches!(self, Self::Text | Self::Declaration)
    }

    /// The interpreter's name, if what it reads is its program.
    pub(super) fn reads_program_from_input(&self) -> Option<&'static str> {
        match self {
            Self::Interpreter { interpreter, text: false, .. } if interpreter.reads_input => {
                Some(interpreter.name)
            }
            // `. /dev/stdin`
            Self::Never { name: name @ ("." | "source"), .. } => Some(name),
            Self::Find { command: Some(program), .. } => program.reads_program_from_input(),
            _ => None,
        }
    }

    /// Takes an argument.
    pub(super) fn take_word(&mut self, word: &Word) {
        match self {
            Self::Data | Self::Text | Self::Never { .. } => {}
            Self::Declaration => {
                let option = word.text().filter(|word| word.starts_with('-'));
                if option.is_some_and(|option| option.contains(['i', 'n'])) {
                    *self = Self::Never {
                        name: "declare -i",
                        fix: "declare the parameter as int and assign it",
                        program: false,
                    };
                }
            }
            Self::Other { interpreter, text, wrapped } => {
                if *text {
                    *text = false;
                } else if let Some(name) = word.text() {
                    let found = self::interpreter(name.rsplit('/').next().unwrap_or(name));
                    let command = Self::of_command(name);
                    if *wrapped && !matches!(command, Self::Other { .. } | Self::Text) {
                        *self = command;
                    } else if found.is_some() {
                        *interpreter = found;
                    } else if let Some(interpreter) = interpreter {
                        *text = interpreter.option(name) == ProgramOption::Next;
                    }
                }
            }
            Self::Wrapper { .. } => self.take_wrapped(word),
            Self::Interpreter { .. } => self.take_interpreted(word),
            Self::Language { .. } => self.take_language(word),
            Self::Find { command, begins } => match (word.text(), command.as_mut()) {
                (Some(";" | "+"), Some(_)) => (*command, *begins) = (None, false),
                (name, _) if *begins => {
                    *command = Some(Box::new(name.map_or_else(Self::variable, Self::of_command)));
                    *begins = false;
                }
                (_, Some(program)) => program.take_word(word),
                (Some("-exec" | "-execdir" | "-ok" | "-okdir"), None) => *begins = true,
                _ => {}
            },
            Self::Remote { next, text } => {
                let option = word.prefix.starts_with('-');
                if std::mem::replace(next, Next::Any) != Next::Any || *text {
                } else if !option {
                    *text = true;
                } else if let Some(letter) =
                    word.text().and_then(|option| option.strip_prefix('-')).filter(|rest| rest.len() == 1)
                {
                    *next = match letter {
                        "p" | "l" | "i" | "b" | "c" | "m" | "B" => Next::Argument,
                        _ if "DeEFIJLoOPQRSwW".contains(letter) => Next::Script,
                        _ => Next::Any,
                    };
                }
            }
        }
    }

    fn take_wrapped(&mut self, word: &Word) {
        let Self::Wrapper { wrapper, next, operands } = self else { return };
        let option = word.text().unwrap_or_default();
        if std::mem::replace(next, Next::Any) != Next::Any {
            return;
        }
        if word.prefix.starts_with('-') {
            if wrapper.queries.contains(&option) {
                *self = Self::Data;
            } else if wrapper.scripts.contains(&option) {
                *next = Next::Script;
            } else if wrapper.options.contains(&option) {
                *next = Next::Argument;
            }
        } else if wrapper.assigns && word.assigned().is_some() {
            // An assignment before the command.
        } else if *operands > 0 {
            *operands -= 1;
        } else {
            *self = word.text().map_or_else(Self::variable, Self::of_command);
            if let Self::Other { wrapped, .. } = self {
                *wrapped = true;
            }
        }
    }

    #[expect(clippy::match_same_arms, reason = "the order of the cases is what they say")]
    fn take_interpreted(&mut self, word: &Word) {
        let Self::Interpreter { interpreter, skip, text, input } = self else { return };
        let known = word.text().unwrap_or_default();
        let option = word.prefix.starts_with(['-', '+']);
        if std::mem::replace(skip, false) {
            return;
        }
        if *text {
            // With `sh -c` options may still come; the first operand is the program.
            if !interpreter.operand_is_text || !option {
                *self = Self::Data;
            }
            return;
        }
        match interpreter.option(known) {
            ProgramOption::Next => *text = true,
            ProgramOption::Attached => *self = Self::Data,
            // The program comes from the input, which has to be remembered; operands are data.
            // A lone hyphen means that too, but for shells, where it ends the options.
            ProgramOption::No if known == "/dev/stdin" => *input = true,
            ProgramOption::No if known == "-" => *input |= !interpreter.operand_is_text,
            ProgramOption::No if option => {
                let cluster = !known.starts_with("--");
                *input |= interpreter.operand_is_text && cluster && known.contains('s');
                *skip = cluster
                    && known.len() > 1
                    && known.ends_with(|letter| interpreter.arguments.contains(letter));
            }
            ProgramOption::No if *input => {}
            ProgramOption::No => *self = Self::Data,
        }
    }

    fn take_language(&mut self, word: &Word) {
        let Self::Language { language, skip, text, given } = self else { return };
        if *skip > 0 {
            *skip -= 1;
        } else if std::mem::replace(text, false) {
            *given = true;
        } else if !word.prefix.starts_with('-') || word.prefix == "-" {
            // Options of the caller's, or a command of yq: the program is still to come.
            let command = matches!(word.text(), Some("eval" | "e" | "eval-all" | "ea"))
                && language.names.contains(&"yq");
            *given |= !(command || word.value && word.prefix.is_empty());
        } else {
            match language.option(word.text().unwrap_or_default()) {
                LanguageOption::Words(count) => *skip = count,
                LanguageOption::Program => *text = true,
                LanguageOption::AttachedProgram => *given = true,
                LanguageOption::Other => {}
            }
        }
    }

    /// Whether a value may stand in the argument that begins as `word`, if it has begun.
    #[expect(clippy::match_same_arms, reason = "the order of the cases is what they say")]
    pub(super) fn check_value(&self, word: Option<&Word>, shape: &Shape) -> Result<(), Refusal> {
        match self {
            Self::Data | Self::Text => Ok(()),
            Self::Other { interpreter: Some(interpreter), text, .. }
                if *text || interpreter.attached(word) =>
            {
                Err(interpreter.refusal())
            }
            Self::Other { .. } => Ok(()),
            Self::Never { name, fix, program } => {
                let reason = format!("a value after `{name}`, which runs or evaluates it");
                Err(Refusal { reason, fix: (*fix).to_owned(), program_text: *program })
            }
            Self::Declaration => {
                if word.and_then(Word::assigned).is_some_and(super::command::is_harmless) {
                    Ok(())
                } else {
                    Err(Refusal::new(
                        "a value as the name of a variable",
                        "write NAME={{ … }} with a name of your own",
                    ))
                }
            }
            Self::Wrapper { wrapper, next, operands } => wrapper.check_value(*next, *operands, word, shape),
            Self::Interpreter { interpreter, text, input, .. } => {
                interpreter.check_value(*text, *input, word, shape)
            }
            Self::Language { language, skip, text, given } => {
                language.check_value(*skip, *text, *given, word, shape)
            }
            Self::Find { begins: true, .. } => {
                Err(Refusal::new("a value as the command of find -exec", "write the command's name"))
            }
            Self::Find { command: Some(program), .. } => program.check_value(word, shape),
            Self::Find { .. } => Ok(()),
            Self::Remote { text: true, .. } => Err(Refusal::new(
                "a value in the command of ssh, which the other side's shell reads again",
                "send it on the input of the command, as in printf %s {{ … }} | ssh host 'cat > file'",
            )),
            Self::Remote { next: Next::Script, .. } => Err(Refusal::new(
                "a value for an option of ssh that can run commands",
                "write the option yourself",
            )),
            Self::Remote { next: Next::Argument, .. } if !shape.list => Ok(()),
            Self::Remote { .. } if shape.list => {
                Err(Refusal::new("a list as the destination of ssh", "pick an element"))
            }
            Self::Remote { .. } => match word {
                Some(word) if word.prefix.is_empty() || word.prefix.starts_with('-') => Err(Refusal::new(
                    "a value in an option of ssh, or where it could become one",
                    "write the destination without quotes, or user@ before it",
                )),
                _ => Ok(()),
            },
        }
    }
}
