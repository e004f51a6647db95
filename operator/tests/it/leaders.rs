//! Two operators, of which one writes.

use std::time::{Duration, Instant};

use mcc_catalog::seam::ToolIndex;
use mcc_operator::{LeaseOptions, OperatorOptions};
use serde_json::json;

use crate::cluster::{Cluster, client, kubeconfig};
use crate::support::{Running, conditions, index, options, until};

fn candidate(cluster: &Cluster, name: &str) -> OperatorOptions {
    let lease = LeaseOptions {
        namespace: cluster.catalog.clone(),
        name: "mcc-operator".to_owned(),
        identity: name.to_owned(),
    };
    OperatorOptions {
        lease: Some(lease),
        identity: name.to_owned(),
        ..options(&cluster.catalog, &[&cluster.tools])
    }
}

async fn leads(operator: &Running) {
    until(async || operator.health.is_leader(), |leads| *leads).await;
}

/// Changes go on while leaders die; at the end everything is as the last change says.
#[tokio::test(flavor = "multi_thread")]
async fn a_standby_takes_over_from_a_dead_leader_and_loses_nothing() {
    let name = "a_standby_takes_over_from_a_dead_leader_and_loses_nothing";
    let Some(cluster) = Cluster::new(name).await else { return };
    let kubeconfig = kubeconfig(name).unwrap();
    let full = std::env::var_os("MCC_FULL").is_some();
    let (deaths, changes) = if full { (5, 500) } else { (1, 60) };
    let index = index();
    let start = async |number: usize| {
        let options = candidate(&cluster, &format!("operator-{number}"));
        Running::start(client(&kubeconfig).await, index.clone(), options)
    };
    cluster
        .apply(&json!({
            "apiVersion": "mcc.dev/v1alpha1", "kind": "ToolGroup", "metadata": { "name": "geo" },
            "spec": { "allowedNamespaces": { "from": "All" } },
        }))
        .await
        .unwrap();
    let mut leader = start(0).await;
    leads(&leader).await;
    let mut standby = start(1).await;
    until(async || standby.health.is_synced(), |synced| *synced).await;
    assert!(!standby.health.is_leader());

    let change = async |number: usize| {
        let tool = json!({
            "apiVersion": "mcc.dev/v1alpha1", "kind": "Tool",
            "metadata": { "name": format!("t{}", number % 40) },
            "spec": { "groups": ["geo"], "description": format!("Change {number}."), "shell": { "script": "true" } },
        });
        cluster.apply(&tool).await.unwrap();
    };
    let mut longest = Duration::ZERO;
    let mut number = 0;
    for death in 0..deaths {
        for _ in 0..changes / (deaths + 1) {
            change(number).await;
            number += 1;
        }
        // Its task is aborted: it lets go of nothing.
        drop(leader);
        let died = Instant::now();
        leads(&standby).await;
        longest = longest.max(died.elapsed());
        leader = standby;
        standby = start(2 + death).await;
    }
    while number < changes {
        change(number).await;
        number += 1;
    }
    let ready = |objects: &Vec<serde_json::Value>| {
        objects.iter().all(|object| {
            conditions(object).iter().any(|condition| condition == "Ready=True/Ready")
                && object["status"]["observedGeneration"] == object["metadata"]["generation"]
        })
    };
    until(async || cluster.all().await, ready).await;
    assert_eq!(index.len().await.unwrap(), 40);
    assert_eq!(standby.health.status_writes(), 0, "a standby writes nothing");
    println!("longest time without a leader: {longest:?}");

    // One that ends in good order lets go of the Lease at once.
    leader.stop().await;
    leads(&standby).await;
    cluster.remove().await;
}
