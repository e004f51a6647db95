//! What every session store has to do, run against each.

use std::sync::Arc;

use mcc_catalog::seam::{SessionBag, SessionChanges, SessionKey, SessionStore};
use serde_json::{Value, json};

/// The key of a scratchpad.
pub(crate) fn key(principal: &str, handle: &str) -> SessionKey {
    SessionKey { catalog: "c".into(), principal: principal.into(), handle: handle.into() }
}

/// The change that sets one value.
pub(crate) fn set(name: &str, value: Value) -> SessionChanges {
    SessionChanges { set: SessionBag::from_iter([(name.to_owned(), value)]), deleted: Vec::new() }
}

/// Checks a store. It has to be empty, and is not at the end.
pub(crate) async fn holds(store: Arc<dyn SessionStore>) {
    values_keep_their_type_and_their_owner(&*store).await;
    a_change_is_applied_whole_or_not_at_all(&*store).await;
    bounds_hold_for_the_whole(&*store).await;
    writers_of_different_names_all_win(store).await;
}

async fn values_keep_their_type_and_their_owner(store: &dyn SessionStore) {
    let owner = key("alice", "types");
    for value in [json!(null), json!(false), json!(1.5), json!("é\n"), json!({"b": [1, null], "a": {}})] {
        store.apply(&owner, &set("project", value.clone())).await.unwrap();
        assert_eq!(store.load(&owner).await.unwrap()["project"], value);
    }
    for other in [key("bob", "types"), key("alice", "other"), key("anonymous", "types")] {
        assert!(store.load(&other).await.unwrap().is_empty());
    }
    let delete = SessionChanges { set: SessionBag::new(), deleted: vec!["project".into(), "never".into()] };
    store.apply(&owner, &delete).await.unwrap();
    assert!(store.load(&owner).await.unwrap().is_empty());
    store.apply(&owner, &set("x", json!(1))).await.unwrap();
    store.delete(&owner).await.unwrap();
    store.delete(&owner).await.unwrap();
    assert!(store.load(&owner).await.unwrap().is_empty());
}

async fn a_change_is_applied_whole_or_not_at_all(store: &dyn SessionStore) {
    let owner = key("alice", "whole");
    store.apply(&owner, &set("kept", json!(1))).await.unwrap();
    let mut changes = set("fine", json!(2));
    changes.set.insert("huge".to_owned(), json!("x".repeat(40_000)));
    let error = store.apply(&owner, &changes).await.unwrap_err();
    assert!(error.to_string().contains("huge"), "{error}");
    assert_eq!(store.load(&owner).await.unwrap(), SessionBag::from_iter([("kept".to_owned(), json!(1))]));
}

async fn bounds_hold_for_the_whole(store: &dyn SessionStore) {
    let owner = key("alice", "bounds");
    for n in 0..16 {
        let full = store.apply(&owner, &set(&format!("n{n}"), json!("x".repeat(32_000)))).await;
        assert!(full.is_ok(), "{n}: {full:?}");
    }
    assert!(store.apply(&owner, &set("one_more", json!("x".repeat(32_000)))).await.is_err());
    assert_eq!(store.load(&owner).await.unwrap().len(), 16);
}

async fn writers_of_different_names_all_win(store: Arc<dyn SessionStore>) {
    let mut writers = tokio::task::JoinSet::new();
    for n in 0..64 {
        let store = store.clone();
        writers
            .spawn(async move { store.apply(&key("alice", "race"), &set(&format!("n{n}"), json!(n))).await });
    }
    while let Some(done) = writers.join_next().await {
        done.unwrap().unwrap();
    }
    assert_eq!(store.load(&key("alice", "race")).await.unwrap().len(), 64);
}
