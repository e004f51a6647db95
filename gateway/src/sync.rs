//! Keeps the index at the live catalog: the first catalog whole, later ones by what changed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcc_catalog::model::{Catalog, CompiledTool};

use crate::state::Shared;

/// First and longest time between attempts when the index doesn't answer.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// Runs until the source of the catalog is gone.
pub(crate) async fn follow(shared: Arc<Shared>) {
    let mut catalogs = shared.catalog.clone();
    let mut indexed: Option<Arc<Catalog>> = None;
    loop {
        let catalog = catalogs.borrow_and_update().clone();
        shared.views.clear();
        if index(&shared, indexed.as_deref(), &catalog).await {
            shared.ready.send_replace(true);
            indexed = Some(catalog);
        } else {
            // What the index holds is not known: the next attempt brings everything.
            indexed = None;
        }
        if catalogs.changed().await.is_err() {
            return;
        }
    }
}

/// Applies one catalog, trying again until it is in or a newer one has come; whether it is in.
async fn index(shared: &Shared, indexed: Option<&Catalog>, catalog: &Catalog) -> bool {
    let mut wait = RETRY.0;
    loop {
        let result = match indexed {
            None => shared.index.replace(catalog.documents()).await,
            Some(before) => {
                let (upserts, removals) = difference(before, catalog);
                if upserts.is_empty() && removals.is_empty() {
                    return true;
                }
                shared.index.update(upserts, removals).await
            }
        };
        let Err(error) = result else { return true };
        tracing::warn!(%error, "the search index could not be updated");
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(RETRY.1);
        if shared.catalog.has_changed().is_err() || shared.catalog.borrow().revision != catalog.revision {
            return false;
        }
    }
}

/// Documents that are new or changed, and keys that are gone.
fn difference(before: &Catalog, after: &Catalog) -> (Vec<mcc_catalog::model::ToolDocument>, Vec<String>) {
    let old: HashMap<&str, &Arc<CompiledTool>> =
        before.tools.iter().map(|(key, tool)| (key.as_str(), tool)).collect();
    let upserts = after
        .tools
        .iter()
        // A tool that wasn't compiled anew is the same object.
        .filter(|(key, tool)| !old.get(key.as_str()).is_some_and(|known| Arc::ptr_eq(known, tool)))
        .map(|(_, tool)| tool.document())
        .collect();
    let removals = before.tools.keys().filter(|key| !after.tools.contains_key(*key)).cloned().collect();
    (upserts, removals)
}
