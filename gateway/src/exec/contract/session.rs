//! What shell tools write for the session.

use mcc_catalog::seam::Ending;
use serde_json::{Value, json};

use super::Harness;
use super::run::shell;

/// Lines `name=<JSON>` are changes; what is the same as before is none.
pub async fn session_lines(harness: &dyn Harness) {
    let script = "echo 'same=1' >> \"$MCC_SESSION\"; echo 'new={\"k\": [1, \"x\"]}' >> \"$MCC_SESSION\"; \
                  echo 'gone=' >> \"$MCC_SESSION\"; printf 'text=\"no newline\"' >> \"$MCC_SESSION\"; echo out";
    let run = shell(script).session(json!({"same": 1, "gone": true, "kept": "k"}));
    let outcome = run.on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert_eq!(Value::Object(outcome.session.set), json!({"new": {"k": [1, "x"]}, "text": "no newline"}));
    assert_eq!(outcome.session.deleted, ["gone"]);
    assert_eq!(outcome.session_problem, None);
    assert_eq!((outcome.stdout.head.as_slice(), outcome.stderr.total), (&b"out\n"[..], 0));
}

/// A tool that fails changes nothing.
pub async fn session_only_on_success(harness: &dyn Harness) {
    let outcome = shell("echo a=1 > \"$MCC_SESSION\"; exit 1").on(&*harness.executor()).await;
    assert_eq!(outcome.ending, Ending::Exited(1));
    assert!(outcome.session.is_empty());
    // Neither does one that leaves something else in its place.
    for script in ["mkdir \"$MCC_SESSION\"", "ln -s /dev/zero \"$MCC_SESSION\"", "mkfifo \"$MCC_SESSION\""] {
        let outcome = shell(script).on(&*harness.executor()).await;
        assert_eq!((outcome.ending, outcome.session.is_empty()), (Ending::Exited(0), true));
    }
}

/// One line that can't be read voids all, and the answer says which.
pub async fn session_that_cannot_be_read(harness: &dyn Harness) {
    for (script, problem) in [
        ("printf 'a=1\\nb=text\\n' > \"$MCC_SESSION\"", "line 2"),
        ("head -c 3000000 /dev/zero > \"$MCC_SESSION\"", "512 KiB"),
    ] {
        let outcome = shell(script).on(&*harness.executor()).await;
        assert_eq!(outcome.ending, Ending::Exited(0));
        assert!(outcome.session.is_empty());
        assert!(outcome.session_problem.unwrap().contains(problem));
    }
}
