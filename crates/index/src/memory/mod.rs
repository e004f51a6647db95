//! The index in memory: exact, and never blocked by updates.
//!
//! ```text
//! snapshot ─▶ segment ‖ deleted   ─▶ postings (inverted, by term), vectors (16-bit), names, facets
//!          ─▶ segment ‖ deleted
//! ```
//!
//! Segments are immutable. An update builds a small new segment, marks what it replaces as deleted in the others, and
//! puts a new snapshot in place of the old one; a search keeps the snapshot it began with. Small segments are merged,
//! so that there are only few. Scores don't depend on how documents are spread over segments.

mod segment;
mod snapshot;
mod top;
pub(crate) mod vectors;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use mcc_catalog::model::{ToolDocument, Visibility};
use mcc_catalog::seam::{EmbedKind, Embedder, Hit, IndexError, Query, ToolIndex};
use tokio::sync::Mutex;

use crate::analyze;
use crate::bm25f;
use crate::document::dense_text;
use crate::embed;
use crate::fusion::{Plan, Weights};
use segment::{Prepared, Segment};
use snapshot::{Snapshot, View};
use vectors::quantize;

/// Documents prepared before other tasks get their turn.
const BATCH: usize = 256;

/// Finds tools in this process's memory.
pub struct MemoryIndex {
    embedder: Arc<dyn Embedder>,
    snapshot: ArcSwap<Snapshot>,
    /// Held by the one update that runs.
    writer: Mutex<()>,
}

impl MemoryIndex {
    /// An empty index whose vectors come from `embedder`.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self { embedder, snapshot: ArcSwap::default(), writer: Mutex::new(()) }
    }

    /// Vectors and terms of documents.
    async fn prepare(&self, documents: Vec<ToolDocument>) -> Result<Vec<Prepared>, IndexError> {
        let mut prepared = Vec::with_capacity(documents.len());
        let mut documents = documents.into_iter();
        loop {
            let batch: Vec<ToolDocument> = documents.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                return Ok(prepared);
            }
            let texts: Vec<String> = batch.iter().map(dense_text).collect();
            let vectors = embed::checked(&*self.embedder, &texts, EmbedKind::Document).await?;
            prepared.extend(batch.into_iter().zip(vectors).map(|(document, dense)| Prepared {
                sparse: bm25f::document(&document),
                document,
                dense,
            }));
            tokio::task::yield_now().await;
        }
    }

    /// Puts documents in and takes keys out, in one step as searches see it. `writer` must be held.
    async fn change(
        &self,
        upserts: Vec<ToolDocument>,
        removals: &BTreeSet<String>,
    ) -> Result<(), IndexError> {
        let old = self.snapshot.load_full();
        let upserts = distinct(upserts);
        let mut deleted: Vec<Vec<u32>> = vec![Vec::new(); old.views.len()];
        for key in removals
            .iter()
            .map(String::as_str)
            .chain(upserts.iter().map(|document| document.facets.key.as_str()))
        {
            if let Some((view, id)) = old.find(key) {
                deleted[view].push(id);
            }
        }
        let added = self.prepare(upserts).await?;
        let dimensions = self.embedder.dimensions();
        // Sorting and merging a big catalog takes a while.
        let new = tokio::task::spawn_blocking(move || changed(&old, &deleted, added, dimensions))
            .await
            .map_err(|error| IndexError::Unavailable(error.to_string()))?;
        self.snapshot.store(Arc::new(new));
        Ok(())
    }
}

#[async_trait]
impl ToolIndex for MemoryIndex {
    async fn replace(&self, documents: Vec<ToolDocument>) -> Result<(), IndexError> {
        let _writer = self.writer.lock().await;
        let snapshot = self.snapshot.load_full();
        let keys: BTreeSet<&str> = documents.iter().map(|document| document.facets.key.as_str()).collect();
        let mut removals = BTreeSet::new();
        for view in &snapshot.views {
            for (id, entry) in (0..).zip(&view.segment.entries) {
                if !view.deleted.has(id) && !keys.contains(&*entry.key) {
                    removals.insert(entry.key.to_string());
                }
            }
        }
        let upserts = unknown(documents, &snapshot);
        if upserts.is_empty() && removals.is_empty() {
            return Ok(());
        }
        self.change(upserts, &removals).await
    }

