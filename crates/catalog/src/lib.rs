//! What a tool is.
//!
//! ```text
//! manifests, cluster ─▶ ObjectSet ─▶ compile ─▶ Catalog ─▶ Access ─▶ Visibility ─▶ search, execute, …
//!                                        │
//!                                        └▶ Problem (lint, conditions)
//! ```
//!
//! Everything here is pure: no Kubernetes client, no Qdrant, no HTTP. The traits in [`seam`] are what the servers plug
//! their sources, indexes and executors into.

pub mod model;
pub mod script;
pub mod seam;
