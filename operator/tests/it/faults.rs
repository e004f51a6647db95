//! Faults and their healing, and what people do with kubectl, on a real API server.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cluster::{Cluster, kubeconfig, manifests};
use crate::support::{Running, conditions, index, message, options, until};

const READY: [&str; 3] = ["Accepted=True/Accepted", "Indexed=True/Indexed", "Ready=True/Ready"];

fn group(name: &str, from: &str) -> Value {
    json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "ToolGroup", "metadata": { "name": name },
        "spec": { "allowedNamespaces": { "from": from } },
    })
}

fn tool(name: &str, groups: &[&str]) -> Value {
    json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "Tool", "metadata": { "name": name },
        "spec": { "groups": groups, "description": "Draws a map.", "shell": { "script": "true" } },
    })
}

fn start(cluster: &Cluster) -> Running {
    Running::start(cluster.client.clone(), index(), options(&cluster.catalog, &[&cluster.tools]))
}

async fn becomes(cluster: &Cluster, kind: &str, name: &str, expected: &[&str]) -> Value {
    until(
        async || cluster.get(kind, name).await,
        |object| {
            conditions(object) == expected
                && object["status"]["observedGeneration"] == object["metadata"]["generation"]
        },
    )
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_are_told_and_heal_on_the_cluster() {
    let Some(cluster) = Cluster::new("faults_are_told_and_heal_on_the_cluster").await else { return };
    let _operator = start(&cluster);
    let refused = |reason: &str| {
        [
            format!("Accepted=False/{reason}"),
            "Indexed=False/NotAccepted".to_owned(),
            format!("Ready=False/{reason}"),
        ]
    };
    let expect = async |name: &str, reason: &str| {
        becomes(&cluster, "Tool", name, &refused(reason).each_ref().map(String::as_str)).await
    };
    cluster.apply(&tool("map", &["geo"])).await.unwrap();
    let text = message(&expect("map", "GroupNotFound").await, "Ready");
    assert!(text.contains("declare a ToolGroup geo in namespace"), "{text}");
    cluster.apply(&group("geo", "Same")).await.unwrap();
    let text = message(&expect("map", "NamespaceNotAllowed").await, "Ready");
    assert!(text.contains(&format!("doesn't accept Tools of namespace {}", cluster.tools)), "{text}");
    cluster.apply(&group("geo", "All")).await.unwrap();
    becomes(&cluster, "Tool", "map", &READY).await;

    // Creation times have whole seconds.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let mut second = tool("a-map", &["geo"]);
    second["spec"]["name"] = json!("map");
    cluster.apply(&second).await.unwrap();
    let text = message(&expect("a-map", "KeyConflict").await, "Accepted");
    assert!(text.contains(&format!("belongs to the Tool {}/map, which is older", cluster.tools)), "{text}");
    cluster.delete("Tool", "map").await;
    becomes(&cluster, "Tool", "a-map", &READY).await;

    let ready = ["Accepted=True/Accepted", "Ready=True/Ready", "ResolvedRefs=True/ResolvedRefs"];
    let mut grant = json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "UserGrant", "metadata": { "name": "alice" },
        "spec": { "subject": { "kind": "User", "name": "alice" }, "groups": ["geo"], "expiresAt": "2020-01-01T00:00:00Z" },
    });
    cluster.apply(&grant).await.unwrap();
    let ended = ["Accepted=True/Accepted", "Ready=False/GrantExpired", "ResolvedRefs=True/ResolvedRefs"];
    let seen = becomes(&cluster, "UserGrant", "alice", &ended).await;
    assert!(message(&seen, "Ready").contains("the grant ended at 2020-01-01"), "{seen}");
    let end = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(4);
    grant["spec"]["expiresAt"] = json!(jiff::Timestamp::from_second(end.as_second()).unwrap().to_string());
    cluster.apply(&grant).await.unwrap();
    let seen = becomes(&cluster, "UserGrant", "alice", &ready).await;
    assert_eq!(seen["status"]["tools"], 1);
    becomes(&cluster, "UserGrant", "alice", &ended).await;
    cluster.remove().await;
}

