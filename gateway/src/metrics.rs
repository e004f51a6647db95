//! Counters for Prometheus. No label holds what a caller made up: keys are those of tools that exist.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::state::Shared;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    tool: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    tool: String,
    outcome: &'static str,
}

/// The counters, and the registry that encodes them.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    calls: Family<CallLabels, Counter>,
    /// Calls of keys that the caller can't run.
    pub denied: Counter,
    /// Seconds of a search in the index.
    pub search_seconds: Histogram,
    /// Seconds from start to answer of a run.
    pub call_seconds: Histogram,
    in_flight: Gauge,
    sessions: Gauge,
    tools: Gauge<i64>,
    problems: Gauge<i64>,
    revision: Gauge<u64, AtomicU64>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("mcc");
        let requests = Family::default();
        registry.register("requests", "Calls of the gateway's own tools", requests.clone());
        let calls = Family::default();
        registry.register("tool_calls", "Calls of tools of the catalog, by outcome", calls.clone());
        let denied = Counter::default();
        registry.register("denied", "Calls of keys that the caller can't run", denied.clone());
        let search_seconds = Histogram::new(exponential_buckets(0.000_1, 2.5, 10));
        registry.register("search_seconds", "Time of a search in the index", search_seconds.clone());
        let call_seconds = Histogram::new(exponential_buckets(0.01, 2.5, 12));
        registry.register("tool_call_seconds", "Time from start to answer of a run", call_seconds.clone());
        let in_flight = Gauge::default();
        registry.register("in_flight", "Tools that run at this moment", in_flight.clone());
        let sessions = Gauge::default();
        registry.register("mcp_sessions", "Open MCP sessions", sessions.clone());
        let tools = Gauge::default();
        registry.register("catalog_tools", "Tools in the catalog", tools.clone());
        let problems = Gauge::default();
        registry.register("catalog_problems", "Problems found in the catalog's objects", problems.clone());
        let revision = Gauge::default();
        registry.register("catalog_revision", "Revision of the catalog", revision.clone());
        Self {
            registry,
            requests,
            calls,
            denied,
            search_seconds,
            call_seconds,
            in_flight,
            sessions,
            tools,
            problems,
            revision,
        }
    }

    /// Counts a call of one of our own tools.
    pub(crate) fn request(&self, tool: &'static str) {
        self.requests.get_or_create(&RequestLabels { tool }).inc();
    }

    /// Counts a call of a tool of the catalog.
    pub(crate) fn call(&self, key: &str, outcome: &'static str) {
        self.calls.get_or_create(&CallLabels { tool: key.to_owned(), outcome }).inc();
    }

    /// All of it, as Prometheus reads it.
    pub(crate) fn encode(&self, shared: &Shared) -> Result<String, std::fmt::Error> {
        let catalog = shared.catalog();
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.in_flight.set(count(shared.in_flight.total()));
        self.sessions.set(count(shared.mcp_sessions.len()));
        self.tools.set(count(catalog.tools.len()));
        self.problems.set(count(catalog.problems.len()));
        self.revision.set(catalog.revision);
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}
