//! What the tests share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use mcc_catalog::model::{ToolDocument, Visibility};
use mcc_catalog::seam::{EmbedError, EmbedKind, Embedder, Hit, Query, ToolIndex};
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

/// The default embedder, which counts the documents it is given, under another name or with vectors of another length
/// if wanted.
pub struct Custom {
    /// What it does.
    pub model: StaticEmbedder,
    /// Documents embedded.
    pub documents: AtomicUsize,
    /// The name.
    pub id: Option<&'static str>,
    /// Length of the vectors; what `dimensions` says stays the model's unless `honest`.
    pub dimensions: Option<usize>,
    /// Whether `dimensions` says how long the vectors are.
    pub honest: bool,
}

impl Default for Custom {
    fn default() -> Self {
        Self {
            model: StaticEmbedder::bundled().unwrap(),
            documents: AtomicUsize::new(0),
            id: None,
            dimensions: None,
            honest: false,
        }
    }
}

#[async_trait]
impl Embedder for Custom {
    fn id(&self) -> &str {
        self.id.unwrap_or_else(|| self.model.id())
    }
    fn dimensions(&self) -> usize {
        self.dimensions.filter(|_| self.honest).unwrap_or_else(|| self.model.dimensions())
    }
    fn weight(&self) -> f32 {
        self.model.weight()
    }
    async fn embed(&self, texts: &[String], kind: EmbedKind) -> Result<Vec<Vec<f32>>, EmbedError> {
        if kind == EmbedKind::Document {
            self.documents.fetch_add(texts.len(), Ordering::SeqCst);
        }
        let mut vectors = self.model.embed(texts, kind).await?;
        if let Some(dimensions) = self.dimensions {
            for vector in &mut vectors {
                vector.resize(dimensions, 0.0);
            }
        }
        Ok(vectors)
    }
}
