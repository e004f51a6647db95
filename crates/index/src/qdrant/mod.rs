//! The index in Qdrant: the same legs, fused by the same code, as the index in memory.
//!
//! ```text
//! replace ─▶ ensure (collection, payload indexes) ─▶ what is stored? ─▶ upsert, delete ─▶ point the alias at it
//! search  ─▶ Plan, vectors ─▶ one batch: sparse leg, dense legs, names (each filtered) ─▶ fusion ─▶ hits
//! ```
//!
//! Scores differ from those in memory by rounding only. What remains: in an immutable segment Qdrant counts the terms of
//! points that were changed or deleted until the segment is rewritten; this collection has none unless somebody changes
//! its optimizer.

mod client;
mod filter;
mod points;
mod schema;
mod search;
mod settings;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use mcc_catalog::model::{ToolDocument, Visibility};
use mcc_catalog::seam::{EmbedKind, Embedder, Hit, IndexError, Query, ToolIndex};
use qdrant_client::qdrant::PointId;
use tokio::sync::Mutex;

use crate::analyze::{self, Word};
use crate::document::dense_text;
use crate::embed;
use crate::fusion::{Plan, Weights};
use client::Client;
use points::{changed, difference, id, not_built, point};
use schema::Names;

pub use schema::SCHEMA;
pub use settings::QdrantSettings;

/// Most words of a request that are looked up one by one.
const MOST_WORDS: usize = 32;

/// Finds tools in a Qdrant that several programs share: the operator writes, every gateway searches.
pub struct QdrantIndex {
    embedder: Arc<dyn Embedder>,
    settings: QdrantSettings,
    names: Names,
    client: Client,
    /// Held by the one update of this process that runs.
    writer: Mutex<()>,
}

impl QdrantIndex {
    /// An index whose vectors come from `embedder`. Wrong settings are refused here; whether Qdrant answers is seen
    /// when it is first used.
    pub fn new(settings: QdrantSettings, embedder: Arc<dyn Embedder>) -> Result<Self, IndexError> {
        let names = Names::new(&settings.prefix, embedder.id());
        let client = Client::new(&settings)?;
        Ok(Self { embedder, names, settings, client, writer: Mutex::new(()) })
    }

    /// The collection this index writes to, and the alias it searches.
    pub fn collection(&self) -> (&str, &str) {
        (&self.names.collection, &self.names.alias)
    }

    /// Deletes the collections of earlier schemas and embedders, once the alias points elsewhere. For the operator, some
    /// time after [`ToolIndex::replace`]: gateways of the earlier version may still be running.
    pub async fn delete_superseded(&self) -> Result<Vec<String>, IndexError> {
        let _writer = self.writer.lock().await;
        Ok(self.client.delete_superseded(&self.names).await?)
    }

    /// Embeds and writes documents, a batch at a time.
    async fn write(&self, collection: &str, documents: &[ToolDocument]) -> Result<(), IndexError> {
        for batch in documents.chunks(self.settings.batch.max(1)) {
            let texts: Vec<String> = batch.iter().map(dense_text).collect();
            let vectors = embed::checked(&*self.embedder, &texts, EmbedKind::Document).await?;
            let points = batch
                .iter()
                .zip(&vectors)
                .map(|(document, dense)| point(document, dense, &self.names))
                .collect();
            self.client
                .upsert(collection, points)
                .await
                .map_err(|failure| not_built(failure, &self.names))?;
        }
        Ok(())
    }
}

#[async_trait]
impl ToolIndex for QdrantIndex {
    async fn replace(&self, documents: Vec<ToolDocument>) -> Result<(), IndexError> {
        let _writer = self.writer.lock().await;
        let collection = &self.names.collection;
        self.client.ensure(&self.names, self.embedder.dimensions(), &self.settings).await?;
        let stored = self.client.stored(collection).await?;
        let (upserts, removals) = difference(&stored, documents);
        // First what is new: a search meanwhile may see both, but never loses a tool.
        self.write(collection, &upserts).await?;
        self.client.delete_points(collection, removals).await?;
        if self.client.alias_target(&self.names).await?.as_ref() != Some(collection) {
            self.client.switch(&self.names).await?;
        }
        Ok(())
    }

    async fn update(&self, upserts: Vec<ToolDocument>, removals: Vec<String>) -> Result<(), IndexError> {
        let _writer = self.writer.lock().await;
        let alias = &self.names.alias;
        let upserts = crate::memory::distinct(upserts);
        let keys: Vec<&str> = upserts.iter().map(|document| document.facets.key.as_str()).collect();
        let kept: BTreeSet<&str> = keys.iter().copied().collect();
        let gone = removals.iter().filter(|key| !kept.contains(key.as_str()));
        let gone: Vec<PointId> = gone.map(|key| id(key).into()).collect();
        let stored =
            self.client.stored_of(alias, &keys).await.map_err(|failure| not_built(failure, &self.names))?;
        self.write(alias, &changed(&stored, upserts)).await?;
        self.client.delete_points(alias, gone).await.map_err(|failure| not_built(failure, &self.names))
    }

    async fn search(&self, query: &Query) -> Result<Vec<Hit>, IndexError> {
        if query.limit == 0 {
            return Ok(Vec::new());
        }
        let plan = Plan::new(&query.text);
        let vectors = embed::request(&*self.embedder, &plan).await;
        let weights = Weights::of(&*self.embedder);
        search::search(&self.client, &self.names, &plan, &vectors, weights, query).await
    }

    async fn unmatched_words(
        &self,
        request: &str,
        visibility: &Visibility,
    ) -> Result<Vec<String>, IndexError> {
        let mut words: Vec<Word> = Vec::new();
        for word in analyze::query(request) {
            if !word.repeats && words.iter().all(|known| known.text != word.text) {
                words.push(word);
            }
        }
        words.truncate(MOST_WORDS);
        search::unmatched(&self.client, &self.names, words, visibility).await
    }

    async fn len(&self) -> Result<usize, IndexError> {
        self.client.count(&self.names.alias).await.map_err(|failure| not_built(failure, &self.names))
    }

    async fn stored(&self) -> Result<BTreeMap<String, String>, IndexError> {
        let stored = self.client.stored(&self.names.alias).await;
        Ok(stored.map_err(|failure| not_built(failure, &self.names))?.fingerprints)
    }

    async fn check(&self) -> Result<(), IndexError> {
        // A search, because that alone asks for the vectors by name.
        let text = "check".to_owned();
        self.search(&Query { text, min_score: None, limit: 1, visibility: Visibility::public() }).await?;
        Ok(())
    }
}
