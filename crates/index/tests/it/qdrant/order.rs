//! Qdrant and memory rank alike: the same keys in the same order, with scores that differ by rounding only.

use std::sync::atomic::{AtomicUsize, Ordering};

use mcc_catalog::model::{Facets, ToolDocument, Visibility};
use mcc_catalog::seam::{Hit, Query, ToolIndex as _};
use mcc_index::testsuite::qdrant::TestQdrant;
use mcc_index::{MemoryIndex, QdrantIndex};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{bundled, connect};
use crate::support::{index, sets};

/// Largest difference of a score.
const TOLERANCE: f32 = 1e-3;

/// Whether two rankings are the same; if not, where they part.
pub fn same(found: &[Hit], expected: &[Hit], text: &str) -> Result<(), String> {
    for (at, (one, other)) in found.iter().zip(expected).enumerate() {
        if one.key != other.key || (one.score - other.score).abs() > TOLERANCE {
            let around = at.saturating_sub(1)..(at + 3).min(found.len()).min(expected.len());
            return Err(format!("{text:?} at {at}:\n{:?}\n{:?}", &found[around.clone()], &expected[around]));
        }
    }
    if found.len() == expected.len() {
        Ok(())
    } else {
        Err(format!("{text:?}: {} hits, {} expected", found.len(), expected.len()))
    }
}

async fn compare(qdrant: &QdrantIndex, memory: &MemoryIndex, query: &Query) -> Result<Vec<Hit>, String> {
    let (found, expected) = (qdrant.search(query).await.unwrap(), memory.search(query).await.unwrap());
    same(&found, &expected, &query.text)?;
    Ok(found)
}

/// Every request of the four public sets, by an admin.
#[tokio::test]
async fn retrieval_sets() {
    let test = "qdrant::order::retrieval_sets";
    let Some(sets) = sets(test) else { return };
    let Some(server) = TestQdrant::start(test) else { return };
    let mut differences = Vec::new();
    for set in &sets {
        let memory = index(&set.tools).await;
        let qdrant = connect(&server.url, &format!("{}-{}", server.prefix, set.name), bundled());
        qdrant.replace(set.tools.clone()).await.unwrap();
        for query in &set.queries {
            let visibility = Visibility::everything();
            let query = Query { text: query.text.clone(), min_score: None, limit: 20, visibility };
            if let Err(difference) = compare(&qdrant, &memory, &query).await {
                differences.push(format!("{}: {difference}", set.name));
            }
        }
        eprintln!("{:14} {} requests", set.name, set.queries.len());
    }
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

const WORDS: [&str; 18] = [
    "weather",
    "forecast",
    "city",
    "send",
    "mail",
    "invoice",
    "map",
    "route",
    "get",
    "list",
    "song",
    "translate",
    "ß",
    "погода",
    "天气",
    "HTTPServer",
    "read_file",
    "the",
];
const GROUPS: [&str; 5] = ["public", "geo", "osint", "gov", "web"];

fn words(most: usize) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..=most)
}

fn groups() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(&GROUPS[..]), 0..3)
}

prop_compose! {
    fn tool()(groups in groups(), name in words(2), n in 0..12_u8, description in words(9), param in words(3))
        -> ToolDocument
    {
        let mut groups: Vec<String> = groups.into_iter().map(str::to_owned).collect();
        groups.dedup();
        let name = format!("t{n}_{}", name.join("_"));
        let key = groups.iter().chain([&name]).map(String::as_str).collect::<Vec<_>>().join(".");
        let (description, param) = (description.join(" "), param.join(" "));
        ToolDocument {
            facets: Facets::new(key, &groups),
            digest: format!("{description}|{param}"),
            name,
            description,
            keywords: Vec::new(),
            params: vec![("value".to_owned(), param)],
        }
    }
}

