//! What a caller reads of a run: clean text, bounded, failures included.
//!
//! ```text
//! Capture (head, tail) ─▶ UTF-8 ─▶ without ANSI and control characters ─▶ head, notice, tail ─▶ text of the answer
//! ```

mod ansi;

use serde_json::{Map, Value};

pub use ansi::strip as strip_ansi;

use crate::seam::{Capture, Ending, Outcome};

/// An answer to execute.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// The output, where it is a JSON object and complete.
    pub structured: Option<Map<String, Value>>,
    /// Whether the tool failed or didn't run.
    pub is_error: bool,
    /// Whether something of the output was left out of the text.
    pub cut: bool,
}

/// Bytes as text: invalid UTF-8 as U+FFFD, without ANSI sequences and control characters other than `\n`, `\t`, `\r`.
pub fn clean(bytes: &[u8]) -> String {
    ansi::strip(&String::from_utf8_lossy(bytes))
}

/// A captured stream as text of at most about `limit` bytes: the whole of it, or head and tail with a line between
/// them that says how much is missing and where it can be read.
pub fn bounded(capture: &Capture, execution: &str, limit: usize) -> (String, bool) {
    let kept = capture.head.len() + capture.tail.len();
    if capture.dropped() == 0 && kept <= limit {
        // The two halves belong together: a character may lie across them.
        return (clean(&[capture.head.as_slice(), &capture.tail].concat()), false);
    }
    let all = [capture.head.as_slice(), &capture.tail].concat();
    let (head, tail): (&[u8], &[u8]) =
        if capture.dropped() == 0 { (&all, &all) } else { (&capture.head, &capture.tail) };
    let head = &head[..floor_boundary(head, head.len().min(limit / 2))];
    let tail = &tail[ceil_boundary(tail, tail.len() - tail.len().min(limit / 2))..];
    let missing = capture.total.saturating_sub((head.len() + tail.len()) as u64);
    let notice = format!(
        "[… {missing} of {} bytes left out; read them at catalog://executions/{execution}/output?offset={} …]",
        capture.total,
        head.len()
    );
    let mut text = clean(head);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&notice);
    text.push('\n');
    text.push_str(&clean(tail));
    (text, true)
}

/// The text of a tool that failed: `[code, "stdout", "stderr"]` as JSON.
pub fn failure_text(code: i32, stdout: &str, stderr: &str) -> String {
    format!("[{code}, {}, {}]", Value::from(stdout), Value::from(stderr))
}

/// The output as a JSON object, if it is one.
pub fn structured(stdout: &str) -> Option<Map<String, Value>> {
    if !stdout.trim_start().starts_with('{') {
        return None;
    }
    match serde_json::from_str(stdout) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// The answer to a run. `execution` is its id, `limit` the tool's `outputBytes`.
///
/// A run that succeeded answers its standard output byte for byte (a Python tool its return value: a text as it is,
/// everything else as JSON). One that failed answers `[code, "stdout", "stderr"]`; where mcc ended it, the code is −1
/// and a sentence that says why and what to do stands before its standard error.
pub fn answer(outcome: &Outcome, execution: &str, limit: usize) -> Answer {
    if matches!(outcome.ending, Ending::Exited(0)) {
        return success(outcome, execution, limit);
    }
    let (stdout, stdout_cut) = bounded(&outcome.stdout, execution, limit);
    let (stderr, stderr_cut) = bounded(&outcome.stderr, execution, limit);
    let text = match ending_sentence(&outcome.ending) {
        None => {
            let code = if let Ending::Exited(code) = outcome.ending { code } else { -1 };
            failure_text(code, &stdout, &stderr)
        }
        Some(sentence) if stdout.is_empty() && stderr.is_empty() => match outcome.ending {
            Ending::Refused(_) | Ending::Unknown(_) | Ending::Cancelled => sentence,
            _ => failure_text(exit_code(&outcome.ending), "", &sentence),
        },
        Some(sentence) => {
            let stderr = if stderr.is_empty() { sentence } else { format!("{sentence}\n{stderr}") };
            failure_text(exit_code(&outcome.ending), &stdout, &stderr)
        }
    };
    Answer { text, structured: None, is_error: true, cut: stdout_cut || stderr_cut }
}

fn success(outcome: &Outcome, execution: &str, limit: usize) -> Answer {
    let (text, cut) = match &outcome.result {
        None => bounded(&outcome.stdout, execution, limit),
        Some(result) => {
            let (json, cut) = bounded(result, execution, limit);
            match serde_json::from_str(&json) {
                Ok(Value::String(text)) if !cut => (strip_ansi(&text), cut),
                _ => (json, cut),
            }
        }
    };
    let structured = if cut { None } else { structured(&text) };
    Answer { text, structured, is_error: false, cut }
}

/// Why mcc or the system ended the run and what to do; none where the tool ended by itself.
fn ending_sentence(ending: &Ending) -> Option<String> {
    Some(match ending {
        Ending::Exited(_) => return None,
        Ending::Signaled(signal) => format!("killed by signal {signal}{}", signal_name(*signal)),
        Ending::TimedOut(limit) => format!(
            "timeout after {}s: the tool was killed at its time limit; ask for less, or raise limits.timeoutSeconds",
            seconds(*limit)
        ),
        Ending::Cancelled => "cancelled: the tool was killed before it finished".to_owned(),
        Ending::OutOfMemory => {
            "out of memory: the tool was killed at its memory limit; ask for less, or raise limits.memory"
                .to_owned()
        }
        Ending::Refused(refusal) => {
            let again = if refusal.transient { "; try again later" } else { "" };
            let fix = if refusal.fix.is_empty() { String::new() } else { format!("; {}", refusal.fix) };
            format!("the tool did not run: {}{fix}{again}", refusal.reason)
        }
        Ending::Unknown(reason) => {
            format!(
                "it is not known how the tool ended: {reason}; it may have run and is not repeated by itself"
            )
        }
    })
}

fn exit_code(ending: &Ending) -> i32 {
    match ending {
        Ending::Exited(code) => *code,
        Ending::Signaled(signal) => -signal,
        _ => -1,
    }
}

/// ` (SIGKILL)` for the signals that say something.
fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (SIGILL)",
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        8 => " (SIGFPE)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        13 => " (SIGPIPE)",
        15 => " (SIGTERM)",
        24 => " (SIGXCPU): cpu time exceeded, see limits.cpuSeconds",
        25 => " (SIGXFSZ): file size exceeded, see limits.fileBytes",
        _ => "",
    }
}

fn seconds(duration: std::time::Duration) -> String {
    if duration.subsec_millis() == 0 {
        duration.as_secs().to_string()
    } else {
        format!("{:.1}", duration.as_secs_f64())
    }
}

/// The largest index up to `at` that cuts no UTF-8 character apart (at most three bytes back).
fn floor_boundary(bytes: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at).rev().find(|&i| is_boundary(bytes, i)).unwrap_or(at)
}

/// The smallest index from `at` that cuts no UTF-8 character apart (at most three bytes on).
fn ceil_boundary(bytes: &[u8], at: usize) -> usize {
    (at..=(at + 3).min(bytes.len())).find(|&i| is_boundary(bytes, i)).unwrap_or(at)
}

fn is_boundary(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000)
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
