use std::time::Duration;

use serde_json::json;

use super::*;
use crate::seam::{Refusal, SessionChanges};

fn outcome(ending: Ending, stdout: &str, stderr: &str) -> Outcome {
    Outcome {
        ending,
        stdout: whole(stdout.as_bytes()),
        stderr: whole(stderr.as_bytes()),
        result: None,
        session: SessionChanges::default(),
        session_problem: None,
        startup: Duration::ZERO,
        duration: Duration::ZERO,
    }
}

fn whole(bytes: &[u8]) -> Capture {
    Capture { head: bytes.to_vec(), tail: Vec::new(), total: bytes.len() as u64 }
}

fn text(ending: Ending, stdout: &str, stderr: &str) -> String {
    let answer = answer(&outcome(ending, stdout, stderr), "mcc-1", 1000);
    assert!(answer.is_error);
    answer.text
}

#[test]
fn success_is_stdout_byte_for_byte() {
    for stdout in ["", "5\n", " [1,  2]\n\n", "null", "{\"b\":1,\"a\":1.0}", "tab\tcr\r\nü😀"] {
        let answer = answer(&outcome(Ending::Exited(0), stdout, "noise"), "mcc-1", 1000);
        assert_eq!((answer.text.as_str(), answer.is_error, answer.cut), (stdout, false, false));
    }
    let answer = answer(&outcome(Ending::Exited(0), " {\"b\": [1]}\n", ""), "mcc-1", 1000);
    assert_eq!(answer.structured, Some(json!({ "b": [1] }).as_object().unwrap().clone()));
}

#[test]
fn a_python_tools_value() {
    for (result, text, structured) in [
        ("\"a \\\"b\\\"\\n\"", "a \"b\"\n", false),
        ("\"\\u001b[1mbold\\u001b[0m\"", "bold", false),
        ("{\"a\": 1}", "{\"a\": 1}", true),
        ("[]", "[]", false),
        ("null", "null", false),
        ("\"{\\\"a\\\": 1}\"", "{\"a\": 1}", true),
    ] {
        let outcome =
            Outcome { result: Some(whole(result.as_bytes())), ..outcome(Ending::Exited(0), "printed", "") };
        let answer = answer(&outcome, "mcc-1", 1000);
        assert_eq!((answer.text.as_str(), answer.structured.is_some()), (text, structured), "{result}");
    }
}

