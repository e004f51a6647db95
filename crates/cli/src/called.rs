//! What came back from a tool.

use mcc_catalog::output::Answer;
use mcc_catalog::seam::{Capture, Ending, Outcome};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::ExitStatus;
use crate::printer::Printer;

/// The end of a call, of this process' executor or of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Called {
    /// Whether the tool did its work.
    pub ok: bool,
    /// Its exit code, where it ran and failed; −1 where it was ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// Its output: standard output, or what a function returned.
    pub output: String,
    /// Standard error, or why it didn't run.
    pub errors: String,
    /// The output, where it is a JSON object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Map<String, Value>>,
    /// Whether the output is a value that was returned, so that a line end after it is ours to add.
    #[serde(skip)]
    pub returned: bool,
}

impl Called {
    /// The answer of a server: a failed tool is `[code, "stdout", "stderr"]`.
    pub fn of_text(text: &str, is_error: bool, structured: Option<Map<String, Value>>) -> Self {
        if !is_error {
            return Self { ok: true, output: text.to_owned(), structured, ..Self::default() };
        }
        match serde_json::from_str::<(i64, String, String)>(text) {
            Ok((code, output, errors)) => Self { code: Some(code), output, errors, ..Self::default() },
            Err(_) => Self { errors: text.to_owned(), ..Self::default() },
        }
    }

    /// The end of a call in this process.
    pub fn of_outcome(outcome: &Outcome, answer: Answer) -> Self {
        let mut called = Self::of_text(&answer.text, answer.is_error, answer.structured);
        if outcome.ending == Ending::Exited(0) {
            called.errors = text(&outcome.stderr);
            if outcome.result.is_some() {
                // What a function printed is not what it returned.
                called.errors = text(&outcome.stdout) + &called.errors;
                called.returned = true;
            }
        }
        called
    }

    /// One line that says what went wrong.
    pub fn reason(&self) -> String {
        let text = if self.errors.trim().is_empty() { &self.output } else { &self.errors };
        // The last line of a traceback says what it is about; the first one of everything else.
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let line = if text.contains("Traceback") { lines.last() } else { lines.first() };
        let line = line.copied().unwrap_or("no output");
        match self.code {
            Some(code) if code >= 0 => format!("exit code {code}: {line}"),
            _ => line.to_owned(),
        }
    }

    /// Output to standard output, errors to standard error.
    pub fn print(&self, printer: Printer) -> std::io::Result<()> {
        printer.raw_err(self.errors.as_bytes())?;
        if !self.ok && !self.errors.is_empty() && !self.errors.ends_with('\n') {
            printer.raw_err(b"\n")?;
        }
        printer.raw(self.output.as_bytes())?;
        let open = !self.output.is_empty() && !self.output.ends_with('\n');
        if open && (self.returned || printer.is_terminal()) {
            printer.raw(b"\n")?;
        }
        Ok(())
    }

    /// The exit status of a call.
    pub fn status(&self) -> ExitStatus {
        if self.ok { ExitStatus::Ok } else { ExitStatus::No }
    }
}

fn text(capture: &Capture) -> String {
    let mut bytes = capture.head.clone();
    if capture.dropped() > 0 {
        bytes.extend_from_slice(format!("\n[… {} bytes left out …]\n", capture.dropped()).as_bytes());
    }
    bytes.extend_from_slice(&capture.tail);
    mcc_catalog::output::clean(&bytes)
}
