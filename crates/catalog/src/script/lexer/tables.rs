//! Known programs and their options, as far as they decide what is a program and what is data.

use super::word::Word;
use super::{Refusal, Shape};

/// What the next word of a wrapper is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Next {
    /// An option, an operand or the command.
    Any,
    /// The argument of an option.
    Argument,
    /// A script for a shell.
    Script,
}

/// A program that runs another one with its operands.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Options that take the next word.
    pub(super) options: &'static [&'static str],
    /// Options that take the next word as a script.
    pub(super) scripts: &'static [&'static str],
    /// Options after which the words are data.
    pub(super) queries: &'static [&'static str],
    /// Operands before the command.
    pub(super) operands: u8,
    /// Takes NAME=value before the command.
    pub(super) assigns: bool,
}

const fn wrapper(name: &'static str, options: &'static [&'static str]) -> Wrapper {
    Wrapper { name, options, scripts: &[], queries: &[], operands: 0, assigns: false }
}

pub(super) static WRAPPERS: [Wrapper; 37] = [
    Wrapper { queries: &["-v", "-V"], ..wrapper("command", &[]) },
    wrapper("builtin", &[]),
    wrapper("exec", &["-a"]),
    wrapper("busybox", &[]),
    wrapper("nohup", &[]),
    wrapper("setsid", &[]),
    wrapper("catchsegv", &[]),
    wrapper("time", &["-f", "-o"]),
    wrapper("nice", &["-n"]),
    wrapper("ionice", &["-c", "-n"]),
    wrapper("stdbuf", &["-i", "-o", "-e"]),
    wrapper("unbuffer", &[]),
    wrapper("strace", &["-o", "-e", "-s", "-p"]),
    wrapper("setpriv", &[]),
    wrapper("unshare", &[]),
    wrapper("nsenter", &["-t"]),
    wrapper("doas", &["-u", "-C"]),
    Wrapper { operands: 1, ..wrapper("chroot", &[]) },
    Wrapper { operands: 1, ..wrapper("taskset", &[]) },
    Wrapper { operands: 1, ..wrapper("chrt", &[]) },
    Wrapper { operands: 1, ..wrapper("timeout", &["-k", "-s"]) },
    Wrapper { operands: 1, scripts: &["-c", "--command"], ..wrapper("flock", &["-w", "-E"]) },
    Wrapper { scripts: &["-S"], assigns: true, ..wrapper("env", &["-u", "-C"]) },
    Wrapper {
        assigns: true,
        ..wrapper("sudo", &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "-r", "-t", "-U"])
    },
    Wrapper { operands: 1, ..wrapper("gosu", &[]) },
    Wrapper { operands: 1, ..wrapper("su-exec", &[]) },
    wrapper("chronic", &[]),
    wrapper("dumb-init", &[]),
    wrapper("tini", &[]),
    wrapper("eatmydata", &[]),
    wrapper("fakeroot", &[]),
    wrapper("proxychains4", &["-f"]),
    wrapper("torsocks", &[]),
    wrapper("rlwrap", &[]),
    wrapper("sshpass", &["-p", "-f", "-d", "-P"]),
    wrapper("ltrace", &["-o", "-e"]),
    wrapper("xargs", &["-n", "-P", "-I", "-L", "-s", "-d", "-E", "-a"]),
];

/// A program that runs text, a file or its input.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Interpreter {
    names: &'static [&'static str],
    /// Letters of options that take program text.
    letters: &'static str,
    /// Long options that take program text.
    long: &'static [&'static str],
    /// Letters of options that take another word.
    pub(super) arguments: &'static str,
    /// Program text is the first operand, however many options come between.
    pub(super) operand_is_text: bool,
    /// Without operands it runs what it reads.
    pub(super) reads_input: bool,
}

static SHELL: Interpreter = Interpreter {
    names: &["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "yash", "fish", "csh", "tcsh"],
    letters: "c",
    long: &["--command"],
    arguments: "oO",
    operand_is_text: true,
    reads_input: true,
};

const fn language(
    names: &'static [&'static str],
    letters: &'static str,
    long: &'static [&'static str],
) -> Interpreter {
    Interpreter { names, letters, long, arguments: "", operand_is_text: false, reads_input: true }
}

