//! Texts to vectors.

use async_trait::async_trait;

/// What a text is: some models embed requests and documents differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A caller's request.
    Query,
    /// A tool.
    Document,
}

/// Why texts could not be embedded.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The model could not be loaded.
    #[error("embedding model {model} can't be loaded: {reason}")]
    Load {
        /// Name of the model.
        model: String,
        /// Why.
        reason: String,
    },
    /// An embedding server didn't answer as it should.
    #[error("embedding server: {0}")]
    Server(String),
    /// The model failed.
    #[error("embedding failed: {0}")]
    Model(String),
}

/// Turns texts into unit vectors whose dot product is their similarity.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Identifies model and version: vectors of different ids are never compared.
    fn id(&self) -> &str;
    /// Length of the vectors.
    fn dimensions(&self) -> usize;
    /// Factor of the cosine in the fused score: 8 for the static table, 9 for MiniLM.
    fn weight(&self) -> f32;
    /// Share of the best clause in the cosine part of the score of a request with several intents, 0 to 1.
    fn clause_share(&self) -> f32 {
        0.5
    }
    /// Whether the model knows other languages than English. If not, requests in other letters are ranked by words alone.
    fn multilingual(&self) -> bool {
        false
    }
    /// One unit vector of `dimensions` numbers a text, in order. A text without a known token gives zeros.
    async fn embed(&self, texts: &[String], kind: Kind) -> Result<Vec<Vec<f32>>, EmbedError>;
}
