//! The operator: which parts there are, and who writes when.
//!
//! ```text
//! ClusterSource ─▶ Catalog ─▶ follow ─▶ View ─┬▶ queues ─▶ controllers (3) ─▶ statuses, Events  ┐ only while
//!       └─▶ Table (statuses) ─▶ queues        └▶ Writer ─▶ index, queues                        ┘ this one leads
//! ```

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use kube::Client;
use mcc_catalog::compile::CatalogSettings;
use mcc_catalog::model::{Catalog, ObjectKind};
use mcc_catalog::seam::{CatalogSource, ToolIndex};
use mcc_cluster::{ClusterOptions, ClusterSource};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::context::{Backoff, Context};
use crate::controller;
use crate::events::Events;
use crate::http;
use crate::index::{Holdings, Rhythm, Writer};
use crate::lease::{self, LeaseOptions};
use crate::metrics::Metrics;
use crate::queue::{Inboxes, Queues, queues};
use crate::table::Table;
use crate::view::View;

/// How an operator works.
#[derive(Clone, Debug)]
pub struct OperatorOptions {
    /// Catalog namespace and tool namespaces.
    pub settings: CatalogSettings,
    /// The Lease that decides who writes; none: this operator is the only one.
    pub lease: Option<LeaseOptions>,
    /// Tells this operator from others, in Events.
    pub identity: String,
    /// Time between two looks at how many documents the index has.
    pub count_index: Duration,
    /// Time between two sweeps of the index.
    pub sweep_index: Duration,
}

/// An operator. It watches from the beginning, and writes while it runs and leads.
pub struct Operator {
    context: Arc<Context>,
    source: Arc<ClusterSource>,
    queues: Queues,
    inboxes: Inboxes,
    index: Arc<dyn ToolIndex>,
    options: OperatorOptions,
    health: Arc<Health>,
    leads: watch::Sender<bool>,
    views: watch::Sender<Arc<View>>,
    event_writer: crate::events::EventWriter,
}

impl Operator {
    /// Puts an operator together and opens its watches. Needs a Tokio runtime.
    pub fn new(client: Client, index: Arc<dyn ToolIndex>, options: OperatorOptions) -> Self {
        let (queues, inboxes) = queues();
        let table = Arc::new(Table::new(queues.clone()));
        let watched = ClusterOptions { settings: options.settings.clone(), watch_misplaced: true };
        let source = Arc::new(ClusterSource::start(&client, watched, table.clone()));
        let (views, view) = watch::channel(Arc::default());
        let (leads, _) = watch::channel(false);
        let metrics = Arc::new(Metrics::new());
        let holdings = Arc::new(Holdings::default());
        let (events, event_writer) = Events::new(client.clone(), options.identity.clone());
        let health = Arc::new(Health {
            source: source.clone(),
            metrics: metrics.clone(),
            holdings: holdings.clone(),
            leads: leads.subscribe(),
        });
        let backoff = Backoff::default();
        let context = Context { client, table, views: view, holdings, metrics, events, backoff };
        Self {
            context: Arc::new(context),
            source,
            queues,
            inboxes,
            index,
            options,
            health,
            leads,
            views,
            event_writer,
        }
    }

    /// Probes and metrics: `/healthz`, `/readyz`, `/metrics`.
    pub fn router(&self) -> Router {
        http::router(self.health.clone())
    }

    /// How the operator fares.
    pub fn health(&self) -> Arc<Health> {
        self.health.clone()
    }

    /// Watches, and writes while it leads, until `shutdown`. Then lets go of the Lease.
    pub async fn run(self, shutdown: CancellationToken) -> anyhow::Result<()> {
        let Self {
            context,
            source,
            queues,
            mut inboxes,
            index,
            options,
            health: _,
            leads,
            views,
            event_writer,
        } = self;
        let led = leads.subscribe();
        let stop = CancellationToken::new();
        let _stop_on_drop = stop.clone().drop_guard();
        let election = options.lease.clone().map(|lease| {
            let (client, leads, stop) = (context.client.clone(), leads.clone(), stop.clone());
            tokio::spawn(lease::compete(client, lease, leads, stop))
        });
        if election.is_none() {
            leads.send_replace(true);
        }
        let events = tokio::spawn(event_writer.run());
        let rhythm = Rhythm { count: options.count_index, sweep: options.sweep_index };
        let writing =
            Writing { context: &context, queues: &queues, inboxes: &mut inboxes, index: &index, rhythm };
        let result = tokio::select! {
            () = shutdown.cancelled() => Ok(()),
            result = follow(&context, &source, &views, &queues) => result,
            result = writing.whenever(led) => result,
        };
        stop.cancel();
        if let Some(election) = election {
            election.await?;
        }
        events.abort();
        result
    }
}

