//! What the operator writes, request by request, over an API server in memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mcc_catalog::model::{ToolDocument, Visibility};
use mcc_catalog::seam::{Hit, IndexError, Query, ToolIndex};
use mcc_cluster::testing::{FakeApi, Write, documents};
use serde_json::{Value, json};

use crate::support::{Running, conditions, index, message, options, until};

const TOOL_READY: [&str; 3] = ["Accepted=True/Accepted", "Indexed=True/Indexed", "Ready=True/Ready"];

fn apply(api: &FakeApi, yaml: &str) {
    for document in documents(yaml) {
        api.apply(document);
    }
}

fn group(name: &str, from: &str) -> Value {
    json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "ToolGroup",
        "metadata": { "name": name, "namespace": "catalog" },
        "spec": { "allowedNamespaces": { "from": from } },
    })
}

fn tool(name: &str, groups: &[&str]) -> Value {
    json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "Tool",
        "metadata": { "name": name, "namespace": "tools" },
        "spec": { "groups": groups, "description": "Draws a map.", "shell": { "script": "true" } },
    })
}

fn grant(name: &str, groups: &[&str], tools: &[&str]) -> Value {
    json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "UserGrant",
        "metadata": { "name": name, "namespace": "catalog" },
        "spec": { "subject": { "name": "alice" }, "groups": groups, "tools": tools },
    })
}

fn start(api: &FakeApi, index: Arc<dyn ToolIndex>) -> Running {
    Running::start(api.client(), index, options("catalog", &["tools"]))
}

async fn becomes(api: &FakeApi, kind: &str, name: &str, expected: &[&str]) -> Value {
    let namespace = if kind == "Tool" { "tools" } else { "catalog" };
    let look = async || api.get(kind, namespace, name).unwrap_or_default();
    until(look, |object| {
        let seen = conditions(object);
        seen == expected && object["status"]["observedGeneration"] == object["metadata"]["generation"]
    })
    .await
}

/// The writes of statuses since this was last asked, Events left out.
fn statuses(api: &FakeApi) -> Vec<Write> {
    api.take_writes().into_iter().filter(|write| write.request.ends_with("/status")).collect()
}