    async fn update(&self, upserts: Vec<ToolDocument>, removals: Vec<String>) -> Result<(), IndexError> {
        let _writer = self.writer.lock().await;
        let mut removals: BTreeSet<String> = removals.into_iter().collect();
        for document in &upserts {
            removals.remove(&document.facets.key);
        }
        let upserts = unknown(upserts, &self.snapshot.load_full());
        self.change(upserts, &removals).await
    }

    async fn search(&self, query: &Query) -> Result<Vec<Hit>, IndexError> {
        if query.limit == 0 {
            return Ok(Vec::new());
        }
        let plan = Plan::new(&query.text);
        let vectors = embed::request(&*self.embedder, &plan).await;
        let vectors: Vec<Vec<i16>> = vectors.iter().map(|vector| quantize(vector)).collect();
        let snapshot = self.snapshot.load_full();
        Ok(snapshot.search(
            &plan,
            &vectors,
            &query.visibility,
            Weights::of(&*self.embedder),
            query.min_score,
            query.limit,
        ))
    }

    async fn unmatched_words(
        &self,
        request: &str,
        visibility: &Visibility,
    ) -> Result<Vec<String>, IndexError> {
        let snapshot = self.snapshot.load_full();
        let mut words = analyze::query(request);
        words.retain(|word| !word.repeats);
        let matched = snapshot.matched(&words, visibility);
        let mut unmatched: Vec<String> = Vec::new();
        for (word, matched) in words.into_iter().zip(matched) {
            if !matched && !unmatched.contains(&word.text) {
                unmatched.push(word.text);
            }
        }
        Ok(unmatched)
    }

    async fn len(&self) -> Result<usize, IndexError> {
        Ok(self.snapshot.load().len())
    }

    async fn stored(&self) -> Result<BTreeMap<String, String>, IndexError> {
        Ok(self.snapshot.load_full().fingerprints())
    }

    async fn check(&self) -> Result<(), IndexError> {
        Ok(())
    }
}

/// Of documents with one key, the last.
pub(crate) fn distinct(documents: Vec<ToolDocument>) -> Vec<ToolDocument> {
    let by_key: BTreeMap<String, ToolDocument> =
        documents.into_iter().map(|document| (document.facets.key.clone(), document)).collect();
    by_key.into_values().collect()
}

/// The documents that the snapshot doesn't have already.
fn unknown(mut documents: Vec<ToolDocument>, snapshot: &Snapshot) -> Vec<ToolDocument> {
    documents.retain(|document| {
        snapshot
            .find(&document.facets.key)
            .is_none_or(|(view, id)| !snapshot.views[view].segment.entries[id as usize].is(document))
    });
    documents
}

/// The snapshot after a change: the deleted marked, the added in a segment of their own, small segments merged.
fn changed(old: &Snapshot, deleted: &[Vec<u32>], added: Vec<Prepared>, dimensions: usize) -> Snapshot {
    let mut views: Vec<View> = old.views.iter().zip(deleted).map(|(view, ids)| view.without(ids)).collect();
    if !added.is_empty() {
        views.push(View::new(Segment::build(added, dimensions)));
    }
    views.retain(|view| view.live > 0);
    views.sort_by_key(|view| std::cmp::Reverse(view.live));
    // Sizes fall by a factor of four at least, so there are few segments and a document is merged few times.
    while let [.., large, small] = views.as_slice() {
        if small.live * 4 < large.live && !half_deleted(large) {
            break;
        }
        let merged = merge(&[large, small], dimensions);
        views.truncate(views.len() - 2);
        views.push(merged);
        views.sort_by_key(|view| std::cmp::Reverse(view.live));
    }
    if let [only] = views.as_slice()
        && half_deleted(only)
    {
        views = vec![merge(&[only], dimensions)];
    }
    Snapshot { views }
}

fn half_deleted(view: &View) -> bool {
    view.live * 2 < view.segment.entries.len()
}

fn merge(views: &[&View], dimensions: usize) -> View {
    let keeps: Vec<_> = views.iter().map(|view| |id: u32| !view.deleted.has(id)).collect();
    let parts: Vec<(&Segment, &dyn Fn(u32) -> bool)> = views
        .iter()
        .zip(&keeps)
        .map(|(view, keeps)| (&*view.segment, keeps as &dyn Fn(u32) -> bool))
        .collect();
    View::new(Segment::merge(&parts, dimensions))
}
