//! What goes into a run.

use mcc_catalog::seam::Ending;
use serde_json::json;

use super::Harness;
use super::run::{shell, text};

/// The floor is below what the Tool declares, and the caller's values are above everything.
pub async fn environment_precedence(harness: &dyn Harness) {
    let env = json!([
        {"name": "MCC_CTX_USER", "value": "forged"},
        {"name": "MCC_CTX_FORGED", "value": "forged"},
        {"name": "MCC_PARAM_X", "value": "forged"},
        {"name": "OWN", "value": "own $(FROM_SECRET)"},
    ]);
    let env_from = json!([{"secretRef": {"name": "keys"}}]);
    let secret = json!({"MCC_CTX_USER": "forged", "FROM_SECRET": "$(OWN)", "HOME": "/secret/home"});
    let script = "echo \"$MCC_CTX_USER|$MCC_PARAM_X|${MCC_CTX_FORGED-unset}|$OWN|$HOME|${PATH:+set}\"";
    let run =
        shell(script).env(env, env_from, secret).param("MCC_PARAM_X", "x").context("MCC_CTX_USER", "ada");
    let output = run.output(&*harness.executor()).await;
    assert_eq!(String::from_utf8_lossy(&output), "ada|x|unset|own $(OWN)|/secret/home|set\n");
}

/// Keys of a Secret, with a prefix, and optional ones that aren't there.
pub async fn variables_from_secrets(harness: &dyn Harness) {
    let env = json!([
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "token"}}},
        {"name": "NONE", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "none", "optional": true}}},
    ]);
    let env_from = json!([{"prefix": "P_", "secretRef": {"name": "keys"}}]);
    let run =
        shell("echo \"$TOKEN $P_token ${NONE-unset}\"").env(env, env_from, json!({"token": "t'\"$(x)"}));
    assert_eq!(run.output(&*harness.executor()).await, b"t'\"$(x) t'\"$(x) unset\n");
}

/// A Secret that isn't there is in the way, by name.
pub async fn missing_secret_is_refused(harness: &dyn Harness) {
    let env = json!([{"name": "T", "valueFrom": {"secretKeyRef": {"name": "absent", "key": "k"}}}]);
    let run = shell("echo ran").env(env, json!([]), json!({}));
    match run.on(&*harness.executor()).await.ending {
        Ending::Refused(refusal) => {
            assert!(refusal.reason.contains("absent"), "{refusal:?}");
            assert!(!refusal.fix.is_empty());
        }
        other => panic!("{other:?}"),
    }
}

/// Every character, control characters and astral ones included, in variables and on standard input.
pub async fn all_bytes_arrive(harness: &dyn Harness) {
    let executor = harness.executor();
    let mut value: String = (1..=255u8).map(char::from).collect();
    value.push_str("'\\''\"$(id)`id`${HOME}\n\n𝔘\u{10ffff}\u{e000}\r\n");
    let run = shell("printf %s \"$MCC_PARAM_X\"; printf %s \"$MCC_CTX_X\" >&2").param("MCC_PARAM_X", &value);
    let outcome = run.context("MCC_CTX_X", &value).on(&*executor).await;
    assert_eq!(text(&outcome.stdout), value);
    assert_eq!(text(&outcome.stderr), value);
    let bytes: Vec<u8> = (1..=255).cycle().take(4000).collect();
    assert_eq!(shell("cat").stdin(bytes.clone()).output(&*executor).await, bytes);
    // The script itself.
    let script = format!("printf %s '{}'", value.replace('\'', "'\\''"));
    assert_eq!(String::from_utf8_lossy(&shell(script).output(&*executor).await), value);
}

/// Values as large as the kernel takes.
pub async fn large_values(harness: &dyn Harness) {
    let executor = harness.executor();
    let value = "x'\n".repeat(34_000);
    let run = shell("printf %s \"$MCC_PARAM_A\"; printf %s \"$MCC_CTX_B\" >&2");
    let run = run.param("MCC_PARAM_A", &value).context("MCC_CTX_B", &value);
    let outcome = run.limits(|limits| limits.output_bytes = 1 << 20).on(&*executor).await;
    assert_eq!(outcome.ending, Ending::Exited(0), "{}", text(&outcome.stderr));
    assert!(text(&outcome.stdout) == value && text(&outcome.stderr) == value);
    let most = "y".repeat(131_072 - "MCC_PARAM_A=".len() - 1);
    let run = shell("printf %s \"${#MCC_PARAM_A}\"").param("MCC_PARAM_A", &most);
    assert_eq!(run.output(&*executor).await, most.len().to_string().into_bytes());
}

/// Beyond that nothing is run, and the answer says what to do.
pub async fn too_large_values_are_refused(harness: &dyn Harness) {
    let executor = harness.executor();
    let value = "y".repeat(131_072);
    for run in [
        shell("echo ran").param("MCC_PARAM_A", &value),
        shell("echo ran").context("MCC_CTX_A", &value),
        shell(format!("echo ran # {value}")),
        shell("echo ran").param("MCC_PARAM_A", "nul\0"),
        shell("echo ran\0"),
    ] {
        let outcome = run.on(&*executor).await;
        match outcome.ending {
            Ending::Refused(refusal) => assert!(!refusal.fix.is_empty()),
            other => panic!("{other:?}"),
        }
        assert_eq!(outcome.stdout.total, 0);
    }
    // What the tool reads on standard input needs no variable.
    let run = shell("wc -c; echo ${MCC_PARAM_A-unset}").param("MCC_PARAM_A", &value).stdin(value.as_str());
    assert_eq!(run.output(&*executor).await, b"131072\nunset\n");
}

/// Five megabytes in and out.
pub async fn stdin_is_read(harness: &dyn Harness) {
    let executor = harness.executor();
    let bytes: Vec<u8> = (1..=251).cycle().take(5_000_000).collect();
    let run = shell("cat").stdin(bytes.clone()).limits(|limits| limits.output_bytes = 6_000_000);
    assert!(run.output(&*executor).await == bytes);
    assert_eq!(shell("cat").stdin("").output(&*executor).await, b"");
    assert_eq!(shell("cat").stdin("no newline").output(&*executor).await, b"no newline");
}

/// Five megabytes that nobody reads, or that are closed after a bit.
pub async fn stdin_is_not_read(harness: &dyn Harness) {
    let executor = harness.executor();
    let bytes = vec![b'x'; 5_000_000];
    for script in ["exit 6", "exec <&-; sleep 0.1; exit 6", "head -c 10; exit 6"] {
        let outcome = shell(script).stdin(bytes.clone()).on(&*executor).await;
        assert_eq!(outcome.ending, Ending::Exited(6), "{script}");
        assert_eq!(text(&outcome.stderr), "", "{script}");
    }
}

/// Without input there is the end of input, never the server's own.
pub async fn no_stdin(harness: &dyn Harness) {
    assert_eq!(shell("cat; echo end").output(&*harness.executor()).await, b"end\n");
}
