//! A gateway over stand-ins, and a client that speaks both eras in raw HTTP.

mod catalog;
mod client;
mod stand_ins;

use std::sync::Arc;
use std::time::Duration;

use mcc_catalog::seam::{Authenticator, Executor};
use mcc_gateway::auth::DevAuthenticator;
use mcc_gateway::exec::{ProcessExecutor, ProcessOptions};
use mcc_gateway::session::MemorySessions;
use mcc_gateway::{Gateway, GatewayConfig};
use serde_json::{Value, json};

pub use self::catalog::{catalog, catalog_of};
pub use self::client::{Client, Events, messages, text};
pub use self::stand_ins::{FakeExecutor, Index, Source};

pub const MODERN: &str = "2026-07-28";
pub const LEGACY: &str = "2025-11-25";

/// How many cases a property runs: in a continuous build, and in `./test --full` (`MCC_FULL`).
pub fn cases(ci: u32, full: u32) -> u32 {
    if std::env::var_os("MCC_FULL").is_some() { full } else { ci }
}

/// A gateway and what stands behind it.
pub struct World {
    pub gateway: Arc<Gateway>,
    pub source: Source,
    pub index: Arc<Index>,
    pub executor: Arc<FakeExecutor>,
}

impl World {
    pub async fn new(authenticator: impl Authenticator + 'static) -> Self {
        Self::with(authenticator, |_| {}).await
    }

    pub async fn with(
        authenticator: impl Authenticator + 'static,
        change: impl FnOnce(&mut GatewayConfig),
    ) -> Self {
        Self::over(authenticator, change, false).await
    }

    /// User alice, and tools that are processes.
    pub async fn real() -> Self {
        Self::over(DevAuthenticator::user("alice", Vec::new()), |_| {}, true).await
    }

    async fn over(
        authenticator: impl Authenticator + 'static,
        change: impl FnOnce(&mut GatewayConfig),
        real: bool,
    ) -> Self {
        let mut config = GatewayConfig::default();
        change(&mut config);
        let source = Source::new(catalog(&[]));
        let (index, executor) = (Arc::<Index>::default(), Arc::<FakeExecutor>::default());
        let runs: Arc<dyn Executor> =
            if real { Arc::new(ProcessExecutor::new(ProcessOptions::default())) } else { executor.clone() };
        let gateway = Gateway::new(
            config,
            &source,
            index.clone(),
            runs,
            Arc::new(MemorySessions::default()),
            Arc::new(authenticator),
        )
        .unwrap();
        gateway.ready().await;
        Self { gateway: Arc::new(gateway), source, index, executor }
    }

    pub async fn anonymous() -> Self {
        Self::new(DevAuthenticator::anonymous()).await
    }

    pub async fn admin() -> Self {
        Self::new(DevAuthenticator::admin()).await
    }

    pub async fn user(name: &str) -> Self {
        Self::new(DevAuthenticator::user(name, Vec::new())).await
    }

    /// A client of 2026-07-28.
    pub fn modern(&self) -> Client {
        Client {
            gateway: self.gateway.clone(),
            router: self.gateway.router(),
            session: None,
            modern: true,
            capabilities: json!({}),
            token: None,
        }
    }

    /// A client of 2025-11-25 with a session.
    pub async fn legacy(&self) -> Client {
        self.legacy_with(json!({}), None).await
    }

    pub async fn legacy_with(&self, capabilities: Value, token: Option<&str>) -> Client {
        let mut client = Client {
            gateway: self.gateway.clone(),
            router: self.gateway.router(),
            session: None,
            modern: false,
            capabilities: capabilities.clone(),
            token: token.map(str::to_owned),
        };
        let response = client
            .send(client.message(
                "initialize",
                json!({"protocolVersion": LEGACY, "capabilities": capabilities,
                       "clientInfo": {"name": "test", "version": "1"}}),
                None,
            ))
            .await;
        assert_eq!(response.status(), 200);
        client.session = Some(response.headers()["mcp-session-id"].to_str().unwrap().to_owned());
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.send(initialized).await.status(), 202);
        client
    }
}

/// Waits until `condition` holds; fails after a generous while.
pub async fn eventually(what: &str, condition: impl Fn() -> bool) {
    for _ in 0..2_000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never happened: {what}");
}
