//! The Python half of the conversation: the runner, and what it is sent.

use std::path::PathBuf;

use mcc_catalog::model::{PythonCode, ResolvedLimits};
use mcc_catalog::seam::SessionBag;
use serde_json::{Map, Value, json};

use super::conversation::OnHangup;

/// The fixed program: `python3 -I -c PYTHON_RUNNER`.
pub const PYTHON_RUNNER: &str = include_str!("runner.py");

/// What a function is run with.
#[derive(Clone, Copy, Debug)]
pub struct PythonPayload<'a> {
    /// Name of the tool, `sys.argv[0]` of the function.
    pub name: &'a str,
    /// Where the function is.
    pub code: &'a PythonCode,
    /// Its keyword arguments.
    pub params: &'a Map<String, Value>,
    /// What it gets as `context`, if it has such a parameter.
    pub context: &'a SessionBag,
    /// Directories put in front of `sys.path`, absolute.
    pub path: &'a [PathBuf],
    /// Variables on top of what the runner was started with.
    pub env: &'a [(String, String)],
    /// Bounds that are set in the tool's own process.
    pub limits: &'a ResolvedLimits,
    /// What happens to the tool when the stream breaks.
    pub on_hangup: OnHangup,
    /// Tag by which all processes of the call are known (see [`super::descendants`]).
    pub tag: Option<u64>,
}

impl PythonPayload<'_> {
    /// The text to send after the hello: `go`, then marker and length, then one JSON document.
    pub fn text(&self, marker: &str) -> Vec<u8> {
        let (function, source) = match self.code {
            PythonCode::Function(path) => (Some(path), None),
            PythonCode::Source(source) => (None, Some(source)),
        };
        let env: Map<String, Value> =
            self.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        let document = json!({
            "name": self.name,
            "function": function,
            "source": source,
            "params": self.params,
            "context": self.context,
            "path": self.path.iter().map(|dir| dir.to_string_lossy()).collect::<Vec<_>>(),
            "env": env,
            "limits": rlimits(self.limits),
            "tag": self.tag.map(|kibibytes| kibibytes * 1024),
            "hangup": match self.on_hangup {
                OnHangup::Kill => "kill",
                OnHangup::Continue => "continue",
            },
        })
        .to_string();
        format!("go\n{marker} {}\n{document}", document.len()).into_bytes()
    }
}

/// Soft and hard bounds by the names of Python's `resource`.
fn rlimits(limits: &ResolvedLimits) -> Value {
    let mut bounds = Map::new();
    let mut put = |name: &str, soft: Option<u64>, hard: Option<u64>| {
        if let (Some(soft), Some(hard)) = (soft, hard) {
            bounds.insert(name.to_owned(), json!([soft, hard]));
        }
    };
    // One second between the soft and the hard bound, so that SIGXCPU says why.
    put("RLIMIT_CPU", limits.cpu_seconds, limits.cpu_seconds.map(|seconds| seconds.saturating_add(1)));
    put("RLIMIT_FSIZE", limits.file_bytes, limits.file_bytes);
    put("RLIMIT_NOFILE", limits.open_files, limits.open_files);
    put("RLIMIT_NPROC", limits.processes, limits.processes);
    Value::Object(bounds)
}
