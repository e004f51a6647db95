//! From a validated call to what an executor runs.
//!
//! ```text
//! arguments, session ─▶ template rendered ─▶ MCC_PARAM_*, MCC_CTX_*, stdin ─▶ bounds ─▶ Invocation
//! ```

mod render;

use std::sync::Arc;

use mcc_crds::v1alpha1::Stdin;
use serde_json::{Map, Value};

use crate::model::{Catalog, CompiledTool};
use crate::params::ParamErrors;
use crate::seam::{Invocation, Program, SessionBag};
use crate::session::{context_env, env_text};

/// The kernel's bound of one `NAME=value` and of one argument, its final NUL included.
pub const MAX_STRING_BYTES: usize = 128 * 1024;
/// Bound of environment, script and session values together (DECISIONS 11).
pub const MAX_TOTAL_BYTES: usize = 1_572_864;

/// Bytes kept of each output stream, whatever less the answer shows of it.
pub const KEPT_OUTPUT_BYTES: usize = 2 * 1024 * 1024;

/// Why a call can't be run with these values. Nothing was created.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// A value doesn't fit where the template puts it: a validation error.
    #[error("{0}")]
    Invalid(ParamErrors),
    /// The template failed for another reason.
    #[error("{0}")]
    Template(String),
    /// A bound would be passed.
    #[error("{what} is {bytes} bytes, at most {bound} can be passed; {fix}")]
    TooLarge {
        /// What is too large.
        what: String,
        /// Its size.
        bytes: usize,
        /// The bound.
        bound: usize,
        /// What to do.
        fix: &'static str,
    },
}

/// Makes a call ready to run. `arguments` are those of [`params::validate`](crate::params::validate); `session` is what
/// the tool may see ([`session::visible`](crate::session::visible)).
///
/// Every parameter with a value is also `MCC_PARAM_<NAME>`, text raw and everything else as JSON. One that is larger
/// than the kernel lets a variable be is left out where the tool gets it another way, else the call is refused.
pub fn prepare(
    id: String,
    tool: Arc<CompiledTool>,
    catalog: Arc<Catalog>,
    arguments: Map<String, Value>,
    session: SessionBag,
) -> Result<Invocation, PrepareError> {
    let (params_env, left_out) = params_env(&arguments);
    let (program, stdin) = render::program(&tool, arguments)?;
    if let Some(error) = left_out.into_iter().find_map(|variable| variable.needed_by(&program)) {
        return Err(error);
    }
    let mut session_env = context_env(&session);
    if let Program::Python { .. } = program {
        // As in the original system; a bag too large for a variable still comes as the argument `context`.
        let blob = Value::Object(session.clone()).to_string();
        if fits("MCC_CTX", &blob) {
            session_env.push(("MCC_CTX".to_owned(), blob));
        }
    }
    check_bounds(&tool, &program, &params_env, &session_env)?;
    let capture_bytes = tool.limits.output_bytes.max(KEPT_OUTPUT_BYTES);
    Ok(Invocation { id, tool, catalog, program, params_env, session_env, stdin, capture_bytes, session })
}

/// A parameter that no variable can hold.
struct LeftOut {
    param: String,
    variable: String,
    bytes: usize,
}

impl LeftOut {
    /// The refusal of a call whose program has no other way to the parameter.
    fn needed_by(self, program: &Program) -> Option<PrepareError> {
        let needed = match program {
            Program::Python { .. } => false,
            Program::Shell { script } => script
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .any(|word| word == self.variable),
            Program::Container { .. } => true,
        };
        needed.then(|| PrepareError::TooLarge {
            what: format!("parameter `{}`", self.param),
            bytes: self.bytes,
            bound: MAX_STRING_BYTES - self.variable.len() - 2,
            fix: "give less, or let the tool read its parameters from standard input (stdin: Params)",
        })
    }
}

/// The variables, and the parameters that don't fit one.
fn params_env(arguments: &Map<String, Value>) -> (Vec<(String, String)>, Vec<LeftOut>) {
    let mut env = Vec::with_capacity(arguments.len());
    let mut left_out = Vec::new();
    for (name, value) in arguments {
        let variable = format!("MCC_PARAM_{}", name.to_ascii_uppercase());
        let text = env_text(value);
        if fits(&variable, &text) && !text.contains('\0') {
            env.push((variable, text));
        } else {
            left_out.push(LeftOut { param: name.clone(), variable, bytes: text.len() });
        }
    }
    (env, left_out)
}

/// Whether the kernel takes `name=value` as one string.
fn fits(name: &str, value: &str) -> bool {
    name.len() + value.len() + 2 <= MAX_STRING_BYTES
}

fn check_bounds(
    tool: &CompiledTool,
    program: &Program,
    params_env: &[(String, String)],
    session_env: &[(String, String)],
) -> Result<(), PrepareError> {
    let texts: Vec<&String> = match program {
        Program::Shell { script } => vec![script],
        Program::Container { command, args } => command.iter().chain(args).collect(),
        // Source and parameters come by stdin.
        Program::Python { .. } => Vec::new(),
    };
    if let Some(largest) =
        texts.iter().map(|text| text.len()).max().filter(|bytes| *bytes >= MAX_STRING_BYTES)
    {
        let what = if matches!(program, Program::Shell { .. }) {
            "the script with its values"
        } else {
            "an argument"
        };
        return Err(PrepareError::TooLarge {
            what: what.to_owned(),
            bytes: largest,
            bound: MAX_STRING_BYTES - 1,
            fix: "give less, or let the tool read its parameters from standard input (stdin: Params)",
        });
    }
    let pair = |(name, value): &(String, String)| name.len() + value.len() + 2;
    let static_env = tool
        .env
        .iter()
        .map(|variable| variable.name.len() + variable.value.as_ref().map_or(0, String::len) + 2);
    let total = texts.iter().map(|text| text.len()).sum::<usize>()
        + params_env.iter().chain(session_env).map(pair).sum::<usize>()
        + static_env.sum::<usize>();
    if total > MAX_TOTAL_BYTES {
        return Err(PrepareError::TooLarge {
            what: "the sum of environment, script and session values".to_owned(),
            bytes: total,
            bound: MAX_TOTAL_BYTES,
            fix: "give less, or remove session values",
        });
    }
    Ok(())
}

/// What a script reads from standard input: all parameters as one JSON object.
fn params_stdin(stdin: Stdin, arguments: &Map<String, Value>) -> Option<Vec<u8>> {
    match stdin {
        Stdin::None => None,
        Stdin::Params => Some(Value::Object(arguments.clone()).to_string().into_bytes()),
    }
}

#[cfg(test)]
#[path = "invoke_tests.rs"]
mod tests;
