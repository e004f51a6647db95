//! How runs end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcc_catalog::seam::{Ending, Progress, ProgressSink, Stage};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Harness;
use super::run::{Run, container, shell, text};

async fn ending(harness: &dyn Harness, run: Run) -> Ending {
    run.on(&*harness.executor()).await.ending
}

/// The tool's exit code is the run's.
pub async fn exit_codes(harness: &dyn Harness) {
    for code in [0, 1, 2, 42, 97, 126, 128, 129, 130, 255] {
        assert_eq!(ending(harness, shell(format!("exit {code}"))).await, Ending::Exited(code));
    }
}

/// Death by a signal is told from an exit where that is certain.
pub async fn signals(harness: &dyn Harness) {
    for (name, number) in [("KILL", 9), ("SEGV", 11), ("TERM", 15), ("ABRT", 6)] {
        assert_eq!(ending(harness, shell(format!("kill -{name} $$"))).await, Ending::Signaled(number));
    }
    // Of a child, the shell's own exit code tells.
    let script = "sh -c 'kill -SEGV $$'; exit $?";
    assert_eq!(ending(harness, shell(script)).await, Ending::Signaled(11));
}

/// A program that isn't there is 127 with the shell's message.
pub async fn not_found(harness: &dyn Harness) {
    let outcome = shell("no-such-program-anywhere").on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::Exited(127));
    assert!(text(&outcome.stderr).contains("not found"));
    assert_eq!(ending(harness, shell("/etc/passwd")).await, Ending::Exited(126));
}

/// A script that can't be read is the tool's failure.
pub async fn syntax_error(harness: &dyn Harness) {
    for script in ["if true; then echo x", "echo 'open", ")", "}", "}\necho out", "{ echo x", "case x in"] {
        let outcome = shell(script).on(&*harness.executor()).await;
        assert_eq!(outcome.ending, Ending::Exited(2), "{script}");
        assert!(!outcome.stderr.head.is_empty());
    }
}

/// A script may replace itself.
pub async fn exec_replaces_the_shell(harness: &dyn Harness) {
    let executor = harness.executor();
    assert_eq!(shell("exec echo hello").output(&*executor).await, b"hello\n");
    assert_eq!(ending(harness, shell("exec sh -c 'exit 5'")).await, Ending::Exited(5));
    assert_eq!(ending(harness, shell("exec false")).await, Ending::Exited(1));
}

/// A tool that kills itself, its group, or traps.
pub async fn kills_itself(harness: &dyn Harness) {
    assert_eq!(ending(harness, shell("kill -9 $$; sleep 100")).await, Ending::Signaled(9));
    assert_eq!(ending(harness, shell("kill -9 0; sleep 100")).await, Ending::Signaled(9));
    assert_eq!(ending(harness, shell("kill -9 -$$; sleep 100")).await, Ending::Signaled(9));
    assert_eq!(ending(harness, shell("trap 'exit 7' TERM; kill $$; sleep 100")).await, Ending::Exited(7));
}

/// A tool that kills what runs it is killed too and said to be.
pub async fn kills_its_parent(harness: &dyn Harness) {
    for (signal, number) in [("KILL", 9), ("TERM", 15)] {
        let script = format!("kill -{signal} $PPID; sleep 8123.25");
        assert_eq!(ending(harness, shell(script)).await, Ending::Signaled(number));
        harness.expect_gone("8123.25").await;
    }
}

/// At the time limit everything goes, and what was printed is kept.
pub async fn time_out_kills_grandchildren(harness: &dyn Harness) {
    let limit = Duration::from_secs(1);
    let script =
        "sh -c 'sleep 8124.25 & sleep 8124.25 & wait' & (sleep 8124.25 | sleep 8124.25) & sleep 8124.25";
    assert_eq!(ending(harness, shell(script).timeout(limit)).await, Ending::TimedOut(limit));
    harness.expect_gone("8124.25").await;
}

/// What a tool printed before it was killed is returned.
pub async fn time_out_keeps_partial_output(harness: &dyn Harness) {
    let limit = Duration::from_secs(1);
    let run = shell("printf out; printf err >&2; sleep 100; echo never").timeout(limit);
    let outcome = run.on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::TimedOut(limit));
    assert_eq!((outcome.stdout.head.as_slice(), outcome.stderr.head.as_slice()), (&b"out"[..], &b"err"[..]));
    assert!(outcome.duration >= limit);
}

/// A cancelled call ends, with all of its processes.
pub async fn cancel_ends_soon(harness: &dyn Harness) {
    let (executor, cancel) = (harness.executor(), CancellationToken::new());
    let call = tokio::spawn({
        let cancel = cancel.clone();
        let invocation = shell("echo begun; sleep 8125.25 & sleep 8125.25").invocation();
        async move { executor.execute(invocation, &(), cancel).await }
    });
    harness.expect_running("8125.25").await;
    cancel.cancel();
    let outcome = call.await.unwrap();
    assert_eq!(outcome.ending, Ending::Cancelled);
    assert_eq!(outcome.stdout.head, b"begun\n");
    harness.expect_gone("8125.25").await;
}

