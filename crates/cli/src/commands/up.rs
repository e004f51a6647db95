//! `mcc up PATH…`: the whole gateway on one machine. [`gateway`] is where its parts are chosen.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

use mcc_catalog::model::{Catalog, Severity};
use mcc_catalog::seam::CatalogSource;
use mcc_gateway::session::MemorySessions;
use mcc_gateway::source::DirectorySource;
use mcc_gateway::{Gateway, GatewayConfig};
use mcc_index::MemoryIndex;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::Level;
use tracing_subscriber::filter::{EnvFilter, filter_fn};
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::lint;
use crate::embedder::EmbedderArgs;
use crate::failure::{ExitStatus, Failure, Outcome};
use crate::local::{CallerArgs, RuntimeArgs};
use crate::printer::{Printer, Tone};
use crate::signals::end_requested;

/// Arguments of `mcc up`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Tools run as you, without isolation: serve manifests that you would run as scripts.")]
pub struct Args {
    /// Folders of manifests, and manifests. They are watched: changes are served at once.
    #[arg(default_value = ".", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Address and port of the MCP endpoint, at /mcp. Port 0 takes a free one.
    #[arg(long, env = "MCC_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDRESS:PORT")]
    listen: SocketAddr,
    /// Address and port of /healthz, /readyz and /metrics [default: none].
    #[arg(long, env = "MCC_METRICS_LISTEN", value_name = "ADDRESS:PORT")]
    metrics_listen: Option<SocketAddr>,
    /// Serve one client over standard input and output instead of HTTP.
    #[arg(long, conflicts_with_all = ["listen", "metrics_listen"])]
    stdio: bool,
    /// Serve others than this machine with an identity that everybody gets.
    #[arg(long)]
    i_trust_this_network: bool,
    /// Host name under which requests may come, besides the loopback ones and the address (repeatable).
    #[arg(long, value_name = "HOST")]
    allowed_host: Vec<String>,
    /// Origin of web pages that may send requests (repeatable).
    #[arg(long, value_name = "ORIGIN")]
    allowed_origin: Vec<String>,
    /// Put this before the names of the six tools: other servers have a `search`, too.
    #[arg(
        long,
        env = "MCC_TOOL_PREFIX",
        default_value = "",
        hide_default_value = true,
        value_name = "PREFIX"
    )]
    tool_prefix: String,
    /// What to log to standard error.
    #[arg(
        long,
        env = "MCC_LOG",
        default_value = "warn,mcc=info",
        hide_default_value = true,
        value_name = "FILTER"
    )]
    log: String,
    /// Serve the fixtures of the MCP conformance suite, too.
    #[cfg(feature = "conformance")]
    #[arg(long, hide = true)]
    conformance_fixtures: bool,
    #[command(flatten)]
    caller: CallerArgs,
    #[command(flatten)]
    runtime: RuntimeArgs,
    #[command(flatten)]
    embedder: EmbedderArgs,
}

/// Serves until a signal comes, or the client of `--stdio` goes.
pub async fn run(args: &Args, printer: Printer) -> Outcome {
    check_exposure(args)?;
    let source = args.runtime.source(&args.paths)?;
    let _ = report(&source.subscribe().borrow(), printer);
    log(&args.log)?;
    let gateway = gateway(args, &source)?;
    let shutdown = CancellationToken::new();
    tokio::spawn(signals(shutdown.clone()));
    if args.stdio {
        // A client waits for answers, not for the index: searches wait themselves.
        return serve_stdio(&gateway, shutdown, args, printer).await;
    }
    let listener = listen(args.listen).await?;
    let address = listener.local_addr()?;
    let operations = match args.metrics_listen {
        Some(address) => Some(listen(address).await?),
        None => None,
    };
    let metrics = operations.as_ref().map(TcpListener::local_addr).transpose()?;
    // Requests and probes are answered before everything is indexed: searches wait themselves.
    let announced = async {
        tokio::select! {
            () = gateway.ready() => {
                // A server goes on when nobody reads what it says.
                let _ = announce(args, address, metrics, &source.subscribe().borrow(), printer);
            }
            () = shutdown.cancelled() => {}
        }
        Ok(())
    };
    let ended = |token: CancellationToken| async move { token.cancelled().await };
    let operations = async {
        match operations {
            None => Ok(()),
            Some(listener) => gateway.serve_operations(listener, ended(shutdown.clone())).await,
        }
    };
    tokio::try_join!(gateway.serve(listener, ended(shutdown.clone())), operations, announced)?;
    Ok(ExitStatus::Ok)
}

/// The wiring: which source, index, executor, session store and authenticator `mcc up` uses.
fn gateway(args: &Args, source: &DirectorySource) -> Result<Gateway, Failure> {
    let config = config(args);
    let index = Arc::new(MemoryIndex::new(args.embedder.load()?));
    let executor = Arc::new(args.runtime.executor()?);
    let sessions = Arc::new(MemorySessions::new(config.session_ttl, SESSION_BYTES));
    let authenticator = Arc::new(args.caller.authenticator());
    Gateway::new(config, source, index, executor, sessions, authenticator)
        .map_err(|error| Failure { status: ExitStatus::Usage, ..Failure::new(error) })
}

