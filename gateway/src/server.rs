//! The gateway as a whole.

use std::future::{Future, IntoFuture as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use axum::Router;
use axum::serve::ListenerExt as _;
use mcc_catalog::model::Caller;
use mcc_catalog::seam::{Authenticator, CatalogSource, Credentials, Executor, SessionStore, ToolIndex};
use rmcp::ServiceExt as _;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::config::{ConfigError, GatewayConfig};
use crate::mcp::Handler;
use crate::mcp::lines::Lines;
use crate::mcp::scope::Scope;
use crate::session::handle::hex;
use crate::state::Shared;
use crate::{http, sync};

/// How long open requests may go on after the shutdown began.
const DRAIN: Duration = Duration::from_secs(5);
/// How long the tools may take to be killed after that.
const KILL: Duration = Duration::from_secs(2);
/// How long connections may take to close after that.
const CLOSE: Duration = Duration::from_secs(1);
/// Time between looks for idle sessions.
const REAP: Duration = Duration::from_secs(30);

/// A gateway: its parts are chosen by whoever makes it. Dropping it ends its background work.
pub struct Gateway {
    shared: Arc<Shared>,
    authenticator: Arc<dyn Authenticator>,
    /// Ends streams and background work.
    end: CancellationToken,
    _end_on_drop: DropGuard,
}

impl Gateway {
    /// Puts a gateway together and begins to index the catalog. Needs a Tokio runtime.
    pub fn new(
        config: GatewayConfig,
        source: &dyn CatalogSource,
        index: Arc<dyn ToolIndex>,
        executor: Arc<dyn Executor>,
        sessions: Arc<dyn SessionStore>,
        authenticator: Arc<dyn Authenticator>,
    ) -> Result<Self, ConfigError> {
        config.validate()?;
        let shared = Arc::new(Shared::new(config, source, index, executor, sessions));
        let end = CancellationToken::new();
        let background = [tokio::spawn(sync::follow(shared.clone())), tokio::spawn(reap(shared.clone()))];
        let ended = end.clone();
        let calls = shared.calls.clone();
        tokio::spawn(async move {
            ended.cancelled().await;
            background.iter().for_each(tokio::task::JoinHandle::abort);
            calls.cancel_all();
        });
        Ok(Self { shared, authenticator, end: end.clone(), _end_on_drop: end.drop_guard() })
    }

    /// What clients reach: MCP at `/mcp`. The caller's address is taken from [`axum::extract::ConnectInfo`], where the
    /// server gives it.
    pub fn router(&self) -> Router {
        http::router::router(&self.shared, self.authenticator.clone(), self.end.child_token())
    }

    /// Probes and metrics, for a port that clients don't reach: `/healthz`, `/readyz`, `/metrics`.
    pub fn operations_router(&self) -> Router {
        http::health::router(self.shared.clone())
    }

    /// Waits until the catalog can be searched.
    pub async fn ready(&self) {
        self.shared.until_ready().await;
    }

    /// Whether the catalog can be searched.
    pub fn is_ready(&self) -> bool {
        self.shared.is_ready()
    }

    /// Serves clients until `shutdown`, then lets open requests end for a few seconds.
    pub async fn serve(
        &self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let end = self.end.clone();
        serve(listener, self.router(), &self.shared, end, shutdown).await.context("the MCP server failed")
    }

    /// Serves probes and metrics until `shutdown`.
    pub async fn serve_operations(
        &self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let end = self.end.child_token();
        let loopback = listener.local_addr().is_ok_and(|address| address.ip().is_loopback());
        let mut routes = self.operations_router();
        // A kubelet probes by the address of a pod; on one machine a web page might try.
        if loopback {
            routes = http::router::guarded(routes, &self.shared);
        }
        serve(listener, routes, &self.shared, end, shutdown).await.context("the metrics server failed")
    }

    /// Serves one client over standard input and output, until it closes them or `shutdown`.
    pub async fn serve_stdio(&self, shutdown: impl Future<Output = ()> + Send) -> anyhow::Result<()> {
        self.serve_transport(rmcp::transport::stdio(), shutdown).await
    }

    /// Serves one client over any pair of byte streams, as [`Gateway::serve_stdio`] does.
    pub async fn serve_transport<R, W>(
        &self,
        (read, write): (R, W),
        shutdown: impl Future<Output = ()> + Send,
    ) -> anyhow::Result<()>
    where
        R: tokio::io::AsyncRead + Send + Unpin + 'static,
        W: tokio::io::AsyncWrite + Send + Unpin + 'static,
    {
        let caller = self.authenticator.authenticate(&Credentials::default()).await?.unwrap_or_default();
        let end = self.end.child_token();
        let handler = Handler::of(self.shared.clone(), single(caller));
        let gone = CancellationToken::new();
        let lines = Lines::new(read, write, self.shared.config.max_body_bytes, gone.clone());
        let (shared, over) = (self.shared.clone(), CancellationToken::new());
        let _over = over.clone().drop_guard();
        // Nobody is left to take their results.
        tokio::spawn(async move {
            tokio::select! {
                () = gone.cancelled() => shared.calls.cancel_all(),
                () = over.cancelled() => {}
            }
        });
        #[cfg(feature = "conformance")]
        if self.shared.config.conformance_fixtures {
            return run(crate::conformance::Fixtures(handler), lines, end, shutdown).await;
        }
        run(handler, lines, end, shutdown).await
    }
}

/// Runs a handler on one connection.
async fn run<H, R, W>(
    handler: H,
    lines: Lines<R, W>,
    end: CancellationToken,
    shutdown: impl Future<Output = ()> + Send,
) -> anyhow::Result<()>
where
    H: rmcp::ServerHandler,
    R: tokio::io::AsyncRead + Send + Unpin + 'static,
    W: tokio::io::AsyncWrite + Send + Unpin + 'static,
{
    let serve = async {
        let running = match handler.serve_with_ct(lines, end.clone()).await {
            Ok(running) => running,
            // A client that goes before it said anything, or a shutdown meanwhile, is no failure.
            Err(
                rmcp::service::ServerInitializeError::ConnectionClosed(_)
                | rmcp::service::ServerInitializeError::Cancelled,
            ) => return Ok(()),
            Err(error) => return Err(anyhow::Error::new(error).context("the client did not begin a session")),
        };
        running.waiting().await.context("the session failed")?;
        Ok(())
    };
    tokio::pin!(serve, shutdown);
    tokio::select! {
        result = &mut serve => return result,
        () = &mut shutdown => end.cancel(),
    }
    tokio::time::timeout(DRAIN, serve).await.unwrap_or(Ok(()))
}

/// The only caller of a connection, with a scratchpad of its own.
fn single(caller: Caller) -> Scope {
    let session = format!("stdio-{}", hex(&rand::random::<[u8; 16]>()));
    Scope { principal: caller.principal().into(), caller, mcp_session: Some(session.into()), peer: None }
}

/// Serves `routes` until `shutdown`. Runs going on then have [`DRAIN`] to finish, after which `end` closes what is open.
async fn serve(
    listener: TcpListener,
    routes: Router,
    shared: &Shared,
    end: CancellationToken,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    // Without it every event of a stream waits for the client's delayed ACK, about 40 ms.
    let listener = listener.tap_io(|stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY");
        }
    });
    let closing = CancellationToken::new();
    let signal = closing.clone();
    let server = axum::serve(listener, routes.into_make_service_with_connect_info::<SocketAddr>())
        .with_graceful_shutdown(async move {
            shutdown.await;
            signal.cancel();
        });
    let close = async {
        closing.cancelled().await;
        let began = Instant::now();
        while shared.in_flight.total() > 0 && began.elapsed() < DRAIN {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // What still runs is killed, and its callers are told so before their streams end.
        shared.calls.cancel_all();
        while shared.in_flight.total() > 0 && began.elapsed() < DRAIN + KILL {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        end.cancel();
        tokio::time::sleep(CLOSE).await;
    };
    tokio::select! {
        result = server.into_future() => result,
        () = close => Ok(()),
    }
}

/// Ends idle MCP sessions, as long as the gateway lives.
async fn reap(shared: Arc<Shared>) {
    let idle = shared.config.mcp_session_idle;
    let mut ticks = tokio::time::interval(REAP.min(idle.max(Duration::from_millis(100))));
    loop {
        ticks.tick().await;
        let ended = shared.mcp_sessions.reap(idle).await;
        if !ended.is_empty() {
            tracing::debug!(sessions = ended.len(), "idle MCP sessions ended");
        }
    }
}
