//! The contract of [`ToolIndex`], run against every implementation (feature `testsuite`).

#![expect(clippy::unwrap_used, reason = "a test suite")]

pub mod qdrant;

use std::collections::BTreeSet;

use mcc_catalog::model::{Facets, ToolDocument, Visibility};
use mcc_catalog::seam::{Hit, Query, ToolIndex};

/// A tool in `groups`, whose digest is made of its texts.
pub fn tool(groups: &[&str], name: &str, description: &str) -> ToolDocument {
    let groups: Vec<String> = groups.iter().map(|&group| group.to_owned()).collect();
    let key = groups.iter().map(String::as_str).chain([name]).collect::<Vec<_>>().join(".");
    ToolDocument {
        facets: Facets::new(key, &groups),
        digest: format!("{name}: {description}"),
        name: name.to_owned(),
        description: description.to_owned(),
        ..ToolDocument::default()
    }
}

/// A caller in `groups`, with the wildcard grants `prefixes` and the single grants `keys`.
pub fn visibility(groups: &[&str], prefixes: &[&str], keys: &[&str]) -> Visibility {
    let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
    let mut visibility =
        Visibility { groups: set(groups), prefixes: set(prefixes), keys: set(keys), all: false };
    visibility.groups.insert("public".to_owned());
    visibility
}

/// Runs every clause of the contract on fresh, empty indexes.
pub async fn contract<I: ToolIndex>(make: impl AsyncFn() -> I) {
    nothing_in_an_empty_index(&make().await).await;
    replace_makes_it_hold_exactly_these(&make().await).await;
    update_changes_single_documents(&make().await).await;
    facets_change_without_the_texts(&make().await).await;
    hits_fall_and_ties_go_by_key(&make().await).await;
    min_score_and_limit(&make().await).await;
    only_visible_tools(&make().await).await;
    the_filter_is_inside_the_query(&make().await).await;
    names_come_first(&make().await).await;
}

async fn ask(index: &dyn ToolIndex, text: &str, visibility: &Visibility) -> Vec<Hit> {
    let query = Query { text: text.to_owned(), min_score: None, limit: 50, visibility: visibility.clone() };
    index.search(&query).await.unwrap()
}

async fn keys(index: &dyn ToolIndex, text: &str, visibility: &Visibility) -> Vec<String> {
    ask(index, text, visibility).await.into_iter().map(|hit| hit.key).collect()
}

async fn nothing_in_an_empty_index(index: &dyn ToolIndex) {
    assert_eq!(index.len().await.unwrap(), 0);
    assert!(ask(index, "weather", &Visibility::everything()).await.is_empty());
    index.update(Vec::new(), vec!["no.such".to_owned()]).await.unwrap();
    index.replace(Vec::new()).await.unwrap();
    assert_eq!(index.len().await.unwrap(), 0);
}

async fn replace_makes_it_hold_exactly_these(index: &dyn ToolIndex) {
    let all = Visibility::everything();
    let weather = tool(&["geo"], "weather", "Weather forecast of a place");
    let invoice = tool(&["shop"], "invoice", "Sends an invoice to a customer");
    index.replace(vec![weather.clone(), invoice.clone()]).await.unwrap();
    assert_eq!(index.len().await.unwrap(), 2);
    assert_eq!(keys(index, "weather forecast", &all).await[0], "geo.weather");
    index.replace(vec![weather.clone(), invoice]).await.unwrap();
    assert_eq!(index.len().await.unwrap(), 2);
    index.replace(vec![weather, tool(&["shop"], "refund", "Pays money back")]).await.unwrap();
    assert_eq!(index.len().await.unwrap(), 2);
    assert!(!keys(index, "invoice customer", &all).await.contains(&"shop.invoice".to_owned()));
    assert_eq!(keys(index, "pay the money back", &all).await[0], "shop.refund");
}

async fn update_changes_single_documents(index: &dyn ToolIndex) {
    let all = Visibility::everything();
    index.replace(vec![tool(&[], "one", "Draws a chart"), tool(&[], "two", "Sings a song")]).await.unwrap();
    index
        .update(vec![tool(&[], "one", "Translates a text"), tool(&[], "three", "Draws a map")], vec![])
        .await
        .unwrap();
    assert_eq!(index.len().await.unwrap(), 3);
    assert_eq!(keys(index, "translate a text", &all).await[0], "one");
    assert_eq!(keys(index, "draw", &all).await[0], "three");
    index.update(vec![], vec!["two".to_owned(), "unknown".to_owned()]).await.unwrap();
    assert_eq!(index.len().await.unwrap(), 2);
    assert!(!keys(index, "sing a song", &all).await.contains(&"two".to_owned()));
}

async fn facets_change_without_the_texts(index: &dyn ToolIndex) {
    let mut moved = tool(&["red"], "paint", "Paints a wall");
    index.replace(vec![moved.clone()]).await.unwrap();
    moved.facets = Facets::new(moved.facets.key, &["blue".to_owned()]);
    index.replace(vec![moved.clone()]).await.unwrap();
    assert!(keys(index, "paint a wall", &visibility(&["red"], &[], &[])).await.is_empty());
    assert_eq!(keys(index, "paint a wall", &visibility(&["blue"], &[], &[])).await, [moved.facets.key]);
}

