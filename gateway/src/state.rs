//! What all requests share.

use std::sync::Arc;

use mcc_catalog::model::Catalog;
use mcc_catalog::seam::{CatalogSource, Executor, SessionKey, SessionStore, ToolIndex};
use rmcp::model::RequestStateCodec;
use tokio::sync::watch;

use crate::calls::outputs::Outputs;
use crate::calls::run::Calls;
use crate::config::GatewayConfig;
use crate::limits::cache::ResultCache;
use crate::limits::in_flight::InFlight;
use crate::limits::rate::RateLimits;
use crate::mcp::Announcement;
use crate::mcp::names::Names;
use crate::mcp::scope::Scope;
use crate::mcp::view::{View, Views};
use crate::metrics::Metrics;
use crate::session::handle::Handles;
use crate::session::mcp::BoundSessions;

/// What all requests share.
pub(crate) struct Shared {
    pub config: GatewayConfig,
    pub catalog: watch::Receiver<Arc<Catalog>>,
    pub index: Arc<dyn ToolIndex>,
    pub executor: Arc<dyn Executor>,
    pub sessions: Arc<dyn SessionStore>,
    pub mcp_sessions: Arc<BoundSessions>,
    pub names: Names,
    pub announcement: Announcement,
    pub views: Views,
    pub handles: Handles,
    /// Seals the states of elicitations that go through the client.
    pub states: RequestStateCodec,
    pub rates: RateLimits,
    pub in_flight: Arc<InFlight>,
    pub results: ResultCache,
    pub outputs: Outputs,
    pub calls: Arc<Calls>,
    pub metrics: Metrics,
    /// Whether the index holds a catalog.
    pub ready: watch::Sender<bool>,
}

impl Shared {
    pub(crate) fn new(
        config: GatewayConfig,
        source: &dyn CatalogSource,
        index: Arc<dyn ToolIndex>,
        executor: Arc<dyn Executor>,
        sessions: Arc<dyn SessionStore>,
    ) -> Self {
        let secret = config.secret.unwrap_or_else(rand::random);
        let names = Names::new(&config.tool_prefix);
        Self {
            catalog: source.subscribe(),
            index,
            executor,
            sessions,
            mcp_sessions: Arc::new(BoundSessions::new(config.max_mcp_sessions)),
            announcement: Announcement::new(&names),
            names,
            views: Views::new(),
            handles: Handles::new(&secret, &config.catalog),
            states: RequestStateCodec::new_unchecked(secret),
            rates: RateLimits::new(),
            in_flight: InFlight::new(config.max_in_flight, config.max_in_flight_per_caller),
            results: ResultCache::new(config.result_cache_bytes),
            outputs: Outputs::new(config.kept_output_bytes, config.keep_outcomes),
            calls: Calls::new(config.kept_output_bytes, config.keep_outcomes),
            metrics: Metrics::new(),
            ready: watch::Sender::new(false),
            config,
        }
    }

    /// Whether the catalog can be searched.
    pub(crate) fn is_ready(&self) -> bool {
        *self.ready.borrow()
    }

    /// Waits until the catalog can be searched.
    pub(crate) async fn until_ready(&self) {
        // The sender is our own: it can't be gone.
        let _ = self.ready.subscribe().wait_for(|ready| *ready).await;
    }

    /// The catalog at this moment.
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        self.catalog.borrow().clone()
    }

    /// A scratchpad for an anonymous caller who has none, and its new handle.
    pub(crate) fn open_scratchpad(&self, scope: &Scope) -> (SessionKey, Option<String>) {
        let handle = self.handles.mint(&scope.principal);
        (scope.key(&handle, &self.config.catalog), Some(handle))
    }

    /// What the caller sees of it.
    pub(crate) fn view(&self, scope: &Scope) -> Arc<View> {
        self.views.get(&self.catalog(), scope)
    }
}
