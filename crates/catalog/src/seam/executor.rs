//! Running a tool.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::SessionBag;
use crate::model::{Catalog, CompiledTool, PythonCode};

/// One call, ready to run: parameters validated, template rendered, session read.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// `mcc-` and 32 hex digits: name of the Job, id of the task.
    pub id: String,
    /// The tool.
    pub tool: Arc<CompiledTool>,
    /// The catalog it was found in: Secrets and ConfigMaps for its environment.
    pub catalog: Arc<Catalog>,
    /// What runs.
    pub program: Program,
    /// `MCC_PARAM_*`: every parameter that has a value.
    pub params_env: Vec<(String, String)>,
    /// `MCC_CTX_*`: set last, so that nothing overrides them.
    pub session_env: Vec<(String, String)>,
    /// What the tool reads from standard input; none: end of input at once.
    pub stdin: Option<Vec<u8>>,
    /// Bytes kept of each output stream: at least the tool's `outputBytes`, of which its answer is made. What is kept
    /// beyond them can be paged through.
    pub capture_bytes: usize,
    /// The session values the tool was given, against which its write-back is compared.
    pub session: SessionBag,
}

/// What runs.
#[derive(Clone, Debug)]
pub enum Program {
    /// A script for /bin/sh.
    Shell {
        /// Its text.
        script: String,
    },
    /// A Python function.
    Python {
        /// Where it is.
        code: PythonCode,
        /// Keyword arguments, by name.
        params: Map<String, Value>,
        /// `python.path`, absolute or relative to the tool's folder.
        path: Vec<PathBuf>,
    },
    /// A container's own entry point. The words are in the syntax of pod templates: `$(NAME)` stands for a declared
    /// variable, `$$` for one `$`; a `$` that came from a value is doubled already.
    Container {
        /// Entry point; empty: the image's.
        command: Vec<String>,
        /// Arguments.
        args: Vec<String>,
    },
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Waiting for a place to run.
    Pending,
    /// Being started.
    Starting,
    /// Running.
    Running,
}

/// A step of a call, for a person to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How far it is.
    pub stage: Stage,
    /// What is going on, why it waits.
    pub message: String,
}

/// Takes the steps of a call.
pub trait ProgressSink: Send + Sync {
    /// Takes one step. Must not block.
    fn report(&self, progress: Progress);
}

impl ProgressSink for () {
    fn report(&self, _: Progress) {}
}

/// One captured output stream, bounded while it was read: head and tail kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The first bytes; all of them if nothing was cut.
    pub head: Vec<u8>,
    /// The last bytes, if something between was cut.
    pub tail: Vec<u8>,
    /// Bytes the tool wrote.
    pub total: u64,
}

impl Capture {
    /// Bytes that were dropped between head and tail.
    pub fn dropped(&self) -> u64 {
        self.total.saturating_sub((self.head.len() + self.tail.len()) as u64)
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The tool ended by itself with this exit code.
    Exited(i32),
    /// A signal ended it: 24 (SIGXCPU) and 25 (SIGXFSZ) at its limits of CPU time and file size.
    Signaled(i32),
    /// It was killed at its time limit.
    TimedOut(Duration),
    /// It was killed because the caller cancelled or went away.
    Cancelled,
    /// It was killed at its memory limit.
    OutOfMemory,
    /// It never ran.
    Refused(Refusal),
    /// It may have run; nobody can tell how it ended. Not repeated.
    Unknown(String),
}

/// Why a call never ran. Safe to repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is in the way, one sentence.
    pub reason: String,
    /// What to do, one sentence; may be empty.
    pub fix: String,
    /// Repeating later may help (a full cluster), or only a change does.
    pub transient: bool,
}

/// What a tool changed in the session: the difference against what it was given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionChanges {
    /// New and changed values.
    pub set: SessionBag,
    /// Deleted names.
    pub deleted: Vec<String>,
}

impl SessionChanges {
    /// Nothing changed.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.deleted.is_empty()
    }
}

/// What came out of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// Standard output.
    pub stdout: Capture,
    /// Standard error.
    pub stderr: Capture,
    /// Return value of a Python tool that succeeded, as JSON text.
    pub result: Option<Capture>,
    /// What the tool wants to change in the session; raw, before names and bounds are checked.
    pub session: SessionChanges,
    /// Why what the tool wrote for the session can't be read; nothing of it holds then.
    pub session_problem: Option<String>,
    /// Time from acceptance to the start of the tool.
    pub startup: Duration,
    /// Time the tool ran.
    pub duration: Duration,
}

/// Runs tools. An implementation runs an invocation at most once and leaves nothing behind.
#[async_trait]
pub trait Executor: Send + Sync {
    /// Runs one call to its end. Cancelling the token kills the tool within a second, and so does dropping the future.
    async fn execute(
        &self,
        invocation: Invocation,
        progress: &dyn ProgressSink,
        cancel: CancellationToken,
    ) -> Outcome;
}
