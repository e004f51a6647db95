//! From the end of a conversation to the outcome of a call.

use std::time::Duration;

use mcc_catalog::seam::{Capture, Ending, Outcome, Refusal, SessionBag, SessionChanges};

use super::conversation::{Conclusion, Stop};
use super::write_back;

/// Signals by which programs die and whose `128 + N` no program uses as its own exit code: ILL, TRAP, ABRT, BUS, FPE,
/// KILL, SEGV, TERM, XCPU, XFSZ, SYS. A shell reports the end of a child so; 129 (git's usage error), 130 or 141 may be
/// either and stay exit codes.
const DEADLY: [i32; 11] = [4, 5, 6, 7, 8, 9, 11, 15, 24, 25, 31];

/// Exit code of a tool that a kill line ended: `128 + KILL` of a shell, the signal itself of the Python runner.
const KILLED: [i32; 2] = [137, -9];

/// How a tool with this exit code ended.
pub fn ending(code: i32) -> Ending {
    match code {
        ..0 => Ending::Signaled(-code),
        _ if DEADLY.contains(&(code - 128)) => Ending::Signaled(code - 128),
        _ => Ending::Exited(code),
    }
}

/// The outcome of a call that never ran.
pub fn refused(reason: impl Into<String>, fix: impl Into<String>) -> Outcome {
    let refusal = Refusal { reason: reason.into(), fix: fix.into(), transient: false };
    bare(Ending::Refused(refusal), Duration::ZERO)
}

/// An outcome without output.
pub fn bare(ending: Ending, startup: Duration) -> Outcome {
    Outcome {
        ending,
        stdout: Capture::default(),
        stderr: Capture::default(),
        result: None,
        session: SessionChanges::default(),
        session_problem: None,
        startup,
        duration: Duration::ZERO,
    }
}

/// The outcome of a call whose conversation took place. `lost` says how it ended where the markers are missing and
/// nobody killed it.
pub fn outcome(
    conclusion: Conclusion,
    timeout: Duration,
    given: &SessionBag,
    startup: Duration,
    lost: impl FnOnce() -> Ending,
) -> Outcome {
    let Conclusion { code, stop, stdout, stderr, duration } = conclusion;
    let ending = match (stop, code) {
        // It ended by itself while it was about to be killed.
        (Some(_), Some(code)) if !KILLED.contains(&code) => ending(code),
        (Some(Stop::TimedOut), _) => Ending::TimedOut(timeout),
        (Some(Stop::Cancelled), _) => Ending::Cancelled,
        (Some(Stop::OutOfMemory), _) => Ending::OutOfMemory,
        (None, Some(code)) => ending(code),
        (None, None) => lost(),
    };
    let succeeded = ending == Ending::Exited(0);
    let written =
        stderr.session.filter(|_| succeeded).map(|(form, section)| write_back::read(form, &section, given));
    let (session, session_problem) = match written {
        Some(Ok(changes)) => (changes, None),
        Some(Err(problem)) => (SessionChanges::default(), Some(problem)),
        None => (SessionChanges::default(), None),
    };
    Outcome {
        ending,
        stdout: stdout.output,
        stderr: stderr.output,
        result: stdout.result.filter(|_| succeeded),
        session,
        session_problem,
        startup,
        duration,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_certain_codes_are_signals() {
        for (code, expected) in [
            (0, Ending::Exited(0)),
            (3, Ending::Exited(3)),
            (128, Ending::Exited(128)),
            (129, Ending::Exited(129)),
            (130, Ending::Exited(130)),
            (137, Ending::Signaled(9)),
            (139, Ending::Signaled(11)),
            (152, Ending::Signaled(24)),
            (153, Ending::Signaled(25)),
            (255, Ending::Exited(255)),
            (-2, Ending::Signaled(2)),
        ] {
            assert_eq!(ending(code), expected);
        }
    }
}
