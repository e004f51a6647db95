//! Hybrid tool search.
//!
//! ```text
//! tool    ─▶ analyze ─▶ bm25f (sparse vector) ─┐                     ┌─ sparse leg ─┐
//!         ─▶ document ─▶ Embedder (vector) ────┴▶ memory or Qdrant ──┤              ├─▶ fusion ─▶ hits
//! request ─▶ clauses, analyze, names (Plan) ─────▶                   └─ dense leg ──┘
//! ```
//!
//! What decides the ranking (analyzer, BM25F, plan and fusion) is shared by all indexes; an index only stores vectors,
//! returns the best of each leg, and filters by visibility inside the query.

pub mod analyze;
pub mod bm25f;
pub mod clauses;
mod document;
mod embed;
#[cfg(feature = "testsuite")]
pub mod evaluate;
pub mod fusion;
mod memory;
pub mod names;
#[cfg(feature = "qdrant")]
mod qdrant;
#[cfg(feature = "testsuite")]
pub mod testsuite;

pub use document::dense_text;
#[cfg(feature = "minilm")]
pub use embed::MiniLmEmbedder;
pub use embed::{EndpointEmbedder, EndpointSettings, StaticEmbedder};
pub use memory::MemoryIndex;
#[cfg(feature = "qdrant")]
pub use qdrant::{QdrantIndex, QdrantSettings, SCHEMA};

/// Lower-case hexadecimal digits.
#[cfg(any(feature = "qdrant", feature = "testsuite"))]
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Folder of the MiniLM weights: `$MCC_MODEL_DIR`, if set. Nothing is ever downloaded at run time.
pub fn model_folder() -> Option<std::path::PathBuf> {
    std::env::var_os("MCC_MODEL_DIR").filter(|folder| !folder.is_empty()).map(Into::into)
}
