//! The source over an API server in memory.

use std::time::Duration;

use mcc_catalog::model::{NamespacedName, ObjectKind, ObjectRef, Reason};
use serde_json::json;

use super::*;
use crate::testing::{FakeApi, documents};

/// Generous: a loaded machine keeps it.
const PATIENCE: Duration = Duration::from_secs(20);

fn options() -> ClusterOptions {
    let tools = BTreeSet::from(["tools".to_owned()]);
    ClusterOptions { settings: CatalogSettings::cluster("catalog", tools), watch_misplaced: true }
}

fn apply(api: &FakeApi, yaml: &str) {
    for document in documents(yaml) {
        api.apply(document);
    }
}

const GROUP: &str = "
apiVersion: mcc.dev/v1alpha1
kind: ToolGroup
metadata: {name: geo, namespace: catalog}
spec: {allowedNamespaces: {from: All}}
";

fn tool(name: &str, description: &str) -> serde_json::Value {
    json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "Tool",
        "metadata": { "name": name, "namespace": "tools" },
        "spec": { "groups": ["geo"], "description": description, "shell": { "script": "true" } },
    })
}

#[expect(clippy::unwrap_used, clippy::expect_used, reason = "a helper of tests")]
async fn until(source: &ClusterSource, mut holds: impl FnMut(&Catalog) -> bool) -> Arc<Catalog> {
    let mut catalogs = source.subscribe();
    let found = tokio::time::timeout(PATIENCE, catalogs.wait_for(|catalog| holds(catalog))).await;
    found.expect("the catalog never came to be so").unwrap().clone()
}

#[tokio::test]
async fn the_first_catalog_is_whole_and_later_ones_follow() {
    let api = FakeApi::default();
    apply(&api, GROUP);
    (0..20).for_each(|number| api.apply(tool(&format!("t{number}"), "x")));
    let source = ClusterSource::start(&api.client(), options(), Arc::new(()));
    source.synced().await;
    let first = source.subscribe().borrow().clone();
    assert_eq!(first.tools.len(), 20);
    assert!(source.health().iter().all(|watch| watch.synced && watch.error.is_none()));

    api.apply(tool("t7", "changed"));
    api.apply(tool("new", "x"));
    api.delete("Tool", "tools", "t0");
    let next = until(&source, |catalog| {
        catalog.tools.len() == 20
            && catalog.tools.contains_key("geo.new")
            && !catalog.tools.contains_key("geo.t0")
    });
    let next = next.await;
    assert_eq!(next.tools["geo.t7"].description, "changed");
    assert!(Arc::ptr_eq(&next.tools["geo.t1"], &first.tools["geo.t1"]), "only what changed is compiled");

    api.delete("ToolGroup", "catalog", "geo");
    let without = until(&source, |catalog| catalog.tools.is_empty()).await;
    let object = ObjectRef::new(ObjectKind::Tool, NamespacedName::new("tools", "t1"));
    assert_eq!(without.verdicts[&object].problems[0].reason, Reason::GroupNotFound);
}

#[tokio::test]
async fn a_status_alone_publishes_nothing() {
    let api = FakeApi::default();
    apply(&api, GROUP);
    api.apply(tool("a", "x"));
    let source = ClusterSource::start(&api.client(), options(), Arc::new(()));
    source.synced().await;
    let mut catalogs = source.subscribe();
    catalogs.mark_unchanged();
    api.set_status("Tool", "tools", "a", json!({ "key": "geo.a" }));
    // What comes after it is the first news.
    api.apply(tool("b", "x"));
    tokio::time::timeout(PATIENCE, catalogs.changed()).await.unwrap().unwrap();
    let catalog = catalogs.borrow_and_update().clone();
    assert!(catalog.tools.contains_key("geo.b"));
}

#[tokio::test]
async fn a_server_that_goes_away_and_comes_back_loses_nothing() {
    let api = FakeApi::default();
    apply(&api, GROUP);
    api.apply(tool("a", "x"));
    api.apply(tool("b", "x"));
    let source = ClusterSource::start(&api.client(), options(), Arc::new(()));
    source.synced().await;
    api.set_down(true);
    let failing = async {
        while !source.health().iter().any(|watch| watch.error.is_some()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, failing).await.expect("the failure is told");
    assert_eq!(source.subscribe().borrow().tools.len(), 2, "everything stays meanwhile");
    api.apply(tool("c", "x"));
    api.apply(tool("b", "changed"));
    api.set_down(false);
    let catalog = until(&source, |catalog| catalog.tools.contains_key("geo.c")).await;
    let catalog = if catalog.tools["geo.b"].description == "changed" {
        catalog
    } else {
        until(&source, |catalog| catalog.tools["geo.b"].description == "changed").await
    };
    assert_eq!(catalog.tools.len(), 3);
}

#[tokio::test]
async fn a_grant_ends_at_its_time() {
    let api = FakeApi::default();
    apply(&api, GROUP);
    let end = Timestamp::now() + jiff::SignedDuration::from_millis(1500);
    api.apply(json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "UserGrant",
        "metadata": { "name": "g", "namespace": "catalog" },
        "spec": { "subject": { "name": "alice" }, "groups": ["geo"], "expiresAt": end.to_string() },
    }));
    let source = ClusterSource::start(&api.client(), options(), Arc::new(()));
    source.synced().await;
    let object = ObjectRef::new(ObjectKind::UserGrant, NamespacedName::new("catalog", "g"));
    let ended = |catalog: &Catalog| {
        catalog.verdicts[&object].problems.iter().any(|problem| problem.reason == Reason::GrantExpired)
    };
    assert!(Timestamp::now() >= end || !ended(&source.subscribe().borrow()));
    until(&source, ended).await;
    assert!(Timestamp::now() >= end);
}

#[tokio::test]
async fn selectors_follow_the_labels_of_namespaces() {
    let api = FakeApi::default();
    apply(
        &api,
        "
apiVersion: mcc.dev/v1alpha1
kind: ToolGroup
metadata: {name: geo, namespace: catalog}
spec: {allowedNamespaces: {from: Selector, selector: {matchLabels: {tools: welcome}}}}
",
    );
    api.apply(tool("a", "x"));
    let source = ClusterSource::start(&api.client(), options(), Arc::new(()));
    source.synced().await;
    assert!(source.subscribe().borrow().tools.is_empty());
    api.apply(json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "tools", "labels": { "tools": "welcome" } } }));
    until(&source, |catalog| catalog.tools.contains_key("geo.a")).await;
}

#[tokio::test]
async fn misplaced_objects_are_seen_where_that_is_asked_for() {
    for watch_misplaced in [true, false] {
        let api = FakeApi::default();
        api.apply(json!({
            "apiVersion": "mcc.dev/v1alpha1", "kind": "ToolGroup",
            "metadata": { "name": "geo", "namespace": "tools" }, "spec": {},
        }));
        let options = ClusterOptions { watch_misplaced, ..options() };
        let source = ClusterSource::start(&api.client(), options, Arc::new(()));
        source.synced().await;
        assert_eq!(source.subscribe().borrow().problems.len(), usize::from(watch_misplaced));
    }
}