async fn quiet() {
    tokio::time::sleep(Duration::from_millis(1500)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_gets_its_status_with_one_write_each_and_a_restart_writes_nothing() {
    let api = FakeApi::default();
    api.apply(group("geo", "All"));
    (0..300).for_each(|number| api.apply(tool(&format!("t{number}"), &["geo"])));
    api.apply(grant("alice", &["geo"], &[]));
    let index = index();
    let operator = start(&api, index.clone());
    for number in 0..300 {
        becomes(&api, "Tool", &format!("t{number}"), &TOOL_READY).await;
    }
    let geo = becomes(&api, "ToolGroup", "geo", &["Accepted=True/Accepted", "Ready=True/Ready"]).await;
    assert_eq!(geo["status"]["tools"], 300);
    let expected = ["Accepted=True/Accepted", "Ready=True/Ready", "ResolvedRefs=True/ResolvedRefs"];
    let alice = becomes(&api, "UserGrant", "alice", &expected).await;
    assert_eq!(alice["status"]["tools"], 300);
    assert_eq!(api.get("Tool", "tools", "t7").unwrap()["status"]["key"], "geo.t7");
    assert_eq!(index.len().await.unwrap(), 300);

    quiet().await;
    let writes = statuses(&api);
    assert_eq!(writes.len(), 302, "one write an object");
    let first = writes.iter().find(|write| write.request.contains("/tools/t7/")).unwrap();
    assert_eq!(first.request, "PATCH /apis/mcc.dev/v1alpha1/namespaces/tools/tools/t7/status");
    assert_eq!(first.body["kind"], "Tool");
    assert!(first.body["metadata"]["uid"].is_string());
    operator.stop().await;

    let again = start(&api, index);
    until(async || again.health.is_synced(), |synced| *synced).await;
    quiet().await;
    assert_eq!(statuses(&api).len(), 0, "a restart finds everything said");
    assert_eq!(again.health.status_writes(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_else_writes_into_a_status_is_put_right_once() {
    let api = FakeApi::default();
    api.apply(group("geo", "All"));
    api.apply(tool("map", &["geo"]));
    let _operator = start(&api, index());
    let before = becomes(&api, "Tool", "map", &TOOL_READY).await;
    quiet().await;
    statuses(&api);
    api.set_status("Tool", "tools", "map", json!({ "key": "stolen" }));
    let after = becomes(&api, "Tool", "map", &TOOL_READY).await;
    assert_eq!(after["status"]["key"], before["status"]["key"]);
    quiet().await;
    assert_eq!(statuses(&api).len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_are_told_and_heal() {
    let api = FakeApi::default();
    let _operator = start(&api, index());
    let refused = |reason: &str| {
        ["Accepted=False/", "Indexed=False/NotAccepted", "Ready=False/"].map(|condition| {
            if condition.ends_with('/') { format!("{condition}{reason}") } else { condition.to_owned() }
        })
    };
    let expect = async |name: &str, reason: &str| {
        let expected = refused(reason);
        becomes(&api, "Tool", name, &expected.each_ref().map(String::as_str)).await
    };

    // A group that isn't there.
    api.apply(tool("map", &["geo"]));
    let missing = expect("map", "GroupNotFound").await;
    let text = message(&missing, "Ready");
    assert!(text.starts_with("spec.groups[0]: there is no ToolGroup geo in namespace catalog; "), "{text}");
    assert!(missing["status"].get("key").is_none());
    // It is there, but doesn't want Tools of that namespace.
    api.apply(group("geo", "Same"));
    let text = message(&expect("map", "NamespaceNotAllowed").await, "Accepted");
    assert!(text.contains("set spec.allowedNamespaces of the ToolGroup"), "{text}");
    api.apply(group("geo", "All"));
    becomes(&api, "Tool", "map", &TOOL_READY).await;

    // Two Tools want one key: the younger names the holder, and gets it when that one goes.
    let mut second = tool("map-two", &["geo"]);
    second["spec"]["name"] = json!("map");
    api.apply(second);
    let text = message(&expect("map-two", "KeyConflict").await, "Accepted");
    assert!(text.contains("the key geo.map belongs to the Tool tools/map, which is older"), "{text}");
    api.delete("Tool", "tools", "map");
    let healed = becomes(&api, "Tool", "map-two", &TOOL_READY).await;
    assert_eq!(healed["status"]["key"], "geo.map");

    // The group goes.
    api.delete("ToolGroup", "catalog", "geo");
    expect("map-two", "GroupNotFound").await;

    let events: Vec<String> = api
        .take_writes()
        .into_iter()
        .filter(|write| write.request.starts_with("POST /apis/events.k8s.io/v1/"))
        .map(|write| format!("{} {}", write.body["type"], write.body["reason"]).replace('"', ""))
        .collect();
    for event in
        ["Warning GroupNotFound", "Warning NamespaceNotAllowed", "Normal Accepted", "Warning KeyConflict"]
    {
        assert!(events.iter().any(|seen| seen == event), "{event} is missing: {events:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_follow_their_targets_and_their_time() {
    let api = FakeApi::default();
    api.apply(group("geo", "All"));
    api.apply(grant("alice", &["geo", "gone"], &["geo.map"]));
    let _operator = start(&api, index());
    let unresolved = [
        "Accepted=True/Accepted",
        "Ready=False/GrantTargetNotFound",
        "ResolvedRefs=False/GrantTargetNotFound",
    ];
    let seen = becomes(&api, "UserGrant", "alice", &unresolved).await;
    assert_eq!(seen["status"]["tools"], 0);
    let text = message(&seen, "ResolvedRefs");
    assert!(text.contains("spec.groups[1]: ") && text.contains("spec.tools[0]: "), "{text}");

    api.apply(tool("map", &["geo"]));
    api.apply(group("gone", "All"));
    let ready = ["Accepted=True/Accepted", "Ready=True/Ready", "ResolvedRefs=True/ResolvedRefs"];
    becomes(&api, "UserGrant", "alice", &ready).await;
    let counted = async || api.get("UserGrant", "catalog", "alice").unwrap()["status"]["tools"].clone();
    until(counted, |tools| *tools == json!(1)).await;

    let mut ending = grant("alice", &["geo"], &[]);
    let end = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(3);
    ending["spec"]["expiresAt"] = json!(end.to_string());
    api.apply(ending.clone());
    becomes(&api, "UserGrant", "alice", &ready).await;
    let ended = ["Accepted=True/Accepted", "Ready=False/GrantExpired", "ResolvedRefs=True/ResolvedRefs"];
    let seen = becomes(&api, "UserGrant", "alice", &ended).await;
    assert_eq!(seen["status"]["tools"], 0);
    assert!(jiff::Timestamp::now() >= end);
    ending["spec"]["expiresAt"] = json!("2999-01-01T00:00:00Z");
    api.apply(ending);
    let seen = becomes(&api, "UserGrant", "alice", &ready).await;
    assert_eq!(seen["status"]["tools"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_cannot_be_read_is_told_so_once() {
    let api = FakeApi::default();
    apply(
        &api,
        "
apiVersion: mcc.dev/v1alpha1
kind: Tool
metadata: {name: bad, namespace: tools}
spec: {params: 7}
",
    );
    api.apply(tool("good", &["public"]));
    api.apply(group("public", "All"));
    let _operator = start(&api, index());
    let expected = ["Accepted=False/InvalidField", "Indexed=False/NotAccepted", "Ready=False/InvalidField"];
    let bad = becomes(&api, "Tool", "bad", &expected).await;
    assert!(message(&bad, "Ready").starts_with("the object can't be read: "), "{bad}");
    becomes(&api, "Tool", "good", &TOOL_READY).await;
    quiet().await;
    statuses(&api);
    // Nothing but the object's version changes.
    api.set_status("Tool", "tools", "bad", bad["status"].clone());
    quiet().await;
    assert_eq!(statuses(&api).len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_in_the_wrong_namespace_are_told_so() {
    let api = FakeApi::default();
    let mut misplaced = group("geo", "All");
    misplaced["metadata"]["namespace"] = json!("tools");
    api.apply(misplaced);
    let _operator = start(&api, index());
    let look = async || api.get("ToolGroup", "tools", "geo").unwrap();
    let expected = ["Accepted=False/OutsideCatalog", "Ready=False/OutsideCatalog"];
    let seen = until(look, |object| conditions(object) == expected).await;
    assert!(message(&seen, "Ready").contains("ToolGroups are taken from catalog; move it there"), "{seen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_api_server_that_goes_away_loses_nothing() {
    let api = FakeApi::default();
    api.apply(group("geo", "All"));
    api.apply(tool("one", &["geo"]));
    let _operator = start(&api, index());
    becomes(&api, "Tool", "one", &TOOL_READY).await;
    api.set_down(true);
    api.apply(tool("two", &["geo"]));
    api.apply(tool("one", &["geo", "lost"]));
    quiet().await;
    api.set_down(false);
    becomes(&api, "Tool", "two", &TOOL_READY).await;
    let expected = ["Accepted=False/GroupNotFound", "Indexed=False/NotAccepted", "Ready=False/GroupNotFound"];
    becomes(&api, "Tool", "one", &expected).await;
}

/// Works, hangs or fails.
struct Moody {
    inner: Arc<dyn ToolIndex>,
    mood: AtomicU8,
}

impl Moody {
    const WELL: u8 = 0;
    const HANGS: u8 = 1;
    const FAILS: u8 = 2;

    async fn answer(&self) -> Result<(), IndexError> {
        while self.mood.load(Ordering::SeqCst) == Self::HANGS {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        match self.mood.load(Ordering::SeqCst) {
            Self::FAILS => Err(IndexError::Unavailable("it is being repaired".to_owned())),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl ToolIndex for Moody {
    async fn replace(&self, documents: Vec<ToolDocument>) -> Result<(), IndexError> {
        self.answer().await?;
        self.inner.replace(documents).await
    }

    async fn update(&self, upserts: Vec<ToolDocument>, removals: Vec<String>) -> Result<(), IndexError> {
        self.answer().await?;
        self.inner.update(upserts, removals).await
    }

    async fn search(&self, query: &Query) -> Result<Vec<Hit>, IndexError> {
        self.inner.search(query).await
    }

    async fn len(&self) -> Result<usize, IndexError> {
        self.answer().await?;
        self.inner.len().await
    }

    async fn stored(&self) -> Result<BTreeMap<String, String>, IndexError> {
        self.answer().await?;
        self.inner.stored().await
    }

    async fn check(&self) -> Result<(), IndexError> {
        self.answer().await?;
        self.inner.check().await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_that_hangs_or_fails_is_told_of_and_heals() {
    let api = FakeApi::default();
    api.apply(group("geo", "All"));
    let index = Arc::new(Moody { inner: index(), mood: AtomicU8::new(Moody::WELL) });
    let _operator = start(&api, index.clone());
    api.apply(tool("one", &["geo"]));
    becomes(&api, "Tool", "one", &TOOL_READY).await;
    statuses(&api);

    index.mood.store(Moody::HANGS, Ordering::SeqCst);
    api.apply(tool("two", &["geo"]));
    let pending = ["Accepted=True/Accepted", "Indexed=Unknown/IndexPending", "Ready=Unknown/IndexPending"];
    becomes(&api, "Tool", "two", &pending).await;
    index.mood.store(Moody::FAILS, Ordering::SeqCst);
    let failed = ["Accepted=True/Accepted", "Indexed=False/IndexUnavailable", "Ready=False/IndexUnavailable"];
    let seen = becomes(&api, "Tool", "two", &failed).await;
    assert!(message(&seen, "Indexed").contains("it is being repaired; it is tried again"), "{seen}");
    index.mood.store(Moody::WELL, Ordering::SeqCst);
    becomes(&api, "Tool", "two", &TOOL_READY).await;
    let writes = statuses(&api);
    assert!(!writes.iter().any(|write| write.request.contains("/tools/one/")), "what is held stays held");
    assert_eq!(writes.iter().filter(|write| write.request.contains("/tools/two/")).count(), 3);

    let query = Query {
        text: "draw a map".to_owned(),
        min_score: None,
        limit: 9,
        visibility: Visibility::everything(),
    };
    let mut keys: Vec<String> = index.search(&query).await.unwrap().into_iter().map(|hit| hit.key).collect();
    keys.sort();
    assert_eq!(keys, ["geo.one", "geo.two"]);
}
