//! Walks of other people's MCP clients through a server: what they print, with what varies masked.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::workspace;

/// A client of another language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// PyPI `mcp`.
    Python,
    /// npm `@modelcontextprotocol/client`.
    Node,
}

/// Protocol era the client is told to speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Up to 2025-11-25.
    Legacy,
    /// 2026-07-28.
    Modern,
}

impl Client {
    /// The command that walks, or what is missing for it.
    fn command(self) -> Result<Command, &'static str> {
        let scripts = workspace::root().join("tests/clients");
        match self {
            Self::Python => {
                let mut command = Command::new(workspace::python().ok_or("no .tools/venv (scripts/setup)")?);
                command.arg(scripts.join("client.py"));
                Ok(command)
            }
            Self::Node => {
                let packages = workspace::npm_packages().ok_or("no .tools/npm (scripts/setup)")?;
                let mut command =
                    Command::new(workspace::node().ok_or("no Node in .tools/venv (scripts/setup)")?);
                command.arg(scripts.join("client.mjs")).env("NODE_PATH", packages);
                Ok(command)
            }
        }
    }

    /// Walks through the files of steps and gives the transcript; `Ok(Err(reason))` where the client isn't installed.
    /// `server` is a URL, or a command and its arguments to talk to over stdio.
    pub fn walk(
        self,
        era: Era,
        steps: &[&str],
        server: &[OsString],
    ) -> anyhow::Result<Result<String, &'static str>> {
        let mut command = match self.command() {
            Ok(command) => command,
            Err(reason) => return Ok(Err(reason)),
        };
        let files: Vec<String> = steps.iter().map(|name| steps_file(name).display().to_string()).collect();
        let era = if era == Era::Legacy { "legacy" } else { "modern" };
        let output = command.arg(era).arg(files.join(",")).args(server).output()?;
        anyhow::ensure!(
            output.status.success(),
            "{self:?} client: {}\n{}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(Ok(masked(&String::from_utf8(output.stdout)?)))
    }
}

fn steps_file(name: &str) -> PathBuf {
    workspace::root().join("tests/clients").join(name).with_extension("json")
}

/// What varies and isn't this suite's business: the digits of scores, the random handles of sessions, and the code of a
/// resource that isn't there, which is another one in each era.
fn masked(transcript: &str) -> String {
    let lines = transcript.lines().map(|line| {
        if is_score(line) {
            "[score]".to_owned()
        } else {
            line.split(' ').map(masked_word).collect::<Vec<_>>().join(" ")
        }
    });
    lines.collect::<Vec<_>>().join("\n").replace("error -32002:", "error -32602:")
}

fn is_score(line: &str) -> bool {
    let inner = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    let parts = inner.and_then(|score| score.split_once('.'));
    let digits = |text: &str| !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit());
    parts.is_some_and(|(whole, rest)| digits(whole) && rest.len() == 2 && digits(rest))
}

/// A handle is long and holds digits, as no other word of a transcript does.
fn masked_word(word: &str) -> String {
    let bare = word.trim_matches(|edge: char| !edge.is_ascii_alphanumeric());
    let has = |kind: fn(&char) -> bool| bare.chars().any(|letter| kind(&letter));
    let is_handle = bare.len() >= 20
        && has(char::is_ascii_digit)
        && bare.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_".contains(letter));
    if is_handle { word.replace(bare, "[handle]") } else { word.to_owned() }
}
