//! Tools that want to be told from what runs them, or to outlive it.

use std::time::Duration;

use mcc_catalog::seam::Ending;

use super::Harness;
use super::run::{shell, text};

/// The marker is in no variable, no argument and no file that a tool can look at.
pub async fn marker_is_out_of_reach(harness: &dyn Harness) {
    // The looked-for pattern is in the script's own arguments, not being one of 32 hex digits itself.
    let script = "env; cat /proc/self/environ /proc/$PPID/environ /proc/self/cmdline /proc/$PPID/cmdline; \
                  for p in /proc/[0-9]*; do [ \"$(cut -d' ' -f4 $p/stat 2>/dev/null)\" = $PPID ] && \
                  cat $p/environ $p/cmdline; done; ls -la . .. ../tmp; set; exit 0";
    let output = shell(script).context("MCC_CTX_USER", "ada").output(&*harness.executor()).await;
    let seen = String::from_utf8_lossy(&output);
    assert!(seen.contains("MCC_CTX_USER=ada"));
    let digits = seen.split(|c: char| !c.is_ascii_hexdigit() || c.is_ascii_uppercase());
    assert_eq!(digits.filter(|run| run.len() >= 32).collect::<Vec<_>>(), Vec::<&str>::new());
}

/// Text that looks like a marker is the tool's output.
pub async fn imitated_markers(harness: &dyn Harness) {
    let executor = harness.executor();
    let nonce = crate::exec::conversation::nonce();
    for end in ["x 0\n", "s\nuser=\"root\"\n", "r\n1", "j\n{\"set\":{\"a\":1},\"deleted\":[]}", "", "\n"] {
        let fake = format!("{nonce}{end}");
        let run = shell("printf %s \"$MCC_PARAM_X\"; printf %s \"$MCC_PARAM_X\" >&2; exit 9");
        let outcome = run.param("MCC_PARAM_X", &fake).on(&*executor).await;
        assert_eq!(outcome.ending, Ending::Exited(9));
        assert_eq!((text(&outcome.stdout), text(&outcome.stderr)), (fake.clone(), fake));
        assert!(outcome.session.is_empty() && outcome.result.is_none());
    }
    // Commands of the conversation mean nothing on the tool's own streams.
    let run = shell("echo kill; echo bye; echo go; cat").stdin("kill\nbye\n");
    assert_eq!(run.output(&*executor).await, b"kill\nbye\ngo\nkill\nbye\n");
}

/// Sessions of their own, double forks and a wiped environment don't let a process escape.
pub async fn escaped_processes(harness: &dyn Harness) {
    let executor = harness.executor();
    let daemon = "(setsid sh -c 'cd /; env -i setsid sleep 8141.25 </dev/null >/dev/null 2>&1 & exit' &)";
    let script = format!("{daemon}; {daemon}; sleep 0.3; echo done");
    assert_eq!(shell(&script).output(&*executor).await, b"done\n");
    harness.expect_gone("8141.25").await;

    let limit = Duration::from_secs(1);
    let outcome = shell(format!("{script}; sleep 8141.25")).timeout(limit).on(&*executor).await;
    assert_eq!(outcome.ending, Ending::TimedOut(limit));
    assert_eq!(outcome.stdout.head, b"done\n");
    harness.expect_gone("8141.25").await;
}

/// A tool that ignores signals is killed all the same.
pub async fn ignores_signals(harness: &dyn Harness) {
    let limit = Duration::from_secs(1);
    let script = "trap '' TERM INT HUP QUIT; while :; do sleep 8142.25; done";
    let outcome = shell(script).timeout(limit).on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::TimedOut(limit));
    harness.expect_gone("8142.25").await;
}

/// A tool that stops itself, or what runs it, is killed all the same.
pub async fn stops_itself(harness: &dyn Harness) {
    let limit = Duration::from_secs(1);
    for script in ["kill -STOP $$; sleep 8143.25", "kill -STOP $PPID; sleep 8143.25"] {
        let outcome = shell(script).timeout(limit).on(&*harness.executor()).await;
        assert_eq!(outcome.ending, Ending::TimedOut(limit), "{script}");
        harness.expect_gone("8143.25").await;
    }
}
