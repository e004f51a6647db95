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

pub mod access;
pub mod compile;
pub mod example;
pub mod invoke;
pub mod manifest;
pub mod model;
pub mod output;
pub mod params;
pub mod quantity;
pub mod script;
pub mod seam;
pub mod session;
pub mod signature;

#[cfg(test)]
mod testing;
