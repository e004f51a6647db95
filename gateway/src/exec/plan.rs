//! What a call needs on this machine, checked before anything is started.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use mcc_catalog::model::Implementation;
use mcc_catalog::quantity::Quantity;
use mcc_catalog::seam::{Invocation, Program};

use super::conversation::OnHangup;
use super::descendants::waiting;
use super::environment::{EnvError, Environment, Resolver, STRING_LIMIT, expand, too_long};
use super::process::ProcessOptions;
use super::python::{PYTHON_RUNNER, PythonPayload};
use super::shell::{SHELL_PROGRAM, ShellPayload, quote};

/// Why a call can't run on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refused {
    /// What is in the way.
    pub reason: String,
    /// What to do.
    pub fix: String,
}

impl From<EnvError> for Refused {
    fn from(EnvError { reason, fix }: EnvError) -> Self {
        Self { reason, fix }
    }
}

fn refusal(reason: impl Into<String>, fix: impl Into<String>) -> Refused {
    Refused { reason: reason.into(), fix: fix.into() }
}

/// How a call runs on this machine.
#[derive(Debug)]
pub struct Plan {
    /// The program to start.
    pub program: PathBuf,
    /// Its arguments: the fixed program of the conversation.
    pub args: Vec<OsString>,
    /// Its environment: the floor and what the Tool declares.
    pub env: Vec<(String, OsString)>,
    /// Whether the Tool declares `TMPDIR` itself.
    pub sets_tmpdir: bool,
    /// Bound of the memory, in bytes.
    pub memory: Option<u64>,
    /// What the payload puts on top: parameters, then session values.
    given: Vec<(String, String)>,
    work: Work,
}

#[derive(Debug)]
enum Work {
    Shell { shell: String, script: String },
    Python { path: Vec<PathBuf> },
}

impl Plan {
    /// Plans a call. `python` finds the interpreter.
    pub async fn new<'p, F>(
        options: &ProcessOptions,
        invocation: &Invocation,
        python: impl FnOnce() -> F,
    ) -> Result<Self, Refused>
    where
        F: Future<Output = Result<&'p PathBuf, Refused>>,
    {
        let tool = &invocation.tool;
        let memory = tool.limits.memory.as_deref().map(memory_limit).transpose()?;
        let resolver = Resolver {
            objects: &invocation.catalog.objects,
            namespace: &tool.object.namespace,
            run: &invocation.id,
        };
        let env = resolver.resolve(Environment::floor(), &tool.env_from, &tool.env)?;
        let sets_tmpdir = tool.env.iter().any(|variable| variable.name == "TMPDIR");
        let path = OsStr::from_bytes(env.get("PATH").unwrap_or_default()).to_owned();
        let (program, args, work) = match &invocation.program {
            Program::Shell { script } => {
                if matches!(tool.implementation, Implementation::Http(_)) && find("curl", &path).is_none() {
                    return Err(refusal(
                        "curl is not on this machine, and http tools run it",
                        "install curl",
                    ));
                }
                shell_work(options, script.clone())?
            }
            Program::Container { command, args } => {
                // As in a pod, `$(NAME)` means what the Tool declares, not what this program's environment has.
                let declared = resolver.resolve(Environment::default(), &tool.env_from, &tool.env)?;
                let words = |words: &[String]| -> Vec<String> {
                    let expanded = words.iter().map(|word| expand(word.as_bytes(), &declared));
                    expanded.map(|word| String::from_utf8_lossy(&word).into_owned()).collect()
                };
                let script = container_script(tool.image.as_deref(), &words(command), &words(args), &path)?;
                shell_work(options, script)?
            }
            Program::Python { path, .. } => {
                let args = ["-I", "-c", PYTHON_RUNNER].map(OsString::from).to_vec();
                let path = module_path(path, tool.folder.as_deref(), &options.python_path);
                (python().await?.clone(), args, Work::Python { path })
            }
        };
        let given = given(invocation)?;
        Ok(Self { program, args, env: env.into_vars(), sets_tmpdir, memory, given, work })
    }

    /// The payload of the conversation.
    pub fn payload(
        &self,
        invocation: &Invocation,
        session_file: &Path,
        on_hangup: OnHangup,
        tag: u64,
        marker: &str,
    ) -> Vec<u8> {
        let limits = &invocation.tool.limits;
        match (&self.work, &invocation.program) {
            (Work::Python { path }, Program::Python { code, params, .. }) => PythonPayload {
                name: &invocation.tool.key,
                code,
                params,
                context: &invocation.session,
                path,
                env: &self.given,
                limits,
                on_hangup,
                tag: Some(tag),
            }
            .text(marker),
            (Work::Shell { shell, script }, _) => ShellPayload {
                shell,
                script,
                env: &self.given,
                stdin: invocation.stdin.as_deref(),
                limits,
                session_file: &session_file.to_string_lossy(),
                on_hangup,
                tag: Some(tag),
            }
            .text(marker),
            // A plan is made from its own invocation.
            (Work::Python { .. }, _) => Vec::new(),
        }
    }
}

fn memory_limit(quantity: &str) -> Result<u64, Refused> {
    let bytes = Quantity::parse(quantity).ok().and_then(Quantity::units).filter(|&bytes| bytes > 0);
    bytes.ok_or_else(|| {
        refusal(
            format!("limits.memory {quantity:?} is not a quantity"),
            "write bytes, or a number with Ki, Mi or Gi",
        )
    })
}

