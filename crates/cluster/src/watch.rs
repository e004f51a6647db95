//! The watches themselves: which there are, and what they bring.

use std::time::Duration;

use backon::ExponentialBuilder;
use futures::stream::{BoxStream, SelectAll};
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::Namespace;
use kube::core::{DeserializeGuard, PartialObjectMeta};
use kube::runtime::utils::{Backoff, ResetTimerBackoff};
use kube::runtime::watcher::{Event, ExponentialBackoff};
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Api, Client, Resource};
use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};

use crate::ClusterOptions;
use crate::watched::Watched;

/// Longest time that a watch stays open: one over a dead connection is noticed 5 s later.
pub(crate) const IDLE_SECONDS: u32 = 50;
/// First and longest wait after a failure; after a minute without one it begins anew.
const RETRY: (Duration, Duration, Duration) =
    (Duration::from_millis(200), Duration::from_secs(10), Duration::from_secs(60));

/// What one watch looks at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// Kind, in the plural.
    pub kind: &'static str,
    /// Namespace; none: all.
    pub namespace: Option<String>,
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} of namespace {namespace}", self.kind),
            None => f.write_str(self.kind),
        }
    }
}

/// News of one kind.
pub(crate) type News<K> = Event<DeserializeGuard<K>>;

/// What a watch brings.
#[derive(Debug)]
pub(crate) enum Update {
    Tools(Box<News<Tool>>),
    Groups(Box<News<ToolGroup>>),
    Grants(Box<News<UserGrant>>),
    Namespaces(Box<Event<PartialObjectMeta<Namespace>>>),
    Failed(watcher::Error),
}

/// All watches as one stream of updates, each with the number of its watch.
pub(crate) type Updates = SelectAll<BoxStream<'static, (usize, Update)>>;

/// Opens the watches that `options` ask for.
pub(crate) fn open(client: &Client, options: &ClusterOptions) -> (Vec<Scope>, Updates) {
    let mut watches = Watches { client: client.clone(), scopes: Vec::new(), updates: SelectAll::new() };
    let catalog = Some(options.settings.catalog_namespace.as_str());
    let misplaced = |namespace: Option<&str>| options.watch_misplaced || namespace == catalog;
    for namespace in options.namespaces() {
        let namespace = namespace.as_deref();
        watches.add::<Tool>("Tools", namespace, |news| Update::Tools(Box::new(news)));
        if misplaced(namespace) {
            watches.add::<ToolGroup>("ToolGroups", namespace, |news| Update::Groups(Box::new(news)));
            watches.add::<UserGrant>("UserGrants", namespace, |news| Update::Grants(Box::new(news)));
        }
    }
    if options.settings.tool_namespaces.is_none() && !options.watch_misplaced {
        watches.add::<ToolGroup>("ToolGroups", catalog, |news| Update::Groups(Box::new(news)));
        watches.add::<UserGrant>("UserGrants", catalog, |news| Update::Grants(Box::new(news)));
    }
    watches.add_namespaces(options);
    (watches.scopes, watches.updates)
}

struct Watches {
    client: Client,
    scopes: Vec<Scope>,
    updates: Updates,
}

impl Watches {
    fn add<K: Watched>(
        &mut self,
        kind: &'static str,
        namespace: Option<&str>,
        update: fn(News<K>) -> Update,
    ) {
        let api: Api<DeserializeGuard<K>> = match namespace {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        };
        self.push(
            Scope { kind, namespace: namespace.map(str::to_owned) },
            watcher(api, settings()).modify(slim),
            update,
        );
    }

    /// Labels of the namespaces that Tools are taken from: `allowedNamespaces.selector` asks for them.
    fn add_namespaces(&mut self, options: &ClusterOptions) {
        let api: Api<PartialObjectMeta<Namespace>> = Api::all(self.client.clone());
        let names: Vec<String> = options.namespaces().into_iter().flatten().collect();
        let mut settings = settings();
        if !names.is_empty() {
            settings = settings.labels(&format!("kubernetes.io/metadata.name in ({})", names.join(",")));
        }
        let scope = Scope { kind: NAMESPACES, namespace: None };
        self.push(scope, watcher(api, settings), |news| Update::Namespaces(Box::new(news)));
    }

    fn push<T: 'static>(
        &mut self,
        scope: Scope,
        events: impl Stream<Item = watcher::Result<Event<T>>> + Send + 'static,
        update: fn(Event<T>) -> Update,
    ) {
        let number = self.scopes.len();
        let updates =
            events.backoff(backoff()).map(move |result| (number, result.map_or_else(Update::Failed, update)));
        self.scopes.push(scope);
        self.updates.push(updates.boxed());
    }
}

/// Kind of the watch whose absence is put up with.
pub(crate) const NAMESPACES: &str = "Namespaces";

fn settings() -> watcher::Config {
    // List, then watch from there: an etcd 3.4 behind the API server can do no other.
    watcher::Config::default().timeout(IDLE_SECONDS)
}

/// Not the watcher's own: after an outage it waits up to half a minute.
fn backoff() -> impl Backoff {
    let growing = ExponentialBuilder::new()
        .with_min_delay(RETRY.0)
        .with_max_delay(RETRY.1)
        .with_factor(2.0)
        .with_jitter()
        .without_max_times();
    // A listing that fails begins with a success (Init), which must not begin the waits anew.
    ResetTimerBackoff::new(ExponentialBackoff::from(growing), RETRY.2)
}

/// Drops what nobody reads; of ten thousand objects it is most of the memory.
fn slim<K: Resource>(object: &mut DeserializeGuard<K>) {
    let metadata = object.meta_mut();
    metadata.managed_fields = None;
    metadata.annotations = None;
    metadata.finalizers = None;
    metadata.owner_references = None;
}