static INTERPRETERS: [Interpreter; 9] = [
    Interpreter { arguments: "WX", ..language(&["python", "python2", "python3", "pypy", "pypy3"], "c", &[]) },
    Interpreter { arguments: "I", ..language(&["perl"], "eE", &[]) },
    Interpreter { arguments: "rC", ..language(&["node", "nodejs", "bun"], "ep", &["--eval", "--print"]) },
    Interpreter { arguments: "rCI", ..language(&["ruby"], "e", &[]) },
    Interpreter { arguments: "dcz", ..language(&["php"], "rBRE", &["--run", "--process-code"]) },
    language(
        &["lua", "luajit", "tclsh", "osascript", "Rscript", "R", "julia", "groovy", "elixir", "deno"],
        "e",
        &["--eval", "eval"],
    ),
    language(&["pwsh", "powershell"], "cC", &["-Command", "-command"]),
    Interpreter {
        reads_input: false,
        ..language(&["su", "runuser"], "c", &["--command", "--session-command"])
    },
    Interpreter { reads_input: false, ..language(&["script"], "c", &["--command"]) },
];

/// A program whose first operand is a program in a language of its own.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Language {
    pub(super) names: &'static [&'static str],
    /// Letters of options that take the program: it is no operand then.
    text: &'static str,
    /// Letters of options that take a file of it: it is no operand then.
    files: &'static str,
    /// Letters of options that take one more word.
    arguments: &'static str,
    /// Long options that take the program.
    long_text: &'static [&'static str],
    /// Long options that take a file of it.
    long_files: &'static [&'static str],
    /// Long options that take more words, and how many.
    long_arguments: &'static [(&'static str, u8)],
    /// An option string of the caller's may stand before the program: its options run nothing.
    harmless_options: bool,
    /// How to give it a value.
    fix: &'static str,
}

pub(super) static LANGUAGES: [Language; 3] = [
    Language {
        names: &["jq", "gojq", "jaq", "yq", "xq", "tomlq"],
        text: "",
        files: "f",
        arguments: "L",
        long_text: &[],
        long_files: &["--from-file"],
        long_arguments: &[
            ("--arg", 2),
            ("--argjson", 2),
            ("--slurpfile", 2),
            ("--rawfile", 2),
            ("--argfile", 2),
            ("--indent", 1),
            ("--library-path", 1),
        ],
        harmless_options: true,
        fix: "give it as --arg name {{ … }} and write $name in the program, or env.MCC_PARAM_NAME",
    },
    Language {
        names: &["awk", "gawk", "mawk", "nawk", "original-awk"],
        text: "e",
        files: "fE",
        arguments: "vFilo",
        long_text: &["--source"],
        long_files: &["--file", "--exec"],
        long_arguments: &[("--assign", 1), ("--field-separator", 1), ("--include", 1), ("--load", 1)],
        harmless_options: false,
        fix: "write ENVIRON[\"MCC_PARAM_NAME\"] in the program",
    },
    Language {
        names: &["sed", "gsed"],
        text: "e",
        files: "f",
        arguments: "l",
        long_text: &["--expression"],
        long_files: &["--file"],
        long_arguments: &[("--line-length", 1)],
        harmless_options: false,
        fix: "use awk with ENVIRON[\"MCC_PARAM_NAME\"], which takes any text",
    },
];

const EVALUATED: &str = "write \"$MCC_PARAM_NAME\" if the caller's text is meant to be run";

/// Commands that run their arguments, or take names that some shell evaluates.
pub(super) static NEVER: [(&str, &str, bool); 20] = [
    ("eval", EVALUATED, true),
    ("trap", EVALUATED, true),
    (".", "name the file yourself", false),
    ("source", "name the file yourself", false),
    ("let", "use $((…)) with an int", false),
    ("alias", "use a function", false),
    ("unalias", "name the alias yourself", false),
    ("unset", "name the variable yourself", false),
    ("read", "name the variable yourself", false),
    ("mapfile", "name the variable yourself", false),
    ("readarray", "name the variable yourself", false),
    ("getopts", "name the variable yourself", false),
    ("hash", "name the command yourself", false),
    ("complete", EVALUATED, false),
    ("compgen", EVALUATED, false),
    ("fc", EVALUATED, false),
    ("parallel", "use xargs, which runs no shell", false),
    ("watch", "use a loop with sleep", false),
    ("entr", "name the command yourself", false),
    ("crontab", "name the file yourself", false),
];

