//! Where the catalog comes from.

use std::sync::Arc;

use tokio::sync::watch;

use crate::model::Catalog;

/// A live catalog: a folder or a cluster that is watched.
pub trait CatalogSource: Send + Sync {
    /// The catalog now and at every change. Each value is complete; a broken object leaves the rest as it is.
    fn subscribe(&self) -> watch::Receiver<Arc<Catalog>>;
}
