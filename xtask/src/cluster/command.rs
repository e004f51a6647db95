//! Child processes whose failure says what they said.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// A command whose program is also looked for where only root's `PATH` leads.
pub fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.env("PATH", path());
    command
}

/// The machine's search path with the folders of system programs.
pub fn path() -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{path}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
}

/// Runs a command to its end and returns its output; a failure names the command and what it wrote.
pub fn run(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("can't start {command:?}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{command:?} failed ({}): {}", output.status, said.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs `program` with arguments separated by white space.
pub fn call(program: &str, arguments: &str) -> Result<String> {
    run(command(program).args(arguments.split_whitespace()))
}