/// A command whose name only the shell knows: it may be a shell.
static UNKNOWN: Interpreter = Interpreter {
    names: &["a command whose name is a variable"],
    letters: "c",
    long: &[],
    arguments: "",
    operand_is_text: false,
    reads_input: false,
};

/// What a command with an unknown name may be.
pub(super) fn perhaps_a_shell() -> Found {
    Found { interpreter: &UNKNOWN, name: UNKNOWN.names[0] }
}

/// The interpreter that is called `name`.
pub(super) fn interpreter(name: &str) -> Option<Found> {
    let versionless = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    std::iter::once(&SHELL).chain(&INTERPRETERS).find_map(|interpreter| {
        let name = interpreter.names.iter().find(|known| **known == name || **known == versionless)?;
        Some(Found { interpreter, name })
    })
}

/// An interpreter under one of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Found {
    interpreter: &'static Interpreter,
    pub(super) name: &'static str,
}

impl std::ops::Deref for Found {
    type Target = Interpreter;

    fn deref(&self) -> &Interpreter {
        self.interpreter
    }
}

/// What an option says of an interpreter's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramOption {
    /// Nothing.
    No,
    /// It is the next word, or the first operand.
    Next,
    /// It is part of the option.
    Attached,
}

impl Interpreter {
    pub(super) fn option(&self, word: &str) -> ProgramOption {
        if self.long.contains(&word) {
            return ProgramOption::Next;
        }
        let Some(cluster) = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-')) else {
            let attached = self
                .long
                .iter()
                .any(|long| word.strip_prefix(long).is_some_and(|rest| rest.starts_with('=')));
            return if attached { ProgramOption::Attached } else { ProgramOption::No };
        };
        match cluster.find(|letter| self.letters.contains(letter) || self.arguments.contains(letter)) {
            Some(_) if self.operand_is_text && cluster.contains('c') => ProgramOption::Next,
            Some(at) if cluster[at..].chars().all(|letter| self.letters.contains(letter)) => {
                ProgramOption::Next
            }
            Some(at) if cluster[at..].starts_with(|letter| self.letters.contains(letter)) => {
                ProgramOption::Attached
            }
            _ => ProgramOption::No,
        }
    }

    /// Whether a value would continue program text that is part of an option.
    pub(super) fn attached(&self, word: Option<&Word>) -> bool {
        word.is_some_and(|word| {
            word.prefix.starts_with('-') && self.option(&word.prefix) != ProgramOption::No
        })
    }
}

impl Found {
    pub(super) fn refusal(&self) -> Refusal {
        let name = self.name;
        Refusal::program(
            format!("a value in the program text of `{name}`"),
            if self.operand_is_text {
                "keep the program in '…' and read the value from the environment, as \"$MCC_PARAM_NAME\""
            } else {
                "keep the program in '…' and read the value from the environment: MCC_PARAM_NAME"
            },
        )
    }

    pub(super) fn check_value(
        &self,
        text: bool,
        input: bool,
        word: Option<&Word>,
        shape: &Shape,
    ) -> Result<(), Refusal> {
        if text || self.attached(word) {
            return Err(self.refusal());
        }
        let option = word.is_some_and(|word| word.prefix.starts_with(['-', '+']));
        if input && !option && !shape.words {
            return Ok(());
        }
        let name = self.name;
        if option || shape.list {
            return Err(Refusal::new(format!("a value in the options of `{name}`"), "write them yourself"));
        }
        Err(Refusal::program(
            format!("a value as the file that `{name}` runs"),
            "write the file's name, and give values after it",
        ))
    }
}

