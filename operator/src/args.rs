//! The command line of `mcc-operator`, and [`Args::run`], where its parts are chosen.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Parser, ValueEnum};
use mcc_catalog::compile::{CatalogSettings, DEFAULT_CATALOG_NAMESPACE};
use mcc_catalog::seam::ToolIndex;
use mcc_cluster::ClientOptions;
use mcc_index::{MemoryIndex, StaticEmbedder};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::{LeaseOptions, Operator, OperatorOptions};

/// Reconciles Tools, ToolGroups and UserGrants: conditions, Events and the search index.
#[derive(Clone, Debug, Parser)]
#[command(name = "mcc-operator", version)]
pub struct Args {
    /// Namespace of the ToolGroups and UserGrants.
    #[arg(
        long,
        env = "MCC_CATALOG_NAMESPACE",
        default_value = DEFAULT_CATALOG_NAMESPACE,
        value_name = "NAMESPACE"
    )]
    catalog_namespace: String,
    /// Namespaces that Tools are taken from, besides the catalog's. A namespace belongs to one catalog.
    #[arg(
        long,
        env = "MCC_TOOL_NAMESPACES",
        default_value = "mcc-tools",
        value_delimiter = ',',
        value_name = "NAMESPACE,…"
    )]
    tool_namespaces: Vec<String>,
    /// Address and port of /healthz, /readyz and /metrics.
    #[arg(long, env = "MCC_METRICS_LISTEN", default_value = "0.0.0.0:9090", value_name = "ADDRESS:PORT")]
    metrics_listen: SocketAddr,
    /// Name of the Lease that decides which of several operators writes.
    #[arg(long, env = "MCC_LEASE_NAME", default_value = "mcc-operator", value_name = "NAME")]
    lease_name: String,
    /// Namespace of the Lease [default: the program's own].
    #[arg(long, env = "MCC_LEASE_NAMESPACE", value_name = "NAMESPACE")]
    lease_namespace: Option<String>,
    /// Write without a Lease: this is the only operator.
    #[arg(long, env = "MCC_NO_LEADER_ELECTION", conflicts_with_all = ["lease_name", "lease_namespace"])]
    no_leader_election: bool,
    /// Name of this operator among others, in the Lease and in Events [default: made up].
    #[arg(long, env = "POD_NAME", value_name = "NAME")]
    identity: Option<String>,
    /// Seconds between two sweeps of the index: missing documents are written, strange ones removed.
    #[arg(long, env = "MCC_INDEX_SWEEP_SECONDS", default_value_t = 600, value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..))]
    index_sweep_seconds: u64,
    /// Seconds between two looks at how many documents the index has.
    #[arg(long, env = "MCC_INDEX_COUNT_SECONDS", default_value_t = 15, value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..))]
    index_count_seconds: u64,
    /// A kubeconfig [default: $KUBECONFIG, ~/.kube/config, or the pod's ServiceAccount].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// A context of the kubeconfig [default: its current one].
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// What to log to standard error.
    #[arg(long, env = "MCC_LOG", default_value = "warn,mcc=info", value_name = "FILTER")]
    log: String,
    /// How to log it.
    #[arg(long, env = "MCC_LOG_FORMAT", value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,
}

/// How to log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// A line for people.
    #[default]
    Text,
    /// A JSON object a line.
    Json,
}

impl Args {
    /// Runs the operator until a signal comes.
    pub async fn run(self) -> anyhow::Result<()> {
        self.log()?;
        let cluster = ClientOptions { kubeconfig: self.kubeconfig.clone(), context: self.context.clone() };
        let config = mcc_cluster::config(&cluster).await?;
        let options = self.options(&config.default_namespace);
        let client = mcc_cluster::client(config)?;
        let operator = Operator::new(client, self.index()?, options);
        let listener = TcpListener::bind(self.metrics_listen).await;
        let listener = listener.with_context(|| {
            format!("cannot listen on {}; choose another --metrics-listen", self.metrics_listen)
        })?;
        tracing::info!(metrics = %listener.local_addr()?, "mcc-operator started");
        let shutdown = CancellationToken::new();
        tokio::spawn(signals(shutdown.clone()));
        let router = operator.router();
        let ended = shutdown.clone();
        let serve =
            axum::serve(listener, router).with_graceful_shutdown(async move { ended.cancelled().await });
        let serve = tokio::spawn(serve.into_future());
        let result = operator.run(shutdown.clone()).await;
        shutdown.cancel();
        serve.await??;
        result
    }

    fn options(&self, own_namespace: &str) -> OperatorOptions {
        let tools: BTreeSet<String> =
            self.tool_namespaces.iter().filter(|name| !name.is_empty()).cloned().collect();
        let identity =
            self.identity.clone().unwrap_or_else(|| format!("mcc-operator-{:08x}", rand::random::<u32>()));
        let lease = (!self.no_leader_election).then(|| LeaseOptions {
            namespace: self.lease_namespace.clone().unwrap_or_else(|| own_namespace.to_owned()),
            name: self.lease_name.clone(),
            identity: identity.clone(),
        });
        OperatorOptions {
            settings: CatalogSettings::cluster(self.catalog_namespace.clone(), tools),
            lease,
            identity,
            count_index: Duration::from_secs(self.index_count_seconds),
            sweep_index: Duration::from_secs(self.index_sweep_seconds),
        }
    }

    /// The wiring: which index is written.
    #[expect(clippy::unused_self, reason = "flags of other indexes")]
    fn index(&self) -> anyhow::Result<Arc<dyn ToolIndex>> {
        Ok(Arc::new(MemoryIndex::new(Arc::new(StaticEmbedder::bundled()?))))
    }

    fn log(&self) -> anyhow::Result<()> {
        let filter = EnvFilter::try_new(&self.log).context("--log: write it as level, or target=level,…")?;
        let logger =
            tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false);
        let result = match self.log_format {
            LogFormat::Text => logger.with_target(false).try_init(),
            LogFormat::Json => logger.json().flatten_event(true).try_init(),
        };
        result.map_err(|error| anyhow::anyhow!("logging can't begin: {error}"))
    }
}

/// The first signal ends the operator in good order, the second one at once.
async fn signals(shutdown: CancellationToken) {
    signal().await;
    shutdown.cancel();
    signal().await;
    // Nothing may hold the process any longer.
    std::process::exit(130);
}

#[cfg(unix)]
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        result = tokio::signal::ctrl_c() => if result.is_err() { std::future::pending::<()>().await },
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
async fn signal() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
