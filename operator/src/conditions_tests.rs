//! Conditions by themselves.

use mcc_catalog::model::Place;

use super::*;

fn problem(severity: Severity, reason: Reason, path: &str, fix: &str) -> Problem {
    Problem {
        severity,
        reason,
        object: None,
        place: None::<Place>,
        path: path.to_owned(),
        message: "it is wrong".to_owned(),
        fix: fix.to_owned(),
    }
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[test]
fn the_first_error_is_the_reason_and_all_errors_are_in_the_message() {
    let verdict = Verdict {
        accepted: false,
        key: None,
        problems: vec![
            problem(Severity::Error, Reason::GroupNotFound, "spec.groups[0]", "declare it"),
            problem(Severity::Error, Reason::InvalidParameter, "", ""),
            problem(Severity::Warning, Reason::Suspicious, "spec.x", ""),
        ],
    };
    let draft = accepted(&verdict, "Tool");
    assert_eq!((draft.holds, draft.reason.as_str()), (Holds::False, "GroupNotFound"));
    assert_eq!(draft.message, "spec.groups[0]: it is wrong; declare it. it is wrong");
}

#[test]
fn a_warning_alone_refuses_only_what_counts_for_nothing() {
    let problems = vec![problem(Severity::Warning, Reason::OutsideCatalog, "metadata.namespace", "move it")];
    let outside = accepted(&Verdict { accepted: false, key: None, problems }, "UserGrant");
    assert_eq!((outside.holds, outside.reason.as_str()), (Holds::False, "OutsideCatalog"));
    let problems = vec![problem(Severity::Warning, Reason::Suspicious, "spec.x", "")];
    let taken = accepted(&Verdict { accepted: true, key: None, problems }, "Tool");
    assert_eq!((taken.holds, taken.reason.as_str()), (Holds::True, "Accepted"));
    assert_eq!(taken.message, "the Tool is part of the catalog; spec.x: it is wrong");
}

#[test]
fn a_time_changes_only_with_the_status() {
    let first = dated(vec![Draft::new(READY, Holds::False, "A", "a")], &[], 1, at(100));
    assert_eq!(first[0].last_transition_time.0, at(100));
    let same = dated(vec![Draft::new(READY, Holds::False, "B", "b")], &first, 2, at(200));
    assert_eq!((same[0].last_transition_time.0, same[0].observed_generation), (at(100), Some(2)));
    assert_eq!((same[0].reason.as_str(), same[0].message.as_str()), ("B", "b"));
    let flipped = dated(vec![Draft::new(READY, Holds::True, "B", "b")], &same, 2, at(300));
    assert_eq!(flipped[0].last_transition_time.0, at(300));
}

#[test]
fn times_are_whole_seconds_as_the_api_server_keeps_them() {
    let now = Timestamp::new(7, 999_999_999).unwrap();
    let dated = dated(vec![Draft::new(READY, Holds::True, "R", "")], &[], 1, now);
    assert_eq!(dated[0].last_transition_time.0, at(7));
}

#[test]
fn long_messages_are_cut_between_characters() {
    let text = cut("ß".repeat(3000), LONGEST);
    assert!(text.len() <= LONGEST && text.ends_with('…'));
    assert_eq!(cut("short".to_owned(), LONGEST), "short");
}
