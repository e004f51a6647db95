//! What all controllers share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::Client;
use mcc_catalog::model::ObjectRef;
use tokio::sync::watch;

use crate::events::Events;
use crate::index::Holdings;
use crate::metrics::Metrics;
use crate::table::Table;
use crate::view::View;

/// First and longest wait of an object whose status could not be written.
const RETRY: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// What all controllers share.
pub(crate) struct Context {
    pub client: Client,
    pub table: Arc<Table>,
    pub views: watch::Receiver<Arc<View>>,
    pub holdings: Arc<Holdings>,
    pub metrics: Arc<Metrics>,
    pub events: Events,
    pub backoff: Backoff,
}

impl Context {
    /// The catalog now.
    pub fn view(&self) -> Arc<View> {
        self.views.borrow().clone()
    }
}

/// How often each object failed since it last went well.
#[derive(Default)]
pub(crate) struct Backoff {
    failures: Mutex<HashMap<ObjectRef, u32>>,
}

impl Backoff {
    /// The object went well.
    pub fn reset(&self, object: &ObjectRef) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(object);
    }

    /// The object failed again: how long it waits. Doubles each time, with up to a quarter more at random.
    pub fn next(&self, object: &ObjectRef) -> Duration {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let count = failures.entry(object.clone()).or_default();
        let wait = RETRY.0.saturating_mul(1 << (*count).min(16)).min(RETRY.1);
        *count += 1;
        wait + wait.mul_f64(rand::random::<f64>() / 4.0)
    }
}