fn kubectl(kubeconfig: &Path, arguments: &[&str]) -> (bool, String) {
    let output = Command::new("kubectl").env("KUBECONFIG", kubeconfig).args(arguments).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn kubectl_explains_lists_and_waits() {
    let name = "kubectl_explains_lists_and_waits";
    let Some(cluster) = Cluster::new(name).await else { return };
    if Command::new("kubectl").arg("version").arg("--client").output().is_err() {
        println!("skipped: {name}: no kubectl");
        return;
    }
    let kubeconfig = kubeconfig(name).unwrap();
    let _operator = start(&cluster);
    cluster.apply(&group("geo", "All")).await.unwrap();
    cluster.apply(&tool("map", &["geo"])).await.unwrap();

    let (well, said) = kubectl(&kubeconfig, &["explain", "tool.spec.shell"]);
    assert!(well && said.contains("script") && said.contains("image"), "{said}");
    let wait = ["wait", "--for=condition=Ready", "tool/map", "-n", &cluster.tools, "--timeout=60s"];
    let (well, said) = kubectl(&kubeconfig, &wait);
    assert!(well && said.contains("condition met"), "{said}");
    let (well, said) = kubectl(&kubeconfig, &["get", "tools,tg,ug", "-n", &cluster.tools]);
    assert!(well, "{said}");
    let columns: Vec<&str> = said.lines().next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(columns, ["NAME", "KEY", "READY", "REASON", "AGE"]);
    let row: Vec<&str> = said.lines().nth(1).unwrap_or_default().split_whitespace().collect();
    assert_eq!(row[..4], ["tool.mcc.dev/map", "geo.map", "True", "Ready"]);
    let selected =
        ["get", "tools", "-n", &cluster.tools, "--field-selector", "status.key=geo.map", "-o", "name"];
    assert_eq!(kubectl(&kubeconfig, &selected), (true, "tool.mcc.dev/map\n".to_owned()));
    cluster.remove().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_applies_and_becomes_ready() {
    let Some(first) = Cluster::new("every_example_applies_and_becomes_ready").await else { return };
    for folder in ["examples/quickstart", "examples/gitops"] {
        let cluster = Cluster::with_namespaces(first.client.clone()).await;
        let _operator = start(&cluster);
        let ours = |document: &Value| document["apiVersion"] == "mcc.dev/v1alpha1";
        let documents: Vec<Value> = manifests(folder).into_iter().filter(ours).collect();
        assert!(!documents.is_empty());
        for mut document in documents {
            // Into this test's namespaces; a namespace that isn't given is the catalog's.
            let namespace = match document["metadata"]["namespace"].as_str() {
                Some("mcc-tools") => &cluster.tools,
                _ => &cluster.catalog,
            };
            document["metadata"]["namespace"] = json!(namespace);
            if let Err(error) = cluster.apply(&document).await {
                panic!("{folder}: {}: {error}", document["metadata"]["name"]);
            }
        }
        let ready = |objects: &Vec<Value>| {
            objects
                .iter()
                .all(|object| conditions(object).iter().any(|condition| condition == "Ready=True/Ready"))
        };
        until(async || cluster.all().await, ready).await;
        cluster.remove().await;
    }
    first.remove().await;
}

/// Nothing happens, so nothing is written: ten minutes with 1 000 Tools for the full count.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_operator_writes_nothing() {
    let Some(cluster) = Cluster::new("an_idle_operator_writes_nothing").await else { return };
    let full = std::env::var_os("MCC_FULL").is_some();
    let (tools, time) = if full { (1000, Duration::from_secs(600)) } else { (50, Duration::from_secs(5)) };
    cluster.apply(&group("geo", "All")).await.unwrap();
    for number in 0..tools {
        cluster.apply(&tool(&format!("t{number}"), &["geo"])).await.unwrap();
    }
    let operator = start(&cluster);
    let ready = |objects: &Vec<Value>| {
        objects
            .iter()
            .all(|object| conditions(object).iter().any(|condition| condition == "Ready=True/Ready"))
    };
    until(async || cluster.all().await, ready).await;
    let counted = async || cluster.get("ToolGroup", "geo").await["status"]["tools"].clone();
    until(counted, |count| *count == json!(tools)).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let before = operator.health.status_writes();
    tokio::time::sleep(time).await;
    assert_eq!(operator.health.status_writes(), before);
    cluster.remove().await;
}
