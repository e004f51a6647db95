//! What the tests share.

use std::sync::Arc;

use mcc_catalog::model::{ToolDocument, Visibility};
use mcc_catalog::seam::{Hit, Query, ToolIndex};
use mcc_index::evaluate::{Dataset, shared_folder};
use mcc_index::{MemoryIndex, StaticEmbedder};

/// The retrieval sets, or none and a line that says so.
pub fn sets(test: &str) -> Option<Vec<Dataset>> {
    let Some(folder) = shared_folder() else {
        eprintln!("skipped: {test}: no shared data");
        return None;
    };
    let load = |name| Dataset::load(&folder.join("data/retrieval").join(name)).unwrap();
    Some(mcc_index::evaluate::SETS.map(load).into())
}

/// An index of these tools with the default embedder.
pub async fn index(tools: &[ToolDocument]) -> MemoryIndex {
    let index = MemoryIndex::new(Arc::new(StaticEmbedder::bundled().unwrap()));
    index.replace(tools.to_vec()).await.unwrap();
    index
}

/// The first `limit` hits of an admin's request.
pub async fn search(index: &dyn ToolIndex, text: &str, limit: usize) -> Vec<Hit> {
    let query = Query { text: text.to_owned(), min_score: None, limit, visibility: Visibility::everything() };
    index.search(&query).await.unwrap()
}

/// The keys of the first `limit` hits.
pub async fn keys(index: &dyn ToolIndex, text: &str, limit: usize) -> Vec<String> {
    search(index, text, limit).await.into_iter().map(|hit| hit.key).collect()
}
