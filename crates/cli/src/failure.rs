//! Errors of commands: what went wrong, how to mend it, and the exit status that goes with it.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// How a command ended. Every exit code of the program comes from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Done.
    Ok,
    /// It worked, and the answer is no: problems found, nothing found, a tool that failed. Also every failure that is
    /// not the command line's fault.
    No,
    /// The command line can't be understood.
    Usage,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        match status {
            ExitStatus::Ok => Self::SUCCESS,
            ExitStatus::No => Self::from(1),
            ExitStatus::Usage => Self::from(2),
        }
    }
}

/// Why a command could not do its work.
#[derive(Debug)]
pub struct Failure {
    /// The exit status.
    pub status: ExitStatus,
    /// What went wrong, with its causes.
    pub error: anyhow::Error,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl Failure {
    /// A failure of the work.
    pub fn new(error: impl Into<anyhow::Error>) -> Self {
        Self { status: ExitStatus::No, error: error.into(), hints: Vec::new() }
    }

    /// A failure of the work, in words.
    pub fn msg(message: impl Display) -> Self {
        Self::new(anyhow::anyhow!("{message}"))
    }

    /// A command line that can't be understood.
    pub fn usage(message: impl Display) -> Self {
        Self { status: ExitStatus::Usage, ..Self::msg(message) }
    }

    /// Adds what to do about it.
    pub fn hint(mut self, hint: impl Display) -> Self {
        self.hints.push(hint.to_string());
        self
    }

    /// The error and its causes, each said once.
    pub fn text(&self) -> String {
        self.error.chain().fold(String::new(), |text, cause| match cause.to_string() {
            cause if text.is_empty() => cause,
            cause if text.contains(&cause) => text,
            cause => format!("{text}: {cause}"),
        })
    }

    /// Whether the reader of our output went away: no failure at all.
    pub fn is_broken_pipe(&self) -> bool {
        self.error.chain().any(|cause| {
            cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
        })
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error)
    }
}

/// What commands return.
pub type Outcome = Result<ExitStatus, Failure>;
