//! A gateway in this process, over its real index, session store and HTTP layers; only tools don't run.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use axum::Router;
use axum::body::{Body, to_bytes};
use http::{Request, StatusCode};
use mcc_catalog::compile::{CatalogSettings, compile};
use mcc_catalog::model::{Caller, Catalog, Identity, ObjectSet};
use mcc_catalog::seam::{
    AuthError, Authenticator, Capture, CatalogSource, Credentials, Ending, Executor, Invocation, Outcome,
    ProgressSink, SessionChanges,
};
use mcc_crds::v1alpha1::SubjectKind;
use mcc_gateway::session::MemorySessions;
use mcc_gateway::{Gateway, GatewayConfig};
use mcc_index::{MemoryIndex, StaticEmbedder};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

/// The newest protocol revision: requests without a handshake.
pub const MODERN: &str = "2026-07-28";

/// Largest answer that is read.
const MOST: usize = 16 << 20;

/// A gateway and the catalog it serves.
pub struct InProcess {
    catalog: watch::Sender<Arc<Catalog>>,
    router: Router,
    _gateway: Gateway,
}

struct Watched(watch::Receiver<Arc<Catalog>>);

impl CatalogSource for Watched {
    fn subscribe(&self) -> watch::Receiver<Arc<Catalog>> {
        self.0.clone()
    }
}

/// Answers every call with `ran KEY`.
struct Pretender;

#[async_trait]
impl Executor for Pretender {
    async fn execute(&self, invocation: Invocation, _: &dyn ProgressSink, _: CancellationToken) -> Outcome {
        let head = format!("ran {}", invocation.tool.key).into_bytes();
        let total = head.len() as u64;
        Outcome {
            ending: Ending::Exited(0),
            stdout: Capture { head, tail: Vec::new(), total },
            stderr: Capture::default(),
            result: None,
            session: SessionChanges::default(),
            session_problem: None,
            startup: Duration::ZERO,
            duration: Duration::ZERO,
        }
    }
}

/// Believes the bearer token: `NAME` or `NAME+CLAIM+CLAIM`; `*` as a name is a dev user with admin. No token: anonymous.
struct Believer;

#[async_trait]
impl Authenticator for Believer {
    async fn authenticate(&self, credentials: &Credentials) -> Result<Option<Caller>, AuthError> {
        let Some(token) = &credentials.bearer else { return Ok(Some(Caller::Anonymous)) };
        let mut parts: VecDeque<String> = token.split('+').map(str::to_owned).collect();
        let name = parts.pop_front().unwrap_or_default();
        let builtin_groups = if name == "*" { vec!["admin".to_owned()] } else { Vec::new() };
        Ok(Some(Caller::Authenticated(Arc::new(Identity {
            issuer: "test".to_owned(),
            kind: SubjectKind::User,
            name,
            namespace: None,
            email: None,
            provider_groups: parts.into(),
            builtin_groups,
        }))))
    }
}

impl InProcess {
    /// Serves the objects, as `mcc up` would serve a folder of them. Needs a Tokio runtime.
    pub async fn start(objects: ObjectSet) -> anyhow::Result<Self> {
        let catalog = compile(Arc::new(objects), &CatalogSettings::directory(), None);
        let (catalog, watched) = watch::channel(Arc::new(catalog));
        let index = MemoryIndex::new(Arc::new(StaticEmbedder::bundled()?));
        let gateway = Gateway::new(
            GatewayConfig::default(),
            &Watched(watched),
            Arc::new(index),
            Arc::new(Pretender),
            Arc::new(MemorySessions::new(Duration::from_secs(3600), 64 << 20)),
            Arc::new(Believer),
        )?;
        gateway.ready().await;
        Ok(Self { catalog, router: gateway.router(), _gateway: gateway })
    }

    /// The catalog that is served.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.catalog.borrow().clone()
    }

    /// What clients reach.
    pub fn router(&self) -> Router {
        self.router.clone()
    }

    /// Sends one request as it is.
    pub async fn send(&self, request: Request<Body>) -> anyhow::Result<(StatusCode, Vec<u8>)> {
        let response = self.router.clone().oneshot(request).await?;
        let status = response.status();
        Ok((status, to_bytes(response.into_body(), MOST).await?.to_vec()))
    }

    /// One modern request of a method; `token` as the authenticator here believes it. Gives the JSON-RPC message.
    pub async fn request(
        &self,
        token: Option<&str>,
        method: &str,
        mut params: Value,
    ) -> anyhow::Result<Value> {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "mcc-tests", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", method);
        if let Some(name) = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str) {
            request = request.header("mcp-name", name);
        }
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let (status, answer) = self.send(request.body(Body::from(body.to_string()))?).await?;
        let text = String::from_utf8(answer)?;
        // A stream of events, if the answer came as one: the message is the last.
        let message = text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&text);
        serde_json::from_str(message).with_context(|| format!("{method}: {status}: {text}"))
    }

    /// Calls one of the six tools; gives whether it is an error, and its text.
    pub async fn call(
        &self,
        token: Option<&str>,
        tool: &str,
        arguments: Value,
    ) -> anyhow::Result<(bool, String)> {
        let answer = self.request(token, "tools/call", json!({"name": tool, "arguments": arguments})).await?;
        let result = answer.get("result").with_context(|| format!("{tool}: {answer}"))?;
        let is_error = result["isError"].as_bool().unwrap_or(false);
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        Ok((is_error, text))
    }
}
