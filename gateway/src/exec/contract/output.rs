//! What comes out of a run.

use std::time::Duration;

use mcc_catalog::seam::Ending;

use super::Harness;
use super::run::{shell, text};

/// Standard output and error don't mix.
pub async fn streams_apart(harness: &dyn Harness) {
    let outcome = shell("echo a; echo b >&2; echo c").on(&*harness.executor()).await;
    assert_eq!(outcome.stdout.head, b"a\nc\n");
    assert_eq!(outcome.stderr.head, b"b\n");
    assert_eq!(outcome.result, None);
}

/// No byte is added to or taken from the end.
pub async fn no_newline_at_the_end(harness: &dyn Harness) {
    let executor = harness.executor();
    for expected in ["x", "x\n", "x\n\n", "\n", " "] {
        let outcome = shell("printf %s \"$MCC_PARAM_X\"; printf %s \"$MCC_PARAM_X\" >&2");
        let outcome = outcome.param("MCC_PARAM_X", expected).on(&*executor).await;
        assert_eq!(text(&outcome.stdout), expected);
        assert_eq!(text(&outcome.stderr), expected);
    }
}

/// Bytes that are no text come out as they are.
pub async fn bytes_as_they_are(harness: &dyn Harness) {
    let script = "i=0; while [ $i -lt 256 ]; do printf \"\\\\$(printf %03o $i)\"; i=$((i+1)); done";
    let expected: Vec<u8> = (0..=255).collect();
    assert_eq!(shell(script).output(&*harness.executor()).await, expected);
    let outcome = shell("printf '\\377\\376\\000' >&2").on(&*harness.executor()).await;
    assert_eq!(outcome.stderr.head, [255, 254, 0]);
}

/// However much a tool writes, what is kept is bounded, and the tool isn't held up.
pub async fn fifty_megabytes(harness: &dyn Harness) {
    let peak_before = peak_memory();
    let run = shell("yes 0123456789abcde | head -c 50000000; yes err | head -c 5000000 >&2; exit 3");
    let outcome = run.on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::Exited(3), "{}", text(&outcome.stderr));
    assert_eq!((outcome.stdout.total, outcome.stderr.total), (50_000_000, 5_000_000));
    assert_eq!(outcome.stdout.head.len() + outcome.stdout.tail.len(), 262_144);
    assert!(outcome.stdout.head.capacity() + outcome.stdout.tail.capacity() < 1 << 20);
    assert_eq!(outcome.stdout.dropped(), 50_000_000 - 262_144);
    // Other tests of this process have memory too: told by nextest, or by a test that starts this one alone.
    if ["NEXTEST", "MCC_TEST_ALONE"].iter().any(|name| std::env::var_os(name).is_some()) {
        let grown = peak_memory().saturating_sub(peak_before);
        assert!(grown < 20_000_000, "memory grew by {grown} bytes");
    }
}

/// Largest resident memory of this process so far, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    line.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Of too much output the beginning and the end are kept.
pub async fn head_and_tail(harness: &dyn Harness) {
    let run =
        shell("printf begin; head -c 100000 /dev/zero; printf end").limits(|limits| limits.output_bytes = 20);
    let capture = run.on(&*harness.executor()).await.stdout;
    assert_eq!(capture.head, b"begin\0\0\0\0\0");
    assert_eq!(capture.tail, b"\0\0\0\0\0\0\0end");
    assert_eq!(capture.total, 100_008);
}

/// Nothing printed is nothing returned.
pub async fn silent_tool(harness: &dyn Harness) {
    for script in ["", ":", "# nothing", "\n\n"] {
        let outcome = shell(script).on(&*harness.executor()).await;
        assert_eq!(outcome.ending, Ending::Exited(0));
        assert_eq!((outcome.stdout.total, outcome.stderr.total), (0, 0));
    }
}

/// A tool may close any of its streams.
pub async fn tool_closes_its_streams(harness: &dyn Harness) {
    for script in
        ["exec >&- 2>&- <&-; exit 4", "exec 0<&-; exec 1>&-; sleep 0.1; exit 4", "exec 2>&-; exit 4"]
    {
        assert_eq!(shell(script).on(&*harness.executor()).await.ending, Ending::Exited(4));
    }
    let outcome = shell("echo a; exec >&-; echo b; echo c >&2").on(&*harness.executor()).await;
    assert_eq!(outcome.stdout.head, b"a\n");
    assert!(text(&outcome.stderr).ends_with("c\n"));
}

/// A child in the background that keeps the streams open doesn't hold up the answer, and doesn't outlive it.
pub async fn background_child_keeps_stdout(harness: &dyn Harness) {
    let executor = harness.executor();
    let started = std::time::Instant::now();
    assert_eq!(shell("sleep 8131.25 & echo done").output(&*executor).await, b"done\n");
    assert_eq!(shell("setsid sleep 8131.25 & echo done").output(&*executor).await, b"done\n");
    assert!(started.elapsed() < Duration::from_secs(60), "waited for the child");
    harness.expect_gone("8131.25").await;
}

/// Calls don't mix, however many there are.
pub async fn many_at_once(harness: &dyn Harness) {
    let executor = harness.executor();
    let calls = (0..64).map(|number| {
        let executor = executor.clone();
        tokio::spawn(async move {
            let run = shell(
                "cat; echo \"$MCC_PARAM_N\"; echo \"err $MCC_PARAM_N\" >&2; sleep 0.05; exit $MCC_PARAM_N",
            );
            let run = run.stdin(format!("in {number}\n")).param("MCC_PARAM_N", number.to_string());
            (number, run.on(&*executor).await)
        })
    });
    for call in futures::future::join_all(calls).await {
        let (number, outcome) = call.unwrap();
        assert_eq!(outcome.ending, Ending::Exited(number));
        assert_eq!(text(&outcome.stdout), format!("in {number}\n{number}\n"));
        assert_eq!(text(&outcome.stderr), format!("err {number}\n"));
    }
}