impl Wrapper {
    pub(super) fn check_value(
        &self,
        next: Next,
        operands: u8,
        word: Option<&Word>,
        shape: &Shape,
    ) -> Result<(), Refusal> {
        let name = self.name;
        if next == Next::Script {
            return Err(Refusal::program(
                format!("a value in the script that `{name}` runs"),
                "keep the script in '…' and write \"$MCC_PARAM_NAME\" in it",
            ));
        }
        if shape.list && (next == Next::Argument || operands > 0 || word.is_none()) {
            return Err(Refusal::new(
                format!("a list among the options of `{name}` or as the command it runs"),
                "write the command's name before it",
            ));
        }
        if next == Next::Argument {
            return Ok(());
        }
        let prefix = word.map_or("", |word| word.prefix.as_str());
        if prefix.starts_with('-') {
            let long = prefix.starts_with("--")
                && prefix.contains('=')
                && !self.scripts.iter().any(|script| prefix.starts_with(script));
            let short = prefix.get(..2).is_some_and(|short| self.options.contains(&short));
            return if long || short {
                Ok(())
            } else {
                Err(Refusal::new(format!("a value in an option of `{name}`"), "write the option yourself"))
            };
        }
        if operands > 0
            || (self.assigns
                && word.is_some_and(|word| word.assigned().is_some_and(super::command::is_harmless)))
        {
            return Ok(());
        }
        Err(Refusal::new(
            format!("a value as the command that `{name}` runs"),
            "write the command's name, and choose between several with {% if %}",
        ))
    }
}

/// What an option says of the program of a [`Language`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LanguageOption {
    /// Nothing.
    Other,
    /// It takes that many words.
    Words(u8),
    /// The next word is the program, or the file it is in.
    Program,
    /// The program, or its file, is part of the option.
    AttachedProgram,
}

impl Language {
    pub(super) fn option(&self, word: &str) -> LanguageOption {
        if word.starts_with("--") {
            let name = word.split('=').next().unwrap_or(word);
            let program = self.long_text.contains(&name) || self.long_files.contains(&name);
            return match self.long_arguments.iter().find(|(option, _)| *option == word) {
                Some(&(_, count)) => LanguageOption::Words(count),
                None if program && name == word => LanguageOption::Program,
                None if program => LanguageOption::AttachedProgram,
                None => LanguageOption::Other,
            };
        }
        let cluster = word.get(1..).unwrap_or_default();
        let takes = |letter: char| {
            self.text.contains(letter) || self.files.contains(letter) || self.arguments.contains(letter)
        };
        match cluster.char_indices().find(|&(_, letter)| takes(letter)) {
            Some((at, letter)) if self.arguments.contains(letter) => {
                LanguageOption::Words(u8::from(at + 1 == cluster.len()))
            }
            Some((at, _)) if at + 1 == cluster.len() => LanguageOption::Program,
            Some(_) => LanguageOption::AttachedProgram,
            None => LanguageOption::Other,
        }
    }

    pub(super) fn check_value(
        &self,
        skip: u8,
        text: bool,
        given: bool,
        word: Option<&Word>,
        shape: &Shape,
    ) -> Result<(), Refusal> {
        let name = self.names.first().copied().unwrap_or_default();
        if skip > 0 {
            return if shape.list {
                Err(Refusal::new(
                    format!("a list for an option of `{name}` that takes one word"),
                    "pick an element, or use the filter join",
                ))
            } else {
                Ok(())
            };
        }
        let prefix = word.map_or("", |word| word.prefix.as_str());
        let program = match self.option(prefix) {
            _ if text => true,
            LanguageOption::Program | LanguageOption::AttachedProgram if prefix.starts_with('-') => true,
            LanguageOption::Words(_) if prefix.starts_with('-') => false,
            _ if given => false,
            _ if prefix.starts_with("--") => !prefix.contains('='),
            _ => !(shape.words && word.is_none() && self.harmless_options),
        };
        if program {
            let mut fix = self.fix.to_owned();
            if !text && word.is_none() && self.harmless_options {
                fix.push_str("; for a string of options, write {{ … | words }}");
            }
            Err(Refusal::program(format!("a value in the program text of `{name}`"), fix))
        } else {
            Ok(())
        }
    }
}
