//! `search`: finds tools for a task.

use std::time::{Duration, Instant};

use mcc_catalog::seam::Query;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde_json::json;

use super::answer::{self, Refusal};
use super::arguments::Arguments;
use super::definition::Definition;
use super::names::{Names, OwnTool};
use super::scope::Scope;
use crate::state::Shared;

/// Hits, unless asked for otherwise.
const DEFAULT_LIMIT: i64 = 10;
/// Most hits.
const MAX_LIMIT: i64 = 50;
/// How long a search waits for the index to be filled at the start.
const INDEXING: Duration = Duration::from_secs(30);
/// Longest request, in bytes.
const MAX_QUERY_BYTES: usize = 8 * 1024;
/// Words named that no tool has, and the longest of them in characters.
const UNMATCHED: (usize, usize) = (12, 40);

pub(crate) fn definition(names: &Names) -> Definition {
    let description = format!(
        "Finds tools in the catalog that can do a task. Describe the task in your own words, or name the tool. \
         Answers the best tools first, each with a score, its key and parameters, and what it does; useful scores run \
         from about 1 to 15, and a gap between two scores separates what fits from what doesn't. Then run one with {}.",
        names.of(OwnTool::Execute)
    );
    let properties = json!({
        "query": {"type": "string", "description": "What the tool should do, or its name."},
        "min_score": {
            "type": "number",
            "description": "Leaves out tools below this score. 3 to 5 keeps good matches only.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_LIMIT,
            "default": DEFAULT_LIMIT,
            "description": "Most tools to answer.",
        },
    });
    ("Search tools", description, properties, vec!["query"])
}

pub(crate) async fn call(
    shared: &Shared,
    scope: &Scope,
    arguments: Option<JsonObject>,
) -> Result<CallToolResult, Refusal> {
    let name = shared.names.of(OwnTool::Search);
    let usage =
        format!("{name}(query=\"what the tool should do\", min_score=3, limit=10); only query is required");
    let mut given = Arguments::new(&name, &usage, &["query", "min_score", "limit"], arguments);
    let text = given.required_text("query");
    let min_score = given.number("min_score");
    let limit = given.integer("limit", 1).unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
    if text.len() > MAX_QUERY_BYTES {
        given.problem(format!("'query' has {} bytes, at most {MAX_QUERY_BYTES} are read", text.len()));
    }
    given.finish()?;
    find(shared, scope, text, min_score, usize::try_from(limit).unwrap_or(1)).await
}

async fn find(
    shared: &Shared,
    scope: &Scope,
    text: String,
    min_score: Option<f64>,
    limit: usize,
) -> Result<CallToolResult, Refusal> {
    if !shared.is_ready() && tokio::time::timeout(INDEXING, shared.until_ready()).await.is_err() {
        return Err(answer::refused("The catalog is still being indexed: try again in a few seconds."));
    }
    let view = shared.view(scope);
    #[expect(clippy::cast_possible_truncation, reason = "scores are small")]
    let query = Query {
        text,
        min_score: min_score.map(|score| score as f32),
        limit,
        visibility: view.access.visibility.clone(),
    };
    let started = Instant::now();
    let hits = shared.index.search(&query).await.map_err(|error| {
        tracing::warn!(%error, "search failed");
        answer::refused("Search is unavailable at the moment: try again in a few seconds.")
    })?;
    shared.metrics.search_seconds.observe(started.elapsed().as_secs_f64());
    // The index may lag behind: what the catalog doesn't have, or not for this caller, is never shown.
    let blocks = hits.iter().filter_map(|hit| {
        let tool = view.tool(&hit.key)?;
        Some(format!("[{:.2}]\n{}", hit.score, tool.signature.trim_end()))
    });
    let rest =
        |more| format!("[… {more} more tools left out: ask for fewer with limit, or raise min_score …]");
    let text = answer::blocks(blocks, shared.config.answer_bytes, rest);
    let mut result = answer::text(text.unwrap_or_else(|| nothing(min_score)));
    // Apart from the hits, whose text programs read.
    result.content.extend(unmatched(shared, &query).await.map(ContentBlock::text));
    Ok(result)
}

/// Says which words of the request no tool has, so that a model doesn't take a neighbour for what it asked for.
async fn unmatched(shared: &Shared, query: &Query) -> Option<String> {
    let words = shared.index.unmatched_words(&query.text, &query.visibility).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "the words that no tool has are not known");
        Vec::new()
    });
    if words.is_empty() {
        return None;
    }
    let (most, longest) = UNMATCHED;
    let named: Vec<String> =
        words.iter().take(most).map(|word| word.chars().take(longest).collect()).collect();
    let more = if words.len() > most { " …" } else { "" };
    Some(format!("Words that no tool has: {}{more}.", named.join(", ")))
}

fn nothing(min_score: Option<f64>) -> String {
    let lower = if min_score.is_some() { ", or a lower min_score" } else { "" };
    format!("No tools matched. Try other words for what the tool should do{lower}.")
}
