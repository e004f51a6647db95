//! What the table believes.

use mcc_catalog::model::NamespacedName;

use super::*;
use crate::queue::queues;

fn observed(version: &str, uid: &str, key: Option<&str>) -> Observed {
    Observed {
        object: object(),
        uid: uid.to_owned(),
        resource_version: version.to_owned(),
        generation: 1,
        status: Some(Status { key: key.map(str::to_owned), ..Status::default() }),
    }
}

fn object() -> ObjectRef {
    ObjectRef::new(ObjectKind::Tool, NamespacedName::new("n", "t"))
}

fn status(key: &str) -> Status {
    Status { key: Some(key.to_owned()), ..Status::default() }
}

fn table() -> (Table, crate::queue::Inboxes) {
    let (queues, inboxes) = queues();
    queues.set_open(true);
    (Table::new(queues), inboxes)
}

fn key(table: &Table) -> Option<String> {
    table.get(&object()).unwrap().status().unwrap().key.clone()
}

#[tokio::test]
async fn what_was_written_counts_before_the_watch_says_so_and_echoes_are_no_news() {
    let (table, mut inboxes) = table();
    table.seen(observed("10", "u", None));
    assert!(inboxes.tools.try_recv().is_ok());
    table.wrote(&object(), "u", "12".to_owned(), status("k"));
    assert_eq!(key(&table).as_deref(), Some("k"));
    // An older version that was under way, then the echo of the write.
    table.seen(observed("11", "u", None));
    assert_eq!(key(&table).as_deref(), Some("k"));
    table.seen(observed("12", "u", Some("k")));
    assert!(inboxes.tools.try_recv().is_err());
    // Somebody else's change.
    table.seen(observed("13", "u", Some("other")));
    assert!(inboxes.tools.try_recv().is_ok());
}

#[tokio::test]
async fn a_new_object_of_the_same_name_has_nothing_of_the_old_one() {
    let (table, mut inboxes) = table();
    table.seen(observed("10", "old", None));
    table.wrote(&object(), "old", "20".to_owned(), status("k"));
    table.seen(observed("15", "new", None));
    assert_eq!(key(&table), None);
    table.wrote(&object(), "old", "21".to_owned(), status("late"));
    assert_eq!(key(&table), None);
    assert!(inboxes.tools.try_recv().is_ok() && inboxes.tools.try_recv().is_ok());
    table.gone(&object());
    assert!(table.get(&object()).is_none());
}

#[tokio::test]
async fn of_an_object_that_cannot_be_read_the_last_write_counts() {
    let (table, _inboxes) = table();
    table.seen(Observed { status: None, ..observed("10", "u", None) });
    assert!(table.get(&object()).unwrap().status().is_none());
    table.wrote(&object(), "u", "11".to_owned(), status("k"));
    assert_eq!(key(&table).as_deref(), Some("k"));
    table.seen(Observed { status: None, ..observed("11", "u", None) });
    assert_eq!(key(&table).as_deref(), Some("k"));
}