#[test]
fn failures() {
    insta::assert_snapshot!(text(Ending::Exited(3), "out\n", "é \"x\"\n"), @r#"[3, "out\n", "é \"x\"\n"]"#);
    insta::assert_snapshot!(text(Ending::TimedOut(Duration::from_secs(30)), "part", ""), @r#"[-1, "part", "timeout after 30s: the tool was killed at its time limit; ask for less, or raise limits.timeoutSeconds"]"#);
    insta::assert_snapshot!(text(Ending::TimedOut(Duration::from_millis(1500)), "", "log"), @r#"[-1, "", "timeout after 1.5s: the tool was killed at its time limit; ask for less, or raise limits.timeoutSeconds\nlog"]"#);
    insta::assert_snapshot!(text(Ending::OutOfMemory, "", ""), @r#"[-1, "", "out of memory: the tool was killed at its memory limit; ask for less, or raise limits.memory"]"#);
    insta::assert_snapshot!(text(Ending::Signaled(9), "", ""), @r#"[-9, "", "killed by signal 9 (SIGKILL)"]"#);
    insta::assert_snapshot!(text(Ending::Signaled(24), "", ""), @r#"[-24, "", "killed by signal 24 (SIGXCPU): cpu time exceeded, see limits.cpuSeconds"]"#);
    insta::assert_snapshot!(text(Ending::Cancelled, "", ""), @"cancelled: the tool was killed before it finished");
    let refusal = Refusal { reason: "no image".to_owned(), fix: "set one".to_owned(), transient: false };
    insta::assert_snapshot!(text(Ending::Refused(refusal), "", ""), @"the tool did not run: no image; set one");
    let refusal = Refusal { reason: "64 calls are running".to_owned(), fix: String::new(), transient: true };
    insta::assert_snapshot!(text(Ending::Refused(refusal), "", ""), @"the tool did not run: 64 calls are running; try again later");
    insta::assert_snapshot!(text(Ending::Unknown("the node is gone".to_owned()), "", ""), @"it is not known how the tool ended: the node is gone; it may have run and is not repeated by itself");
}

#[test]
fn what_is_cut_is_named_and_where_to_read_it() {
    let capture = Capture { head: b"0123456789".to_vec(), tail: b"abcdefghij".to_vec(), total: 1000 };
    let (text, cut) = bounded(&capture, "mcc-7", 100);
    assert!(cut);
    insta::assert_snapshot!(text, @r"
    0123456789
    [… 980 of 1000 bytes left out; read them at catalog://executions/mcc-7/output?offset=10 …]
    abcdefghij
    ");
    let (text, cut) = bounded(&whole("x".repeat(300).as_bytes()), "mcc-7", 100);
    assert!(cut && text.starts_with(&format!("{}\n[… 200 of 300 bytes", "x".repeat(50))), "{text}");
    assert_eq!(bounded(&whole(&[b'x'; 100]), "mcc-7", 100), ("x".repeat(100), false));
}

#[test]
fn cuts_never_split_a_character() {
    for limit in 0..40 {
        let (text, cut) = bounded(&whole("ä😀日".repeat(10).as_bytes()), "mcc-7", limit);
        assert!(cut && !text.contains('\u{fffd}'), "{limit}: {text}");
    }
    let halves =
        Capture { head: "ä".as_bytes()[..1].to_vec(), tail: "ä".as_bytes()[1..].to_vec(), total: 2 };
    assert_eq!(bounded(&halves, "mcc-7", 10), ("ä".to_owned(), false));
}

#[test]
fn invalid_utf8_and_terminal_sequences() {
    assert_eq!(clean(b"a\xffb\xe2\x82"), "a\u{fffd}b\u{fffd}");
    for (given, kept) in [
        ("\u{1b}[31;1mred\u{1b}[0m", "red"),
        ("\u{1b}]0;title\u{7}text", "text"),
        ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
        ("\u{1b}Pdcs\u{1b}\\x", "x"),
        ("\u{9b}31mred\u{9d}title\u{9c}x", "redx"),
        ("\u{1b}(Bx\u{1b}=y\u{1b}Mz", "xyz"),
        ("a\u{8}b\u{7}c\u{0}d\u{7f}e", "abcde"),
        ("line\r\n\tend", "line\r\n\tend"),
        ("\u{1b}[?25l\u{1b}[2K\u{1b}[1Gx", "x"),
        // What never ends hides nothing.
        ("\u{1b}]unfinished\nnext", "unfinished\nnext"),
        ("\u{1b}[12", "12"),
        ("\u{1b}", ""),
        ("\u{1b}\u{1b}[1mx", "x"),
        ("\u{1b}é", "é"),
    ] {
        assert_eq!(strip_ansi(given), kept, "{given:?}");
    }
}

#[test]
fn many_unfinished_sequences_cost_no_more_than_their_length() {
    // Quadratic, this would take minutes.
    let text = "\u{9d}a".repeat(200_000);
    assert_eq!(strip_ansi(&text).len(), 200_000);
    let text = "\u{1b}[1".repeat(200_000);
    assert_eq!(strip_ansi(&text).len(), 200_000);
}

proptest::proptest! {
    #[test]
    fn clean_text_stays_as_it_is(text in "[^\\p{Cc}]*") {
        proptest::prop_assert_eq!(strip_ansi(&text), text);
    }

    #[test]
    fn any_bytes_become_text_without_controls(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let text = clean(&bytes);
        proptest::prop_assert!(text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\t' | '\r')));
        proptest::prop_assert_eq!(clean(text.as_bytes()), text);
    }
}