fn shell_work(options: &ProcessOptions, script: String) -> Result<(PathBuf, Vec<OsString>, Work), Refused> {
    if script.len() + 1 > STRING_LIMIT {
        return Err(refusal(
            format!(
                "the script has {} bytes with its values, and the kernel takes {}",
                script.len(),
                STRING_LIMIT - 1
            ),
            "let the script read large parameters from standard input (stdin: Params)",
        ));
    }
    if script.contains('\0') {
        return Err(refusal("the script contains a NUL character", "call it without NUL characters"));
    }
    let shell = options.shell.to_string_lossy().into_owned();
    let args = vec!["-c".into(), SHELL_PROGRAM.into(), options.shell.clone().into_os_string()];
    Ok((options.shell.clone(), args, Work::Shell { shell, script }))
}

/// A container tool without a container: its command, if this machine has it.
fn container_script(
    image: Option<&str>,
    command: &[String],
    args: &[String],
    path: &OsStr,
) -> Result<String, Refused> {
    let image = image.unwrap_or("no name");
    let Some(program) = command.first() else {
        return Err(refusal(
            format!(
                "the tool runs the entry point of the image {image}, and this machine runs no containers"
            ),
            "run this tool in a cluster, or give container.command with a program of this machine",
        ));
    };
    if find(program, path).is_none() {
        return Err(refusal(
            format!("{program} (of the image {image}) is not on this machine, which runs no containers"),
            format!("install {program}, or run this tool in a cluster"),
        ));
    }
    let mut script = "exec".to_owned();
    for word in command.iter().chain(args) {
        let _ = write!(script, " {}", quote(word));
    }
    Ok(script)
}

/// `python.path`, the folder of the manifest, `--python-path`; relative directories are the folder's.
fn module_path(own: &[PathBuf], folder: Option<&Path>, common: &[PathBuf]) -> Vec<PathBuf> {
    let base = std::path::absolute(folder.unwrap_or(Path::new("."))).unwrap_or_default();
    let own = own.iter().map(|dir| base.join(dir));
    let common = common.iter().filter_map(|dir| std::path::absolute(dir).ok());
    own.chain(folder.map(|_| base.clone())).chain(common).collect()
}

/// Parameters and session values as variables; session values last, so that nothing overrides them.
fn given(invocation: &Invocation) -> Result<Vec<(String, String)>, Refused> {
    let mut given = Vec::with_capacity(invocation.params_env.len() + invocation.session_env.len());
    let python = matches!(invocation.program, Program::Python { .. });
    for (name, value) in invocation.params_env.iter().chain(&invocation.session_env) {
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') || value.contains('\0') {
            return Err(refusal(
                format!("{name} can't be an environment variable: its value contains a NUL character"),
                "call the tool without NUL characters",
            ));
        }
        if name.len() + value.len() + 2 > STRING_LIMIT {
            // The tool gets it another way: as an argument, or on standard input.
            let elsewhere = python || (invocation.stdin.is_some() && name.starts_with("MCC_PARAM_"));
            if elsewhere {
                continue;
            }
            return Err(too_long(name, value.len()).into());
        }
        given.push((name.clone(), value.clone()));
    }
    Ok(given)
}

/// The program of this name: itself if it has a slash, else the first on `path`.
fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    use nix::unistd::{AccessFlags, access};
    let executable = |file: &PathBuf| file.is_file() && access(file.as_path(), AccessFlags::X_OK).is_ok();
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(executable);
    }
    std::env::split_paths(path).map(|dir| dir.join(program)).find(executable)
}

/// Prints the interpreter's own path, past any wrapper script that would cost time in each call.
const PYTHON_PROBE: &str = "import sys; print('%d.%d' % sys.version_info[:2]); print(sys.executable or '')";

/// Time an interpreter may take to say where it is.
const PROBE_PATIENCE: Duration = Duration::from_secs(30);

/// Oldest Python the runner works with.
const OLDEST_PYTHON: (u32, u32) = (3, 9);

/// Finds the interpreter of Python tools.
pub async fn find_python(named: &Path) -> Result<PathBuf, Refused> {
    const FIX: &str = "install Python 3.9 or newer, or name another interpreter with --python";
    let floor = Environment::floor();
    let path = OsStr::from_bytes(floor.get("PATH").unwrap_or_default()).to_owned();
    let Some(found) = find(&named.to_string_lossy(), &path) else {
        return Err(refusal(format!("there is no Python interpreter {}", named.display()), FIX));
    };
    let probe = tokio::process::Command::new(&found)
        .args(["-I", "-c", PYTHON_PROBE])
        .env_clear()
        .envs(floor.into_vars())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let broken =
        |why: &str| refusal(format!("{} is not a working Python interpreter: {why}", found.display()), FIX);
    let output = match tokio::time::timeout(PROBE_PATIENCE, waiting(probe)).await {
        Ok(Ok(output)) if output.status.success() => output,
        Ok(Ok(output)) => return Err(broken(String::from_utf8_lossy(&output.stderr).trim())),
        Ok(Err(error)) => return Err(broken(&error.to_string())),
        Err(_) => return Err(broken("no answer")),
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines = text.lines();
    let version = lines.next().unwrap_or_default();
    let number = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
    let mut parts = version.split('.');
    if (number(parts.next()), number(parts.next())) < OLDEST_PYTHON {
        return Err(refusal(format!("{} is Python {version}", found.display()), FIX));
    }
    Ok(lines.next().filter(|path| !path.is_empty()).map_or(found, PathBuf::from))
}
