//! Hybrid tool search.
//!
//! ```text
//! tool    ─▶ analyze ─▶ bm25f (sparse vector) ─┐                     ┌─ sparse leg ─┐
//!         ─▶ document ─▶ Embedder (vector) ────┴▶ index (memory) ────┤              ├─▶ fusion ─▶ hits
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

pub use document::dense_text;
pub use embed::StaticEmbedder;
pub use memory::MemoryIndex;
