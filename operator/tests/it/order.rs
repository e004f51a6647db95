//! Order doesn't matter: whatever happens in whatever order, with an operator killed now and then, the end is that of a
//! clean apply of what is left.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use mcc_catalog::model::Visibility;
use mcc_catalog::seam::{Query, ToolIndex};
use mcc_index::MemoryIndex;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::support::{Running, conditions, index, options, until};

/// Deterministic random numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn one_in(&mut self, number: u64) -> bool {
        self.below(number) == 0
    }

    fn some<'a>(&mut self, of: &[&'a str]) -> Vec<&'a str> {
        let mut chosen: Vec<&str> = of.iter().copied().filter(|_| self.one_in(2)).collect();
        if self.one_in(2) {
            chosen.reverse();
        }
        chosen
    }
}

fn object(random: &mut Random) -> Value {
    let (kind, name, spec) = match random.below(10) {
        0..6 => {
            let number = random.below(8);
            let mut groups = random.some(&["a", "b", "c"]);
            if groups.is_empty() {
                groups.push("a");
            }
            let script = if random.one_in(6) { "echo {{ nothing }}" } else { "true" };
            let spec = json!({
                "name": format!("n{}", number % 4), "groups": groups,
                "description": format!("Tool of variant {}.", random.below(4)), "shell": { "script": script },
            });
            ("Tool", format!("t{number}"), spec)
        }
        6..8 => {
            let from = if random.one_in(3) { "Same" } else { "All" };
            // Not {}: the API server makes null of an empty map that takes the place of another, and refuses that.
            let defaults = json!({ "image": if random.one_in(2) { "x/y:1" } else { "x/y:2" } });
            let name = ["a", "b", "c"][usize::try_from(random.below(3)).unwrap()];
            (
                "ToolGroup",
                name.to_owned(),
                json!({ "allowedNamespaces": { "from": from }, "defaults": defaults }),
            )
        }
        _ => {
            let spec = json!({
                "subject": { "kind": "User", "name": "alice" }, "groups": random.some(&["a", "b", "a.b.*", "admin"]),
                "tools": random.some(&["a.n0", "b.n1", "ghost"]),
            });
            ("UserGrant", format!("u{}", random.below(3)), spec)
        }
    };
    json!({ "apiVersion": "mcc.dev/v1alpha1", "kind": kind, "metadata": { "name": name }, "spec": spec })
}

type Id = (String, String);

fn id(object: &Value) -> Id {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&object["kind"]), text(&object["metadata"]["name"]))
}

/// Creation times have whole seconds, and the older Tool keeps the key: no two Tools are created in one.
async fn apart(object: &Value, exists: bool) {
    if object["kind"] == "Tool" && !exists {
        tokio::time::sleep(Duration::from_millis(1050)).await;
    }
}

/// What there is to see: conditions with messages, keys and counts by object; keys in the index; answers of a search.
async fn end_state(cluster: &Cluster, index: &MemoryIndex) -> Vec<String> {
    let mut seen = Vec::new();
    for object in cluster.settled().await {
        let mut said = format!("{:?} {:?}", id(&object), conditions(&object));
        for condition in object["status"]["conditions"].as_array().into_iter().flatten() {
            let _ = write!(said, " [{}: {}]", condition["type"], condition["message"]);
        }
        let status = &object["status"];
        let _ = write!(said, " key={} tools={}", status["key"], status["tools"]);
        // The longer name first: the shorter one begins it.
        seen.push(said.replace(&cluster.tools, "TOOLS").replace(&cluster.catalog, "CATALOG"));
    }
    seen.sort();
    seen.push(format!("{} documents", index.len().await.unwrap()));
    for text in ["tool of variant 1", "n2", "a.n0"] {
        let query =
            Query { text: text.to_owned(), min_score: None, limit: 20, visibility: Visibility::everything() };
        let hits = index.search(&query).await.unwrap();
        let hits: Vec<String> = hits.iter().map(|hit| format!("{} {:.2}", hit.key, hit.score)).collect();
        seen.push(format!("{text}: {hits:?}"));
    }
    seen
}

fn start(cluster: &Cluster, index: &Arc<MemoryIndex>) -> Running {
    Running::start(cluster.client.clone(), index.clone(), options(&cluster.catalog, &[&cluster.tools]))
}

/// A random history; gives what is left, in the order of creation.
async fn history(cluster: &Cluster, random: &mut Random, index: &Arc<MemoryIndex>) -> Vec<Value> {
    let mut operator = start(cluster, index);
    let mut left: BTreeMap<Id, (u64, Value)> = BTreeMap::new();
    for step in 0..24 {
        if random.one_in(8) {
            drop(operator);
            operator = start(cluster, index);
        }
        if random.one_in(4) && !left.is_empty() {
            let at = usize::try_from(random.below(left.len() as u64)).unwrap();
            let gone = left.keys().nth(at).unwrap().clone();
            cluster.delete(&gone.0, &gone.1).await;
            left.remove(&gone);
            continue;
        }
        let object = object(random);
        let id = id(&object);
        apart(&object, left.contains_key(&id)).await;
        cluster.apply(&object).await.unwrap();
        let created = left.get(&id).map_or(step, |(created, _)| *created);
        left.insert(id, (created, object));
    }
    let mut left: Vec<(u64, Value)> = left.into_values().collect();
    left.sort_by_key(|(created, _)| *created);
    stable(cluster, index).await;
    drop(operator);
    left.into_iter().map(|(_, object)| object).collect()
}

/// Waits until nothing changes any more.
async fn stable(cluster: &Cluster, index: &MemoryIndex) -> Vec<String> {
    let mut before = Vec::new();
    let look = async || {
        tokio::time::sleep(Duration::from_millis(700)).await;
        let now = end_state(cluster, index).await;
        let same = now == before;
        before.clone_from(&now);
        (same, now)
    };
    until(look, |(same, _)| *same).await.1
}

#[tokio::test(flavor = "multi_thread")]
async fn order_does_not_matter() {
    let Some(first) = Cluster::new("order_does_not_matter").await else { return };
    let seeds = if std::env::var_os("MCC_FULL").is_some() { 50 } else { 2 };
    for seed in 0..seeds {
        let mut random = Random(seed);
        let messy = Cluster::with_namespaces(first.client.clone()).await;
        let messy_index = index();
        let left = history(&messy, &mut random, &messy_index).await;
        let seen = end_state(&messy, &messy_index).await;

        let clean = Cluster::with_namespaces(first.client.clone()).await;
        let clean_index = index();
        let operator = start(&clean, &clean_index);
        for object in &left {
            apart(object, false).await;
            clean.apply(object).await.unwrap();
        }
        let expected = stable(&clean, &clean_index).await;
        drop(operator);
        assert_eq!(seen, expected, "seed {seed}");
        messy.remove().await;
        clean.remove().await;
    }
    first.remove().await;
}
