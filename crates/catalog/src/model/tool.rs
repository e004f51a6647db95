//! A tool after compilation: nothing reads the raw spec from here on.

use std::time::Duration;

use k8s_openapi::api::core::v1::{EnvFromSource, EnvVar};
use mcc_crds::v1alpha1::{Hints, ItemType, ParamType, PodSettings, SessionScope, Stdin};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{Facets, NamespacedName};
use crate::script::{HttpTemplate, ScriptTemplate, TextTemplate};

/// A tool that can be found and run.
#[derive(Debug)]
pub struct CompiledTool {
    /// `groups.name`, public and admin first: what execute takes.
    pub key: String,
    /// Name without groups.
    pub name: String,
    /// What permission looks at; `facets.groups` is in declared order.
    pub facets: Facets,
    /// The Tool object.
    pub object: NamespacedName,
    /// UID of the Tool object; none outside a cluster.
    pub uid: Option<String>,
    /// Hex digest of everything that decides what the tool does: cached results and index entries are bound to it.
    pub digest: String,
    /// Description as written, without trailing white space.
    pub description: String,
    /// Example call, may be empty.
    pub example: String,
    /// Further words it is found by.
    pub keywords: Vec<String>,
    /// All parameters in declared order, hidden ones (with an override) included.
    pub params: Vec<Parameter>,
    /// Type shown after `->`.
    pub returns: String,
    /// What the result contains, may be empty.
    pub returns_description: String,
    /// Hints for clients.
    pub hints: Hints,
    /// `## key (params) -> type`, parameter lines and description: the block that search shows.
    pub signature: String,
    /// What runs.
    pub implementation: Implementation,
    /// Image, if the Tool or one of its groups names one; else the program's default for the kind.
    pub image: Option<String>,
    /// Environment, group defaults merged under it.
    pub env: Vec<EnvVar>,
    /// Sources of environment, the groups' first.
    pub env_from: Vec<EnvFromSource>,
    /// Bounds, all filled in.
    pub limits: ResolvedLimits,
    /// Seconds results are kept and whether callers share them; none: not kept.
    pub cache: Option<mcc_crds::v1alpha1::Cache>,
    /// Session values the tool sees, the groups' narrowing applied: all groups must admit a name.
    pub session_read: Vec<SessionScope>,
    /// Session values the tool may change, likewise.
    pub session_write: Vec<SessionScope>,
    /// Runs a minute and caller.
    pub rate_per_minute: Option<u32>,
    /// Pods kept waiting.
    pub warm: u32,
    /// Pod settings, group defaults merged under them.
    pub pod: PodSettings,
    /// Folder of the manifest, for `python.path` in `mcc up`; none in a cluster.
    pub folder: Option<std::path::PathBuf>,
}

/// A parameter after compilation.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: ParamType,
    /// Description, trimmed.
    pub description: String,
    /// Whether callers must give it.
    pub required: bool,
    /// Default, coerced to the type; `Some(Null)` for an explicit null.
    pub default: Option<Value>,
    /// Fixed value: hidden from callers.
    pub fixed: Option<Value>,
    /// Example value.
    pub example: Option<Value>,
    /// The only values allowed; empty: any.
    pub choices: Vec<Value>,
    /// Smallest number.
    pub minimum: Option<f64>,
    /// Largest number.
    pub maximum: Option<f64>,
    /// Fewest characters or elements.
    pub min_length: Option<usize>,
    /// Most characters or elements.
    pub max_length: Option<usize>,
    /// Compiled pattern.
    pub pattern: Option<regex::Regex>,
    /// Type of a list's elements.
    pub items: Option<ItemType>,
    /// A value may begin a bare word with a hyphen.
    pub allow_leading_dash: bool,
}

/// What runs when a tool is executed.
#[derive(Debug)]
pub enum Implementation {
    /// A shell script.
    Shell {
        /// The template.
        script: ScriptTemplate,
        /// What it reads.
        stdin: Stdin,
    },
    /// A Python function.
    Python {
        /// Where the function is.
        code: PythonCode,
        /// `python.path`.
        path: Vec<String>,
    },
    /// One HTTP request.
    Http(HttpProgram),
    /// A container's own entry point.
    Container {
        /// Entry point; empty: the image's.
        command: Vec<TextTemplate>,
        /// Arguments.
        args: Vec<TextTemplate>,
    },
}

/// An HTTP request compiled to a curl script.
#[derive(Debug)]
pub struct HttpProgram {
    /// The template of the script and its standard input.
    pub template: HttpTemplate,
}

/// Where a Python tool's function is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PythonCode {
    /// `package.module:callable`.
    Function(String),
    /// Source that defines `main`.
    Source(String),
}

/// How a call reaches its pod (EXECUTE.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The program waits at stdin and is sent what to run.
    Attach,
    /// Everything is in the pod template.
    Spec,
}

/// Bounds of one run, all filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedLimits {
    /// Wall clock.
    pub timeout: Duration,
    /// Bytes kept of each output stream.
    pub output_bytes: usize,
    /// CPU quantity.
    pub cpu: Option<String>,
    /// Memory quantity.
    pub memory: Option<String>,
    /// Ephemeral-storage quantity.
    pub ephemeral_storage: Option<String>,
    /// CPU seconds (ulimit -t).
    pub cpu_seconds: Option<u64>,
    /// Largest file in bytes (ulimit -f).
    pub file_bytes: Option<u64>,
    /// Open files (ulimit -n).
    pub open_files: Option<u64>,
    /// Processes (ulimit -u).
    pub processes: Option<u64>,
}

impl Default for ResolvedLimits {
    /// The defaults of DECISIONS 10.
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            output_bytes: 262_144,
            cpu: None,
            memory: None,
            ephemeral_storage: None,
            cpu_seconds: None,
            file_bytes: None,
            open_files: None,
            processes: None,
        }
    }
}

/// What an index knows of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDocument {
    /// What permission looks at, the key included.
    pub facets: Facets,
    /// Digest of the texts below: an index skips documents it has already.
    pub digest: String,
    /// Name without groups.
    pub name: String,
    /// Description.
    pub description: String,
    /// Keywords.
    pub keywords: Vec<String>,
    /// Visible parameters: name and description.
    pub params: Vec<(String, String)>,
}

impl ToolDocument {
    /// Digest of everything an index keeps of the tool, the facets included: 32 hexadecimal digits. Equal fingerprints
    /// need no write.
    pub fn fingerprint(&self) -> String {
        let mut hasher = Sha256::new();
        for list in [std::slice::from_ref(&self.digest), &self.facets.groups, &self.facets.prefixes] {
            hasher.update((list.len() as u64).to_le_bytes());
            for text in list {
                hasher.update((text.len() as u64).to_le_bytes());
                hasher.update(text);
            }
        }
        crate::compile::hex(&hasher.finalize()[..16])
    }
}