/// Memory for all scratchpads together.
const SESSION_BYTES: u64 = 256 << 20;

fn config(args: &Args) -> GatewayConfig {
    let mut config = GatewayConfig { tool_prefix: args.tool_prefix.clone(), ..GatewayConfig::default() };
    match args.listen.ip() {
        ip if ip.is_loopback() => {}
        // Every address of this machine, under whatever name: whoever allowed it trusts the network.
        ip if ip.is_unspecified() && args.allowed_host.is_empty() => config.allowed_hosts.clear(),
        ip if ip.is_unspecified() => {}
        IpAddr::V4(ip) => config.allowed_hosts.push(ip.to_string()),
        IpAddr::V6(ip) => config.allowed_hosts.push(format!("[{ip}]")),
    }
    if !config.allowed_hosts.is_empty() {
        config.allowed_hosts.extend(args.allowed_host.iter().cloned());
    }
    config.allowed_origins.extend(args.allowed_origin.iter().cloned());
    #[cfg(feature = "conformance")]
    {
        config.conformance_fixtures = args.conformance_fixtures;
    }
    config
}

/// An identity that everybody gets may not be served to others by accident.
fn check_exposure(args: &Args) -> Result<(), Failure> {
    let exposed = !args.stdio && !args.listen.ip().is_loopback();
    if exposed && !args.caller.anonymous && !args.i_trust_this_network {
        return Err(Failure::usage(format!(
            "--listen {} lets everybody who reaches it run tools as {}",
            args.listen,
            args.caller.describe()
        ))
        .hint(
            "listen on 127.0.0.1, serve public tools only with --anonymous, or say --i-trust-this-network",
        ));
    }
    let metrics = args.metrics_listen.filter(|address| !address.ip().is_loopback());
    match metrics.filter(|_| !args.i_trust_this_network) {
        Some(address) => Err(Failure::usage(format!(
            "--metrics-listen {address} shows everybody who reaches it the keys of all tools that run"
        ))
        .hint("listen on 127.0.0.1, or say --i-trust-this-network")),
        None => Ok(()),
    }
}

async fn listen(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        Failure::new(anyhow::Error::new(error).context(format!("cannot listen on {address}")))
            .hint("choose another port; 0 takes a free one")
    })
}

/// What is wrong with the manifests, once at the start; the log has what changes later.
fn report(catalog: &Catalog, printer: Printer) -> std::io::Result<()> {
    for problem in catalog.problems.iter().filter(|problem| problem.severity == Severity::Error) {
        printer.note(lint::human(problem, printer))?;
    }
    Ok(())
}

fn log(filter: &str) -> Result<(), Failure> {
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        Failure::usage(format!("--log: {error}")).hint("write it as level, or target=level,…")
    })?;
    // At their lower levels other crates log whole messages, with parameters, session values and results in them.
    let no_messages = filter_fn(|event| {
        *event.level() <= Level::INFO || event.target().split("::").next().is_some_and(is_ours)
    });
    tracing_subscriber::registry()
        .with(filter)
        .with(no_messages)
        .with(fmt::layer().with_writer(std::io::stderr).with_ansi(false).with_target(false))
        .try_init()
        .map_err(Failure::msg)
}

fn is_ours(name: &str) -> bool {
    name == "mcc" || name.starts_with("mcc_")
}

fn announce(
    args: &Args,
    address: SocketAddr,
    metrics: Option<SocketAddr>,
    catalog: &Catalog,
    printer: Printer,
) -> Result<(), Failure> {
    let url = format!("http://{address}/mcp");
    printer.note(format!("Serving {}; callers are {}", tools(catalog), args.caller.describe()))?;
    printer.note(format!("MCP      {}", printer.paint_err(Tone::Strong, &url)))?;
    if let Some(address) = metrics {
        printer.note(format!("Metrics  http://{address}/metrics"))?;
    }
    printer.note(isolation(printer))?;
    printer.note(format!("Connect a client: mcc client-config CLIENT --server {url}"))?;
    Ok(())
}

fn tools(catalog: &Catalog) -> String {
    let errors = catalog.problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let tools = Printer::count(catalog.tools.len(), "tool");
    if errors == 0 { tools } else { format!("{tools} ({}, see above)", Printer::count(errors, "error")) }
}

fn isolation(printer: Printer) -> String {
    let warning = printer.paint_err(Tone::Warn, "Warning:");
    format!("{warning} tools run as this user, without isolation: they can do and read whatever you can")
}

async fn serve_stdio(
    gateway: &Gateway,
    shutdown: CancellationToken,
    args: &Args,
    printer: Printer,
) -> Outcome {
    printer.note(format!("Serving standard input and output to {}", args.caller.describe()))?;
    printer.note(isolation(printer))?;
    let ended = shutdown.clone();
    gateway.serve_stdio(async move { ended.cancelled().await }).await?;
    Ok(ExitStatus::Ok)
}

/// The first signal ends the server in good order, the second one at once.
async fn signals(shutdown: CancellationToken) {
    end_requested().await;
    shutdown.cancel();
    end_requested().await;
    // Nothing may hold the process any longer.
    std::process::exit(130);
}
