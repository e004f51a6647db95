//! Writes to the index, one batch after the other.

use std::sync::Arc;
use std::time::Duration;

use mcc_catalog::model::Catalog;
use mcc_catalog::seam::{IndexError, ToolIndex};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::holdings::{Batch, Failure, Holdings};
use crate::metrics::Metrics;
use crate::queue::Queues;
use crate::view::View;

/// Most documents written at once.
const BATCH: usize = 256;
/// First and longest wait after a failure.
const RETRY: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));
/// Time for one batch.
const ANSWER: Duration = Duration::from_secs(30);
/// Time for writing everything.
const ANSWER_ALL: Duration = Duration::from_secs(600);
/// So many documents refused one after the other are no longer their own fault.
const REFUSALS: usize = 8;

/// How often the index is looked after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rhythm {
    /// Time between two looks at the number of documents.
    pub count: Duration,
    /// Time between two sweeps: everything is compared, missing documents written, strange ones removed.
    pub sweep: Duration,
}

/// Keeps the index at the live catalog, as long as this program leads.
pub(crate) struct Writer {
    index: Arc<dyn ToolIndex>,
    holdings: Arc<Holdings>,
    views: watch::Receiver<Arc<View>>,
    queues: Queues,
    metrics: Arc<Metrics>,
    rhythm: Rhythm,
    /// Most documents of the next batch: fewer while a batch is refused, to find out which document it is.
    limit: usize,
    refusals: usize,
    wait: Duration,
}

impl Writer {
    pub fn new(
        index: Arc<dyn ToolIndex>,
        holdings: Arc<Holdings>,
        views: watch::Receiver<Arc<View>>,
        queues: Queues,
        metrics: Arc<Metrics>,
        rhythm: Rhythm,
    ) -> Self {
        Self { index, holdings, views, queues, metrics, rhythm, limit: BATCH, refusals: 0, wait: RETRY.0 }
    }

    /// Writes until it is dropped, or the catalog's source is gone.
    pub async fn run(mut self) {
        self.holdings.forget();
        let mut whole = false;
        let mut sweep = Instant::now() + self.rhythm.sweep;
        let mut count = Instant::now() + self.rhythm.count;
        loop {
            let catalog = self.views.borrow_and_update().catalog.clone();
            if whole {
                whole = self.follow().await;
            } else {
                whole = self.write_all(&catalog).await;
                sweep = Instant::now() + self.rhythm.sweep;
            }
            if !whole {
                self.pause().await;
                continue;
            }
            tokio::select! {
                changed = self.views.changed() => if changed.is_err() { return },
                () = sleep_until(sweep) => whole = false,
                () = sleep_until(count) => {
                    count = Instant::now() + self.rhythm.count;
                    whole = self.is_complete().await;
                }
            }
        }
    }

    /// Makes the index hold exactly the catalog; whether it does.
    async fn write_all(&mut self, catalog: &Arc<Catalog>) -> bool {
        let index = self.index.clone();
        // An index that doesn't say so may have documents, which a search must not lose.
        let empty = matches!(answer(ANSWER, index.len()).await, Ok(0));
        if empty {
            // Built empty and filled batch by batch, so that the first Tools needn't wait for the last one, and a document
            // that is refused doesn't keep the others out.
            self.holdings.forget();
            return match answer(ANSWER, index.replace(Vec::new())).await {
                Ok(()) => self.follow().await,
                Err(error) => self.stumble(&Batch::default(), &error),
            };
        }
        match answer(ANSWER_ALL, index.replace(catalog.documents())).await {
            Ok(()) => {
                let pending = self.holdings.pending(catalog);
                self.holdings.took_all(catalog);
                self.steady(pending);
                self.follow().await
            }
            // Perhaps only some documents are refused: batches tell which.
            Err(IndexError::Refused(_)) => self.follow().await,
            Err(error) => self.stumble(&Batch::default(), &error),
        }
    }

    /// Writes what differs, batch by batch, against the newest catalog each time; whether nothing is left.
    async fn follow(&mut self) -> bool {
        loop {
            let catalog = self.views.borrow_and_update().catalog.clone();
            let batch = self.holdings.difference(&catalog, self.limit);
            if batch.is_empty() {
                self.took(&batch);
                return true;
            }
            let began = Instant::now();
            let result = self.index.update(batch.upserts.clone(), batch.removals.clone());
            match answer(ANSWER, result).await {
                Ok(()) => {
                    self.metrics.index_batch(batch.upserts.len(), began.elapsed());
                    self.took(&batch);
                }
                Err(error @ IndexError::Refused(_)) => {
                    if !self.isolate(&batch, &error) {
                        return false;
                    }
                }
                Err(error) => return self.stumble(&batch, &error),
            }
        }
    }

    /// A batch was refused: a smaller one finds out whose fault it is. Whether to go on.
    fn isolate(&mut self, batch: &Batch, error: &IndexError) -> bool {
        if batch.upserts.len() > 1 {
            self.limit = (batch.upserts.len() / 2).max(1);
            return true;
        }
        self.refusals += 1;
        if batch.upserts.is_empty() || self.refusals >= REFUSALS {
            return self.stumble(batch, error);
        }
        let failure = Failure::from(error);
        self.metrics.index_failed(&failure);
        self.holdings.rejected(batch, &failure);
        self.queues.trigger_all(batch.objects());
        true
    }

    fn took(&mut self, batch: &Batch) {
        self.holdings.took(batch);
        self.refusals = 0;
        self.limit = (self.limit * 2).min(BATCH);
        self.steady(batch.objects().collect());
    }

    /// The index has answered: these Tools can be told so.
    fn steady(&mut self, objects: Vec<mcc_catalog::model::ObjectRef>) {
        self.wait = RETRY.0;
        self.queues.trigger_all(objects);
        self.measure();
    }

    /// The index failed: Tools that wait for it are told so. Gives false: nothing is certain.
    fn stumble(&mut self, batch: &Batch, error: &IndexError) -> bool {
        let failure = Failure::from(error);
        self.metrics.index_failed(&failure);
        let known = self.holdings.failure().as_ref() == Some(&failure);
        self.holdings.failed(batch, failure);
        if !known {
            tracing::warn!(%error, "the search index could not be updated");
        }
        // Tools that came meanwhile are told, too.
        let catalog = self.views.borrow().catalog.clone();
        self.queues.trigger_all(self.holdings.pending(&catalog));
        self.measure();
        false
    }

    fn measure(&self) {
        let catalog = self.views.borrow().catalog.clone();
        self.metrics.index_pending(self.holdings.pending(&catalog).len());
    }

    async fn pause(&mut self) {
        tokio::time::sleep(self.wait).await;
        self.wait = (self.wait * 2).min(RETRY.1);
    }

    /// Whether the index has as many documents as it should: somebody may have deleted them.
    async fn is_complete(&mut self) -> bool {
        let Some(expected) = self.holdings.certain() else { return true };
        match answer(ANSWER, self.index.len()).await {
            Ok(found) if found == expected => true,
            Ok(found) => {
                tracing::warn!(found, expected, "the search index has other documents than were written");
                self.holdings.forget();
                false
            }
            Err(error) => {
                tracing::debug!(%error, "the search index doesn't say how many documents it has");
                true
            }
        }
    }
}

/// The index's answer, which may not take for ever.
async fn answer<T>(
    within: Duration,
    work: impl Future<Output = Result<T, IndexError>>,
) -> Result<T, IndexError> {
    timeout(within, work)
        .await
        .unwrap_or_else(|_| Err(IndexError::Unavailable(format!("no answer within {} s", within.as_secs()))))
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
