//! Requests in other languages: twelve tools described in a language among 488 English ones, twelve requests in a
//! user's own words that share a content word, in some inflection, with the right tool.

use mcc_catalog::model::{Facets, ToolDocument};
use serde::Deserialize;

use crate::support::{index, keys, sets};

#[derive(Deserialize)]
struct Fixture {
    tools: Vec<Tool>,
    queries: Vec<(String, String)>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    description: String,
    params: Vec<(String, String)>,
}

/// 488 English tools of the public sets.
fn english(test: &str) -> Option<Vec<ToolDocument>> {
    let tools =
        sets(test)?.into_iter().rev().flat_map(|set| set.tools).filter(|tool| tool.description.is_ascii());
    Some(tools.take(488).collect())
}

async fn among_english_tools(test: &str, fixture: &str) {
    let Some(mut tools) = english(test) else { return };
    let fixture: Fixture = serde_json::from_str(fixture).unwrap();
    assert_eq!((fixture.tools.len(), fixture.queries.len()), (12, 12));
    for tool in fixture.tools {
        tools.push(ToolDocument {
            facets: Facets::new(format!("foreign.{}", tool.name), &["foreign".to_owned()]),
            name: tool.name,
            description: tool.description,
            params: tool.params,
            ..ToolDocument::default()
        });
    }
    assert_eq!(tools.len(), 500);
    let index = index(&tools).await;
    let mut missed = Vec::new();
    for (text, name) in &fixture.queries {
        let found = keys(&index, text, 3).await;
        if !found.contains(&format!("foreign.{name}")) {
            missed.push(format!("{text} ({name}): {found:?}"));
        }
    }
    eprintln!("{test}: {} of 12", 12 - missed.len());
    for miss in &missed {
        eprintln!("  missed {miss}");
    }
    assert!(missed.len() <= 2, "{missed:#?}");
}

#[tokio::test]
async fn german() {
    among_english_tools("german", include_str!("languages/german.json")).await;
}

#[tokio::test]
async fn spanish() {
    among_english_tools("spanish", include_str!("languages/spanish.json")).await;
}

#[tokio::test]
async fn russian() {
    among_english_tools("russian", include_str!("languages/russian.json")).await;
}

#[tokio::test]
async fn chinese() {
    among_english_tools("chinese", include_str!("languages/chinese.json")).await;
}

#[tokio::test]
async fn japanese() {
    among_english_tools("japanese", include_str!("languages/japanese.json")).await;
}
