//! What is news.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use k8s_openapi::jiff::Timestamp;

use super::*;

fn condition(kind: &str, status: &str, reason: &str) -> Condition {
    Condition {
        type_: kind.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: String::new(),
        observed_generation: None,
        last_transition_time: Time(Timestamp::UNIX_EPOCH),
    }
}

#[test]
fn refusals_and_healing_are_news_and_a_good_start_is_none() {
    let yes = condition(ACCEPTED, "True", "Accepted");
    let no = condition(ACCEPTED, "False", "GroupNotFound");
    assert_eq!(news(None, &yes), None);
    assert_eq!(news(None, &no), Some(EventType::Warning));
    assert_eq!(news(Some(&no), &no), None);
    assert_eq!(news(Some(&no), &condition(ACCEPTED, "False", "KeyConflict")), Some(EventType::Warning));
    assert_eq!(news(Some(&no), &yes), Some(EventType::Normal));
    assert_eq!(news(Some(&yes), &yes), None);
}

#[test]
fn each_fault_is_told_once() {
    let away = condition(INDEXED, "False", reason::INDEX_UNAVAILABLE);
    assert_eq!(news(None, &away), None);
    assert_eq!(news(None, &condition(INDEXED, "False", reason::INDEX_REFUSED)), Some(EventType::Warning));
    assert_eq!(news(None, &condition(RESOLVED_REFS, "False", reason::NOT_ACCEPTED)), None);
    let ended = condition(READY, "False", "GrantExpired");
    assert_eq!(news(Some(&condition(READY, "True", "Ready")), &ended), Some(EventType::Warning));
    assert_eq!(news(None, &condition(READY, "False", "GroupNotFound")), None);
}