async fn hits_fall_and_ties_go_by_key(index: &dyn ToolIndex) {
    let tools = ["b", "c", "a"].map(|group| tool(&[group], "translate", "Translates a text"));
    let mut tools = tools.to_vec();
    for tool in &mut tools {
        // Equal texts: only the keys differ.
        tool.facets.groups = vec!["same".to_owned()];
    }
    tools.push(tool(&["z"], "speak", "Speaks a translated text"));
    index.replace(tools).await.unwrap();
    let hits = ask(index, "translate a text", &Visibility::everything()).await;
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{hits:?}");
    let first: Vec<&str> = hits.iter().take(3).map(|hit| hit.key.as_str()).collect();
    assert_eq!(first, ["a.translate", "b.translate", "c.translate"]);
    assert_eq!(hits, ask(index, "translate a text", &Visibility::everything()).await);
}

async fn min_score_and_limit(index: &dyn ToolIndex) {
    let tools = (0..30).map(|n| tool(&[], &format!("tool_{n}"), &format!("Converts a file to format {n}")));
    index.replace(tools.collect()).await.unwrap();
    let visibility = Visibility::everything();
    let mut query =
        Query { text: "convert a file to format 7".to_owned(), min_score: None, limit: 5, visibility };
    let hits = index.search(&query).await.unwrap();
    assert_eq!(hits.len(), 5);
    assert_eq!(hits[0].key, "tool_7");
    query.min_score = Some(hits[2].score);
    let kept = index.search(&query).await.unwrap();
    assert!(
        kept.len() >= 3 && kept.iter().all(|hit| hit.score >= hits[2].score),
        "the bound is inclusive: {kept:?}"
    );
    query.min_score = Some(f32::MAX);
    assert!(index.search(&query).await.unwrap().is_empty());
    query.min_score = None;
    query.limit = 0;
    assert!(index.search(&query).await.unwrap().is_empty());
}

async fn only_visible_tools(index: &dyn ToolIndex) {
    let tools = vec![
        tool(&["public"], "map", "Draws a map"),
        tool(&["osint"], "map_people", "Draws a map of people"),
        tool(&["osint", "gov"], "map_offices", "Draws a map of offices"),
        tool(&["geo"], "map_rivers", "Draws a map of rivers"),
        tool(&[], "map_secret", "Draws a secret map"),
    ];
    index.replace(tools.clone()).await.unwrap();
    for caller in [
        Visibility::public(),
        Visibility::everything(),
        visibility(&["geo"], &[], &[]),
        visibility(&["gov"], &[], &[]),
        visibility(&[], &["osint"], &[]),
        visibility(&[], &["osint.gov"], &[]),
        visibility(&[], &[], &["map_secret"]),
        visibility(&[], &[], &["osint.map_people", "no.such", ""]),
    ] {
        let mut found = keys(index, "draw a map", &caller).await;
        found.sort_unstable();
        let mut admitted: Vec<String> = tools
            .iter()
            .filter(|tool| caller.admits(&tool.facets))
            .map(|tool| tool.facets.key.clone())
            .collect();
        admitted.sort_unstable();
        assert_eq!(found, admitted, "{caller:?}");
        // Not by its exact name either.
        let by_name = keys(index, "map_secret", &caller).await;
        assert_eq!(by_name.contains(&"map_secret".to_owned()), caller.admits(&tools[4].facets));
    }
}

async fn the_filter_is_inside_the_query(index: &dyn ToolIndex) {
    let mut tools: Vec<_> =
        (0..300).map(|n| tool(&["hidden"], &format!("weather_{n}"), "Weather forecast of a place")).collect();
    tools.push(tool(&["open"], "almanac", "Facts of the year, the weather among them"));
    index.replace(tools).await.unwrap();
    let found = keys(index, "weather forecast of a place", &visibility(&["open"], &[], &[])).await;
    assert_eq!(found, ["open.almanac"]);
}

async fn names_come_first(index: &dyn ToolIndex) {
    let tools = vec![
        tool(&["web"], "get_page_title", "Reads one line of a document"),
        tool(&["web"], "page", "Get page, page title, title of a page, get title: gets the title of pages"),
        tool(&["disk"], "remove_file", "Deletes something"),
    ];
    index.replace(tools).await.unwrap();
    let all = Visibility::everything();
    for spelling in
        ["get_page_title", "getPageTitle", "Get Page Title", "web.get-page-title", "web get page title"]
    {
        assert_eq!(keys(index, spelling, &all).await[0], "web.get_page_title", "{spelling}");
    }
    let mut both = keys(index, "remove_file, get_page_title", &all).await;
    both.truncate(2);
    both.sort_unstable();
    assert_eq!(both, ["disk.remove_file", "web.get_page_title"]);
}