/// Turns catalogs into views, and has the objects looked at that a view says something else about.
async fn follow(
    context: &Context,
    source: &ClusterSource,
    views: &watch::Sender<Arc<View>>,
    queues: &Queues,
) -> anyhow::Result<()> {
    source.synced().await;
    let mut catalogs = source.subscribe();
    loop {
        let catalog: Arc<Catalog> = catalogs.borrow_and_update().clone();
        context.metrics.catalog(&catalog);
        let before = views.borrow().clone();
        let (view, concerned) = tokio::task::spawn_blocking(move || before.next(catalog)).await?;
        views.send_replace(Arc::new(view));
        queues.trigger_all(concerned);
        catalogs.changed().await?;
    }
}

/// What a leader does.
struct Writing<'a> {
    context: &'a Arc<Context>,
    queues: &'a Queues,
    inboxes: &'a mut Inboxes,
    index: &'a Arc<dyn ToolIndex>,
    rhythm: Rhythm,
}

impl Writing<'_> {
    /// Writes whenever this operator leads.
    async fn whenever(mut self, mut leads: watch::Receiver<bool>) -> anyhow::Result<()> {
        let mut lost = leads.clone();
        loop {
            leads.wait_for(|leads| *leads).await?;
            tracing::info!("this operator leads");
            self.context.metrics.lead(true);
            tokio::select! {
                () = self.write() => {}
                result = lost.wait_for(|leads| !*leads) => { result?; }
            }
            self.queues.set_open(false);
            self.context.metrics.lead(false);
            tracing::warn!("this operator doesn't lead any more");
        }
    }

    /// Writes, until it is dropped.
    async fn write(&mut self) {
        let Self { context, queues, inboxes, index, rhythm } = self;
        // Nothing is known before the first catalog: an index written now would be emptied.
        if context.views.clone().wait_for(|view| view.is_synced).await.is_err() {
            return;
        }
        queues.set_open(true);
        for kind in [ObjectKind::ToolGroup, ObjectKind::UserGrant, ObjectKind::Tool] {
            queues.trigger_all(context.table.of_kind(kind));
        }
        let writer = Writer::new(
            index.clone(),
            context.holdings.clone(),
            context.views.clone(),
            queues.clone(),
            context.metrics.clone(),
            *rhythm,
        );
        let Inboxes { tools, groups, grants } = inboxes;
        tokio::join!(
            writer.run(),
            controller::run(context, ObjectKind::Tool, tools),
            controller::run(context, ObjectKind::ToolGroup, groups),
            controller::run(context, ObjectKind::UserGrant, grants),
        );
    }
}

/// How an operator fares.
pub struct Health {
    source: Arc<ClusterSource>,
    metrics: Arc<Metrics>,
    holdings: Arc<Holdings>,
    leads: watch::Receiver<bool>,
}

/// How an operator fares, in words.
pub(crate) struct Report {
    pub synced: bool,
    pub leads: bool,
    /// What the watches wait for.
    pub waiting: Vec<String>,
    /// What is in the way of the index.
    pub index: Option<String>,
}

impl Health {
    pub(crate) fn report(&self) -> Report {
        let waiting = self.source.health().into_iter().filter(|watch| !watch.synced || watch.error.is_some());
        let waiting = waiting.map(|watch| match watch.error {
            Some(error) => format!("{}: {error}", watch.watch),
            None => format!("{}: not yet seen", watch.watch),
        });
        Report {
            synced: self.source.is_synced(),
            leads: self.is_leader(),
            waiting: waiting.collect(),
            index: self.holdings.failure().map(|failure| failure.message),
        }
    }

    pub(crate) fn metrics(&self) -> Result<String, std::fmt::Error> {
        self.metrics.encode()
    }

    /// Whether the catalog is known.
    pub fn is_synced(&self) -> bool {
        self.source.is_synced()
    }

    /// Whether this operator writes.
    pub fn is_leader(&self) -> bool {
        *self.leads.borrow()
    }

    /// Number of statuses written since the start.
    pub fn status_writes(&self) -> u64 {
        [ObjectKind::Tool, ObjectKind::ToolGroup, ObjectKind::UserGrant]
            .into_iter()
            .map(|kind| self.metrics.writes(kind))
            .sum()
    }
}
