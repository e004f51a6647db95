//! The catalog of a cluster, kept up to date.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use jiff::Timestamp;
use kube::Client;
use kube::runtime::watcher::{self, Event};
use mcc_catalog::compile::{CatalogSettings, compile};
use mcc_catalog::model::Catalog;
use mcc_catalog::seam::CatalogSource;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::store::Store;
use crate::watch::{self as watches, NAMESPACES, Scope, Update, Updates};
use crate::{Observer, explain};

/// Changes that come this shortly after each other are compiled together, for at most [`LONGEST`].
const QUIET: Duration = Duration::from_millis(10);
/// Longest time from a change to its compilation.
const LONGEST: Duration = Duration::from_millis(100);
/// Longest time between two looks at the grants that end, whatever clocks do meanwhile.
const EXPIRY: Duration = Duration::from_secs(3600);

/// Which objects of the cluster make up the catalog.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// Catalog namespace and tool namespaces. Without tool namespaces every Tool of the cluster counts.
    pub settings: CatalogSettings,
    /// Also watch ToolGroups and UserGrants in the tool namespaces, where they count for nothing: for programs that
    /// tell people so.
    pub watch_misplaced: bool,
}

impl ClusterOptions {
    /// The namespaces that Tools are taken from; none for all.
    pub(crate) fn namespaces(&self) -> Vec<Option<String>> {
        let Some(tools) = &self.settings.tool_namespaces else { return vec![None] };
        let all: BTreeSet<&String> = tools.iter().chain([&self.settings.catalog_namespace]).collect();
        all.into_iter().cloned().map(Some).collect()
    }
}

/// How one watch fares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchHealth {
    /// What it looks at.
    pub watch: String,
    /// Whether it has seen everything there is, once.
    pub synced: bool,
    /// What is in its way now.
    pub error: Option<String>,
}

/// The catalog of a cluster. Dropping it ends the watches.
pub struct ClusterSource {
    catalogs: watch::Receiver<Arc<Catalog>>,
    synced: watch::Receiver<bool>,
    health: Arc<Mutex<Vec<WatchHealth>>>,
    _end_on_drop: DropGuard,
}

impl ClusterSource {
    /// Opens the watches, and returns at once: the catalog is empty until all of them have seen everything there is
    /// ([`ClusterSource::synced`]). Needs a Tokio runtime.
    pub fn start(client: &Client, options: ClusterOptions, observer: Arc<dyn Observer>) -> Self {
        let (scopes, updates) = watches::open(client, &options);
        let health =
            scopes.iter().map(|scope| WatchHealth { watch: scope.to_string(), synced: false, error: None });
        let health: Arc<Mutex<Vec<WatchHealth>>> = Arc::new(Mutex::new(health.collect()));
        let (publish, catalogs) = watch::channel(Arc::default());
        let (ready, synced) = watch::channel(false);
        let end = CancellationToken::new();
        let follower = Follower {
            scopes,
            settings: options.settings,
            observer,
            health: health.clone(),
            store: Store::default(),
            publish,
            ready,
            due: None,
            compiling: None,
            expiry: Instant::now() + EXPIRY,
        };
        let ended = end.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = follower.follow(updates) => {}
            }
        });
        Self { catalogs, synced, health, _end_on_drop: end.drop_guard() }
    }

    /// Waits for the first whole catalog.
    pub async fn synced(&self) {
        // The sender lives as long as this source.
        let _ = self.synced.clone().wait_for(|synced| *synced).await;
    }

    /// Whether there was a whole catalog.
    pub fn is_synced(&self) -> bool {
        *self.synced.borrow()
    }

    /// How the watches fare, for people who wait.
    pub fn health(&self) -> Vec<WatchHealth> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl CatalogSource for ClusterSource {
    fn subscribe(&self) -> watch::Receiver<Arc<Catalog>> {
        self.catalogs.clone()
    }
}

/// When changes are to be compiled.
#[derive(Clone, Copy)]
struct Due {
    latest: Instant,
    at: Instant,
}

/// Turns updates into catalogs.
struct Follower {
    scopes: Vec<Scope>,
    settings: CatalogSettings,
    observer: Arc<dyn Observer>,
    health: Arc<Mutex<Vec<WatchHealth>>>,
    store: Store,
    publish: watch::Sender<Arc<Catalog>>,
    ready: watch::Sender<bool>,
    due: Option<Due>,
    compiling: Option<JoinHandle<Catalog>>,
    /// When a grant ends next.
    expiry: Instant,
}

impl Follower {
    async fn follow(mut self, mut updates: Updates) {
        loop {
            let due = self.due.filter(|_| self.compiling.is_none()).map(|due| due.at);
            tokio::select! {
                update = updates.next() => match update {
                    Some((watch, update)) => self.take(watch, update),
                    // Watches never end.
                    None => return,
                },
                catalog = finished(&mut self.compiling) => self.publish(catalog),
                () = sleep_until(due) => self.compile(),
                () = tokio::time::sleep_until(self.expiry) => {
                    self.expiry = Instant::now() + EXPIRY;
                    self.postpone();
                }
            }
        }
    }

