//! The search index.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::model::{ToolDocument, Visibility};

/// A search.
#[derive(Clone, Debug)]
pub struct Query {
    /// The request in a caller's words.
    pub text: String,
    /// Smallest score returned (inclusive); useful values are 3 to 5.
    pub min_score: Option<f32>,
    /// Most hits returned.
    pub limit: usize,
    /// Which tools may be found: a filter inside the query, not after it.
    pub visibility: Visibility,
}

/// A tool that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// Key of the tool. Resolve it against the live catalog before showing it.
    pub key: String,
    /// Fused score; useful ones run from about 1 to 15.
    pub score: f32,
}

/// Why a search or an update failed.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The index doesn't answer, or isn't built (any more); try again later, and search elsewhere meanwhile.
    #[error("search index unavailable: {0}")]
    Unavailable(String),
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] super::EmbedError),
    /// The index refused the request; sending it again won't help.
    #[error("search index refused the request: {0}")]
    Refused(String),
}

/// Finds tools.
#[expect(
    clippy::len_without_is_empty,
    reason = "the number is asked for metrics and waits, emptiness by nobody"
)]
#[async_trait]
pub trait ToolIndex: Send + Sync {
    /// Makes the index hold exactly these documents. Documents whose digest it has already cost nothing.
    /// Searches meanwhile see the old or the new state, never a mixture that loses tools.
    async fn replace(&self, documents: Vec<ToolDocument>) -> Result<(), IndexError>;
    /// Adds or changes documents and removes keys. Documents it has already cost nothing. An index that isn't built
    /// answers [`IndexError::Unavailable`]: [`Self::replace`] builds it.
    async fn update(&self, upserts: Vec<ToolDocument>, removals: Vec<String>) -> Result<(), IndexError>;
    /// Hits by falling score, ties by key.
    async fn search(&self, query: &Query) -> Result<Vec<Hit>, IndexError>;
    /// The words of a request, without stop words, that no tool the caller may see has in any form: hits for them are
    /// by meaning only. An index that can't tell answers none.
    async fn unmatched_words(
        &self,
        request: &str,
        visibility: &Visibility,
    ) -> Result<Vec<String>, IndexError> {
        let _ = (request, visibility);
        Ok(Vec::new())
    }
    /// Number of documents.
    async fn len(&self) -> Result<usize, IndexError>;
    /// The [`ToolDocument::fingerprint`] of every document it holds, by key: what the owner of the index compares with
    /// the catalog, to find what is missing, changed or too much.
    async fn stored(&self) -> Result<BTreeMap<String, String>, IndexError>;
    /// Whether searches would be answered now; if not, why.
    async fn check(&self) -> Result<(), IndexError>;
}
