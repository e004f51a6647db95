//! Where Qdrant is and how it is used.

use std::path::PathBuf;
use std::time::Duration;

/// Settings of the index in Qdrant.
#[derive(Clone)]
pub struct QdrantSettings {
    /// The gRPC address, for example `http://qdrant:6334`; `https` for TLS.
    pub url: String,
    /// Sent as `api-key` with every call.
    pub api_key: Option<String>,
    /// Certificates (PEM) that are trusted in place of the system's.
    pub ca_file: Option<PathBuf>,
    /// Time for one call.
    pub timeout: Duration,
    /// How often a write is sent again after a failure that may pass. A search is sent again once, when the
    /// connection was lost.
    pub retries: usize,
    /// Begins the names of the alias and the collections, so that several catalogs can share a Qdrant.
    pub prefix: String,
    /// Copies of the collection in a cluster of Qdrant nodes.
    pub replication_factor: u32,
    /// Copies that must have a write before it is acknowledged.
    pub write_consistency_factor: u32,
    /// Tools a write.
    pub batch: usize,
}

impl QdrantSettings {
    /// The usual settings for one Qdrant node at `url`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            api_key: None,
            ca_file: None,
            timeout: Duration::from_secs(5),
            retries: 3,
            prefix: "mcc".to_owned(),
            replication_factor: 1,
            write_consistency_factor: 1,
            batch: 128,
        }
    }
}

impl std::fmt::Debug for QdrantSettings {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QdrantSettings")
            .field("url", &self.url)
            .field("prefix", &self.prefix)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