/// A call that was cancelled before it began runs nothing.
pub async fn cancel_before_the_start(harness: &dyn Harness) {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let invocation = shell("echo x").invocation();
    let outcome = harness.executor().execute(invocation, &(), cancel).await;
    assert_eq!(outcome.ending, Ending::Cancelled);
    assert_eq!(outcome.stdout.total, 0);
}

/// Dropping the future kills as a cancel does.
pub async fn dropping_the_future_kills(harness: &dyn Harness) {
    let executor = harness.executor();
    let invocation = shell("setsid sleep 8126.25 & sleep 8126.25").invocation();
    let call = tokio::spawn(async move { executor.execute(invocation, &(), CancellationToken::new()).await });
    harness.expect_running("8126.25").await;
    call.abort();
    harness.expect_gone("8126.25").await;
}

/// The bound of CPU time shows as SIGXCPU.
pub async fn cpu_limit(harness: &dyn Harness) {
    let run = shell("while :; do :; done").limits(|limits| limits.cpu_seconds = Some(1));
    assert_eq!(ending(harness, run).await, Ending::Signaled(24));
}

/// The bound of file size shows as SIGXFSZ.
pub async fn file_limit(harness: &dyn Harness) {
    let run = shell("exec head -c 100000 /dev/zero > file").limits(|limits| limits.file_bytes = Some(4096));
    let outcome = run.on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::Signaled(25), "{}", text(&outcome.stderr));
}

/// The bound of memory holds for all processes of the tool together.
pub async fn memory_limit(harness: &dyn Harness) {
    let hog = "python3 -c 'import time; x = bytearray(48 << 20); time.sleep(100)'";
    let run = shell(format!("{hog} & {hog}")).limits(|limits| limits.memory = Some("64Mi".into()));
    assert_eq!(ending(harness, run).await, Ending::OutOfMemory);
    let run = shell("true").limits(|limits| limits.memory = Some("64Mi".into()));
    assert_eq!(ending(harness, run).await, Ending::Exited(0));
}

/// The bound of open files holds in the tool and not in what runs it.
pub async fn open_files_limit(harness: &dyn Harness) {
    let run = shell("ulimit -n").limits(|limits| limits.open_files = Some(17));
    assert_eq!(run.output(&*harness.executor()).await, b"17\n");
    let run = shell("exec 3<&0; echo ok").limits(|limits| limits.open_files = Some(4));
    assert_eq!(run.output(&*harness.executor()).await, b"ok\n");
}

#[derive(Default)]
struct Steps(Mutex<Vec<Progress>>);

impl ProgressSink for Steps {
    fn report(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress);
    }
}

/// The steps are told in order, each with a message.
pub async fn progress_is_told(harness: &dyn Harness) {
    let steps = Arc::new(Steps::default());
    let outcome =
        harness.executor().execute(shell("sleep 0.2").invocation(), &*steps, CancellationToken::new()).await;
    let steps = steps.0.lock().unwrap();
    let stages: Vec<Stage> = steps.iter().map(|step| step.stage).filter(|&s| s != Stage::Pending).collect();
    assert_eq!(stages, [Stage::Starting, Stage::Running]);
    assert!(steps.iter().all(|step| !step.message.is_empty()));
    assert!(outcome.duration >= Duration::from_millis(200));
    assert!(outcome.startup > Duration::ZERO);
}

/// A container's command runs without a shell between its words, or is refused with what to do.
pub async fn container_command(harness: &dyn Harness) {
    let executor = harness.executor();
    let words = ["a b", "$HOME", "'", "\"", "*", "", "$$(HOME)", "$(HOME)", "$$$$"];
    let outcome = container(&["printf", "[%s]"], &words).on(&*executor).await;
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert_eq!(outcome.stdout.head, b"[a b][$HOME]['][\"][*][][$(HOME)][$(HOME)][$$]");
    let env = json!([{"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}}}]);
    let run = container(&["printf", "[%s]"], &["--key=$(TOKEN)", "$$(TOKEN)", "$TOKEN"]);
    let outcome = run.env(env, json!([]), json!({"token": "t '$$"})).on(&*executor).await;
    assert_eq!(outcome.stdout.head, b"[--key=t '$$][$(TOKEN)][$TOKEN]");
    for run in [container(&[], &["x"]), container(&["/no/such/program"], &[])] {
        match run.on(&*executor).await.ending {
            Ending::Refused(refusal) => assert!(!refusal.reason.is_empty() && !refusal.fix.is_empty()),
            other => panic!("{other:?}"),
        }
    }
}