prop_compose! {
    fn caller(keys: Vec<String>)(
        all in prop::bool::weighted(0.2),
        groups in groups(),
        prefixes in prop::collection::vec(prop::sample::select(vec!["geo", "osint", "osint.gov", "public"]), 0..2),
        keys in prop::collection::vec(prop::sample::select(keys), 0..4),
    ) -> Visibility {
        Visibility {
            all,
            groups: groups.into_iter().map(str::to_owned).collect(),
            prefixes: prefixes.into_iter().map(str::to_owned).collect(),
            keys: keys.into_iter().collect(),
        }
    }
}

/// A catalog, what of it is changed and removed afterwards, and searches.
#[derive(Clone, Debug)]
struct Case {
    tools: Vec<ToolDocument>,
    changes: Vec<ToolDocument>,
    removals: Vec<String>,
    searches: Vec<(String, Visibility, usize)>,
}

fn case() -> impl Strategy<Value = Case> {
    let catalogs = (prop::collection::vec(tool(), 1..160), prop::collection::vec(tool(), 0..20));
    catalogs.prop_flat_map(|(tools, changes)| {
        let keys: Vec<String> = tools.iter().map(|tool| tool.facets.key.clone()).collect();
        let names: Vec<String> = tools.iter().map(|tool| tool.name.clone()).collect();
        let text = prop_oneof![
            4 => words(6).prop_map(|words| words.join(" ")),
            1 => (words(4), words(4)).prop_map(|(a, b)| format!("{}. Then {}", a.join(" "), b.join(" "))),
            1 => prop::sample::select(names.clone()),
            1 => prop::collection::vec(prop::sample::select(names), 2..4).prop_map(|names| names.join(", ")),
        ];
        let search = (text, caller(keys.clone()), 1..60_usize);
        let removals = prop::collection::vec(prop::sample::select(keys), 0..10);
        (Just(tools), Just(changes), removals, prop::collection::vec(search, 6))
            .prop_map(|(tools, changes, removals, searches)| Case { tools, changes, removals, searches })
    })
}

/// Random catalogs, callers and requests, before and after updates. Nobody sees what they may not.
#[test]
fn random_catalogs_callers_and_requests() {
    let Some(server) = TestQdrant::start("qdrant::order::random_catalogs_callers_and_requests") else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // A case is a collection and a dozen searches: an eighth of the usual number.
    let config = Config { cases: (Config::default().cases / 8).max(1), ..Config::default() };
    let made = AtomicUsize::new(0);
    TestRunner::new(config)
        .run(&case(), |case| {
            let prefix = format!("{}-{}", server.prefix, made.fetch_add(1, Ordering::Relaxed));
            // The connection needs the runtime, too.
            runtime.block_on(async { check(&case, &connect(&server.url, &prefix, bundled())).await })
        })
        .unwrap();
}

async fn check(case: &Case, qdrant: &QdrantIndex) -> Result<(), TestCaseError> {
    let memory = index(&case.tools).await;
    qdrant.replace(case.tools.clone()).await.unwrap();
    searches(case, qdrant, &memory).await?;
    memory.update(case.changes.clone(), case.removals.clone()).await.unwrap();
    qdrant.update(case.changes.clone(), case.removals.clone()).await.unwrap();
    prop_assert_eq!(qdrant.stored().await.unwrap(), memory.stored().await.unwrap());
    searches(case, qdrant, &memory).await
}

async fn searches(case: &Case, qdrant: &QdrantIndex, memory: &MemoryIndex) -> Result<(), TestCaseError> {
    let documents = case.tools.iter().chain(&case.changes);
    let facets: std::collections::HashMap<&str, &Facets> =
        documents.map(|tool| (tool.facets.key.as_str(), &tool.facets)).collect();
    for (text, visibility, limit) in &case.searches {
        let visibility = visibility.clone();
        let query = Query { text: text.clone(), min_score: None, limit: *limit, visibility };
        let hits = compare(qdrant, memory, &query).await.map_err(TestCaseError::fail)?;
        for hit in hits {
            prop_assert!(query.visibility.admits(facets[hit.key.as_str()]), "{} is hidden", hit.key);
        }
    }
    Ok(())
}