    fn take(&mut self, watch: usize, update: Update) {
        let error = match &update {
            Update::Failed(error) => Some(reason(error)),
            _ => None,
        };
        let listed = match &update {
            Update::Tools(event) => matches!(**event, Event::InitDone),
            Update::Groups(event) => matches!(**event, Event::InitDone),
            Update::Grants(event) => matches!(**event, Event::InitDone),
            Update::Namespaces(event) => matches!(**event, Event::InitDone),
            Update::Failed(_) => false,
        };
        let namespace = self.scopes[watch].namespace.as_deref();
        match update {
            Update::Tools(event) => self.store.apply(watch, namespace, *event, &*self.observer),
            Update::Groups(event) => self.store.apply(watch, namespace, *event, &*self.observer),
            Update::Grants(event) => self.store.apply(watch, namespace, *event, &*self.observer),
            Update::Namespaces(event) => self.store.apply_namespace(*event),
            Update::Failed(_) => {}
        }
        self.note(watch, listed, error);
        if self.store.take_changed() {
            self.postpone();
        }
    }

    /// Notes how a watch fares; the first catalog is due when the last of them has seen everything.
    fn note(&mut self, watch: usize, listed: bool, error: Option<(String, bool)>) {
        let mut all = self.health.lock().unwrap_or_else(PoisonError::into_inner);
        let health = &mut all[watch];
        let mut settled = listed;
        match error {
            // A listing that is tried again says Init before it fails again.
            None if !listed && !health.synced => {}
            None => health.error = None,
            Some((error, forbidden)) => {
                // Without labels of namespaces only selectors don't match.
                settled = forbidden && self.scopes[watch].kind == NAMESPACES;
                if health.error.as_ref() != Some(&error) {
                    tracing::warn!(watch = %health.watch, %error, "a watch failed and is tried again");
                    health.error = Some(error);
                }
            }
        }
        health.synced |= settled;
        let synced = settled && all.iter().all(|health| health.synced);
        drop(all);
        if synced && !*self.ready.borrow() && self.due.is_none() {
            self.postpone();
        }
    }

    /// A change has come: it is compiled when it is quiet.
    fn postpone(&mut self) {
        let now = Instant::now();
        let latest = self.due.map_or(now + LONGEST, |due| due.latest);
        self.due = Some(Due { latest, at: latest.min(now + QUIET) });
    }

    fn is_synced(&self) -> bool {
        self.health.lock().unwrap_or_else(PoisonError::into_inner).iter().all(|health| health.synced)
    }

    fn compile(&mut self) {
        self.due = None;
        if !self.is_synced() {
            return;
        }
        let objects = self.store.objects();
        let previous = self.publish.borrow().clone();
        let settings = CatalogSettings { now: Some(Timestamp::now()), ..self.settings.clone() };
        let next = objects.grants.values().filter_map(|entry| entry.object.spec.expires_at.as_ref());
        let next = next.map(|end| end.0).filter(|end| Some(*end) > settings.now).min();
        self.expiry = Instant::now() + next.map_or(EXPIRY, until);
        self.compiling =
            Some(tokio::task::spawn_blocking(move || compile(objects, &settings, Some(&previous))));
    }

    fn publish(&mut self, catalog: Catalog) {
        let mut catalog = catalog;
        self.store.report_invalid(&mut catalog);
        tracing::debug!(
            tools = catalog.tools.len(),
            compiled = catalog.stats.compiled,
            problems = catalog.problems.len(),
            revision = catalog.revision,
            "catalog compiled"
        );
        self.publish.send_replace(Arc::new(catalog));
        if !*self.ready.borrow() {
            tracing::info!("all watches have seen everything");
            self.ready.send_replace(true);
        }
    }
}

/// Time until a grant ends, a little more rather than less.
fn until(end: Timestamp) -> Duration {
    let left = Duration::try_from(end.duration_since(Timestamp::now())).unwrap_or_default();
    (left + Duration::from_millis(5)).min(EXPIRY)
}

/// Waits for the compilation under way; without one, forever.
async fn finished(compiling: &mut Option<JoinHandle<Catalog>>) -> Catalog {
    let Some(handle) = compiling else { return std::future::pending().await };
    let result = handle.await;
    *compiling = None;
    match result {
        Ok(catalog) => catalog,
        Err(error) => match error.try_into_panic() {
            // A fault of the compilation: the program ends rather than to serve an old catalog for ever.
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => std::future::pending().await,
        },
    }
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// What a watch ran into, with what to do about it; and whether it isn't allowed.
fn reason(error: &watcher::Error) -> (String, bool) {
    let (watcher::Error::InitialListFailed(inner)
    | watcher::Error::WatchStartFailed(inner)
    | watcher::Error::WatchFailed(inner)) = error
    else {
        return (error.to_string(), false);
    };
    let text = explain(inner);
    match inner {
        kube::Error::Api(status) if status.code == 403 => {
            (format!("{text}; give the program's ServiceAccount get, list and watch there"), true)
        }
        kube::Error::Api(status) if status.code == 404 => {
            (format!("{text}; install the CRDs: mcc crds | kubectl apply --server-side -f -"), false)
        }
        _ => (text, false),
    }
}

#[cfg(all(test, feature = "testsuite"))]
#[path = "source_tests.rs"]
mod tests;
