//! Running `mcc`, and its output as one text.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The fixtures of this crate.
pub fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `mcc` with nothing of this environment but `PATH`.
pub fn mcc() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcc"));
    command.env_clear();
    for name in ["PATH", "TMPDIR", "LLVM_PROFILE_FILE"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.env("HOME", "/nonexistent");
    command
}

/// Exit code, standard output and standard error of a command.
pub fn outcome(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let mut text =
        format!("exit: {}\n", output.status.code().map_or("signal".to_owned(), |code| code.to_string()));
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !bytes.is_empty() {
            text.push_str(&format!("--- {name} ---\n{}", String::from_utf8_lossy(bytes)));
            if !text.ends_with('\n') {
                text.push('\n');
            }
        }
    }
    text
}

/// `outcome` with `path` written as `name`.
pub fn outcome_without(command: &mut Command, path: &Path, name: &str) -> String {
    outcome(command).replace(&path.display().to_string(), name)
}
