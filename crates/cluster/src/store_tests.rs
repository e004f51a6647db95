//! What a store makes of what watches bring.

use std::sync::Mutex;

use mcc_catalog::compile::{CatalogSettings, compile};
use mcc_catalog::model::{ObjectKind, ObjectRef};
use mcc_crds::v1alpha1::{Tool, UserGrant};
use serde_json::{Value, json};

use super::*;
use crate::Observed;

/// Notes what it is told.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn seen(&self, observed: Observed) {
        let Observed { object, uid, resource_version, generation, status } = observed;
        let status = match status {
            Some(status) => format!("{} conditions", status.conditions.len()),
            None => "unreadable".to_owned(),
        };
        let note = format!("{object} {uid} v{resource_version} g{generation} {status}");
        self.0.lock().unwrap().push(note);
    }

    fn gone(&self, object: &ObjectRef) {
        self.0.lock().unwrap().push(format!("{object} gone"));
    }
}

impl Notes {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn guard<K: Watched>(value: Value) -> DeserializeGuard<K> {
    serde_json::from_value(value).unwrap()
}

fn raw(name: &str, generation: i64, version: u64, spec: &Value, status: &Value) -> Value {
    json!({
        "apiVersion": "mcc.dev/v1alpha1",
        "kind": "Tool",
        "metadata": {
            "name": name, "namespace": "t", "uid": format!("u-{name}"),
            "generation": generation, "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-01-01T00:00:00Z", "annotations": { "a": "b" },
        },
        "spec": spec,
        "status": status,
    })
}

fn tool(name: &str, generation: i64, version: u64) -> DeserializeGuard<Tool> {
    let spec = json!({ "description": format!("g{generation}"), "shell": { "script": "true" } });
    guard(raw(name, generation, version, &spec, &json!({})))
}

fn names(store: &Store) -> Vec<String> {
    store.objects().tools.keys().map(|name| name.name.clone()).collect()
}

#[test]
fn a_listing_replaces_what_was_there_only_when_it_is_whole() {
    let (mut store, notes) = (Store::default(), Notes::default());
    store.apply::<Tool>(0, Some("t"), Event::Init, &notes);
    store.apply::<Tool>(0, Some("t"), Event::InitApply(tool("a", 1, 1)), &notes);
    store.apply::<Tool>(0, Some("t"), Event::InitApply(tool("b", 1, 2)), &notes);
    store.apply::<Tool>(0, Some("t"), Event::InitDone, &notes);
    assert!(store.take_changed());
    assert_eq!(names(&store), ["a", "b"]);
    notes.take();

    // While it lists again nothing is missing; what the listing doesn't bring goes at its end.
    store.apply::<Tool>(0, Some("t"), Event::Init, &notes);
    assert_eq!(names(&store), ["a", "b"]);
    store.apply::<Tool>(0, Some("t"), Event::InitApply(tool("b", 1, 2)), &notes);
    assert_eq!(names(&store), ["a", "b"]);
    assert!(!store.take_changed());
    store.apply::<Tool>(0, Some("t"), Event::InitDone, &notes);
    assert_eq!(names(&store), ["b"]);
    assert!(store.take_changed());
    assert_eq!(notes.take(), ["Tool t/b u-b v2 g1 0 conditions", "Tool t/a gone"]);
}

#[test]
fn the_listing_of_one_namespace_leaves_the_others_alone() {
    let (mut store, notes) = (Store::default(), Notes::default());
    store.apply::<Tool>(0, Some("t"), Event::Apply(tool("a", 1, 1)), &notes);
    for event in [Event::<DeserializeGuard<Tool>>::Init, Event::InitDone] {
        store.apply::<Tool>(1, Some("other"), event, &notes);
    }
    assert_eq!(names(&store), ["a"]);
}

#[test]
fn a_status_is_no_change_and_a_generation_is() {
    let (mut store, notes) = (Store::default(), Notes::default());
    store.apply::<Tool>(0, None, Event::Apply(tool("a", 1, 1)), &notes);
    assert!(store.take_changed());
    let before = store.objects();

    let condition = json!({
        "type": "Ready", "status": "True", "reason": "Ready", "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    });
    let spec = json!({ "description": "g1", "shell": { "script": "true" } });
    let status = json!({ "conditions": [condition] });
    store.apply::<Tool>(0, None, Event::Apply(guard::<Tool>(raw("a", 1, 2, &spec, &status))), &notes);
    assert!(!store.take_changed());
    assert!(Arc::ptr_eq(&before, &store.objects()), "nothing is copied for a status");
    assert_eq!(notes.take(), ["Tool t/a u-a v1 g1 0 conditions", "Tool t/a u-a v2 g1 1 conditions"]);

    store.apply::<Tool>(0, None, Event::Apply(tool("a", 2, 3)), &notes);
    assert!(store.take_changed());
    assert!(!Arc::ptr_eq(&before, &store.objects()));
    let tool = &store.objects().tools[&NamespacedName::new("t", "a")].object;
    assert_eq!(tool.metadata.generation, Some(2));
    assert_eq!(tool.status, None);
}

#[test]
fn what_cannot_be_read_is_reported_and_hurts_only_itself() {
    let (mut store, notes) = (Store::default(), Notes::default());
    let bad = || guard::<Tool>(raw("bad", 3, 9, &json!({ "params": 7 }), &json!({})));
    store.apply::<Tool>(0, None, Event::Apply(tool("good", 1, 1)), &notes);
    store.apply::<Tool>(0, None, Event::Apply(bad()), &notes);
    assert!(store.take_changed());
    store.apply::<Tool>(0, None, Event::Apply(bad()), &notes);
    assert!(!store.take_changed(), "it is the same as before");
    assert_eq!(names(&store), ["good"]);
    assert_eq!(notes.take()[1], "Tool t/bad u-bad v9 g3 unreadable");

    let settings = CatalogSettings::cluster("t", std::collections::BTreeSet::new());
    let mut catalog = compile(store.objects(), &settings, None);
    store.report_invalid(&mut catalog);
    let object = ObjectRef::new(ObjectKind::Tool, NamespacedName::new("t", "bad"));
    let verdict = &catalog.verdicts[&object];
    assert!(!verdict.accepted);
    assert!(verdict.problems[0].to_string().contains("can't be read: "), "{}", verdict.problems[0]);
    assert_eq!(catalog.problems, verdict.problems);
    assert!(catalog.tools.contains_key("good"));

    // It heals by being corrected, and goes by being deleted.
    store.apply::<Tool>(0, None, Event::Apply(tool("bad", 4, 10)), &notes);
    assert!(store.take_changed());
    assert_eq!(names(&store), ["bad", "good"]);
    store.apply::<Tool>(0, None, Event::Apply(bad()), &notes);
    assert_eq!(names(&store), ["good"]);
    store.apply::<Tool>(0, None, Event::Delete(bad()), &notes);
    let mut catalog = compile(store.objects(), &settings, None);
    store.report_invalid(&mut catalog);
    assert!(catalog.problems.is_empty());
}

#[test]
fn an_unreadable_object_that_a_listing_misses_is_gone() {
    let (mut store, notes) = (Store::default(), Notes::default());
    let bad = guard::<UserGrant>(json!({ "metadata": { "name": "g", "namespace": "t" }, "spec": [] }));
    store.apply::<UserGrant>(0, Some("t"), Event::Apply(bad), &notes);
    assert!(store.take_changed());
    for event in [Event::<DeserializeGuard<UserGrant>>::Init, Event::InitDone] {
        store.apply::<UserGrant>(0, Some("t"), event, &notes);
    }
    assert!(store.take_changed());
    assert_eq!(notes.take().last().unwrap(), "UserGrant t/g gone");
}

#[test]
fn labels_of_namespaces_count_and_nothing_else_of_them() {
    let mut store = Store::default();
    let namespace = |labels: Value, version: &str| -> PartialObjectMeta<Namespace> {
        serde_json::from_value(json!({
            "metadata": { "name": "t", "labels": labels, "resourceVersion": version }
        }))
        .unwrap()
    };
    store.apply_namespace(Event::Apply(namespace(json!({ "team": "a" }), "1")));
    assert!(store.take_changed());
    store.apply_namespace(Event::Apply(namespace(json!({ "team": "a" }), "2")));
    assert!(!store.take_changed());
    store.apply_namespace(Event::Apply(namespace(json!({ "team": "b" }), "3")));
    assert!(store.take_changed());
    assert_eq!(store.objects().namespaces["t"]["team"], "b");
    store.apply_namespace(Event::Init);
    store.apply_namespace(Event::InitDone);
    assert!(store.take_changed());
    assert!(store.objects().namespaces.is_empty());
}
