//! Counters for Prometheus. Labels are kinds and reasons, never names of objects.

use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mcc_catalog::model::{Catalog, ObjectKind};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::index::Failure;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindAndReason {
    kind: &'static str,
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

/// The counters, and the registry that encodes them.
pub(crate) struct Metrics {
    registry: Registry,
    reconciles: Family<Kind, Counter>,
    failures: Family<KindAndReason, Counter>,
    writes: Family<Kind, Counter>,
    queue: Family<Kind, Gauge>,
    reconcile_seconds: Histogram,
    index_batch_seconds: Histogram,
    index_documents: Counter,
    index_failures: Family<Reason, Counter>,
    index_pending: Gauge,
    index_lag: Gauge<f64, AtomicU64>,
    leader: Gauge,
    catalogs: Counter,
    tools: Gauge,
    groups: Gauge,
    grants: Gauge,
    problems: Gauge,
    /// Since when documents wait for the index.
    behind: Mutex<Option<Instant>>,
}

fn label(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Tool => "Tool",
        ObjectKind::ToolGroup => "ToolGroup",
        ObjectKind::UserGrant => "UserGrant",
        ObjectKind::Secret => "Secret",
        ObjectKind::ConfigMap => "ConfigMap",
    }
}

fn gauge(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl Metrics {
    pub fn new() -> Self {
        let metrics = Self {
            registry: Registry::with_prefix("mcc_operator"),
            reconciles: Family::default(),
            failures: Family::default(),
            writes: Family::default(),
            queue: Family::default(),
            reconcile_seconds: Histogram::new(exponential_buckets(0.000_1, 3.0, 11)),
            index_batch_seconds: Histogram::new(exponential_buckets(0.001, 2.5, 11)),
            index_documents: Counter::default(),
            index_failures: Family::default(),
            index_pending: Gauge::default(),
            index_lag: Gauge::default(),
            leader: Gauge::default(),
            catalogs: Counter::default(),
            tools: Gauge::default(),
            groups: Gauge::default(),
            grants: Gauge::default(),
            problems: Gauge::default(),
            behind: Mutex::default(),
        };
        metrics.registered()
    }

    fn registered(mut self) -> Self {
        let registry = &mut self.registry;
        registry.register("reconciles", "Objects looked at", self.reconciles.clone());
        registry.register(
            "reconcile_failures",
            "Statuses that could not be written, by reason",
            self.failures.clone(),
        );
        registry.register("status_writes", "Statuses written", self.writes.clone());
        registry.register("queue", "Objects that wait or are worked on", self.queue.clone());
        registry.register("reconcile_seconds", "Time of a look at an object", self.reconcile_seconds.clone());
        registry.register(
            "index_batch_seconds",
            "Time of a write to the index",
            self.index_batch_seconds.clone(),
        );
        registry.register("index_documents", "Documents written to the index", self.index_documents.clone());
        registry.register(
            "index_failures",
            "Writes that the index failed, by reason",
            self.index_failures.clone(),
        );
        registry.register(
            "index_pending",
            "Tools that the index doesn't hold as they are",
            self.index_pending.clone(),
        );
        registry.register(
            "index_lag_seconds",
            "Time for which Tools have waited for the index",
            self.index_lag.clone(),
        );
        registry.register("leader", "Whether this operator writes", self.leader.clone());
        registry.register("catalogs", "Catalogs compiled", self.catalogs.clone());
        registry.register("catalog_tools", "Tools in the catalog", self.tools.clone());
        registry.register("catalog_groups", "ToolGroups in the catalog", self.groups.clone());
        registry.register("catalog_grants", "UserGrants in the catalog", self.grants.clone());
        registry.register("catalog_problems", "Problems found in the objects", self.problems.clone());
        self
    }

    pub fn reconciled(&self, kind: ObjectKind, took: Duration) {
        self.reconciles.get_or_create(&Kind { kind: label(kind) }).inc();
        self.reconcile_seconds.observe(took.as_secs_f64());
    }

    pub fn failed(&self, kind: ObjectKind, reason: &'static str) {
        self.failures.get_or_create(&KindAndReason { kind: label(kind), reason }).inc();
    }

    pub fn wrote(&self, kind: ObjectKind) {
        self.writes.get_or_create(&Kind { kind: label(kind) }).inc();
    }

    /// Statuses written of a kind.
    pub fn writes(&self, kind: ObjectKind) -> u64 {
        self.writes.get_or_create(&Kind { kind: label(kind) }).get()
    }

    pub fn queue(&self, kind: ObjectKind, depth: usize) {
        self.queue.get_or_create(&Kind { kind: label(kind) }).set(gauge(depth));
    }

    pub fn index_batch(&self, documents: usize, took: Duration) {
        self.index_documents.inc_by(documents as u64);
        self.index_batch_seconds.observe(took.as_secs_f64());
    }

    pub fn index_failed(&self, failure: &Failure) {
        self.index_failures.get_or_create(&Reason { reason: failure.reason }).inc();
    }

    pub fn index_pending(&self, tools: usize) {
        self.index_pending.set(gauge(tools));
        let mut behind = self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        *behind = if tools == 0 { None } else { Some(behind.unwrap_or_else(Instant::now)) };
    }

    pub fn lead(&self, leads: bool) {
        self.leader.set(i64::from(leads));
    }

    pub fn catalog(&self, catalog: &Catalog) {
        self.catalogs.inc();
        self.tools.set(gauge(catalog.tools.len()));
        self.groups.set(gauge(catalog.groups.len()));
        self.grants.set(gauge(catalog.grants.len()));
        self.problems.set(gauge(catalog.problems.len()));
    }

    /// All of it, as Prometheus reads it.
    pub fn encode(&self) -> Result<String, std::fmt::Error> {
        let behind = *self.behind.lock().unwrap_or_else(PoisonError::into_inner);
        self.index_lag.set(behind.map_or(0.0, |since| since.elapsed().as_secs_f64()));
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
