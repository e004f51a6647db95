//! A gateway over stand-ins, and a client that speaks both eras in raw HTTP.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use futures::StreamExt as _;
use http::{Request, Response, StatusCode};
use mcc_catalog::compile::{CatalogSettings, compile};
use mcc_catalog::model::{Catalog, Entry, NamespacedName, ObjectSet, Severity, ToolDocument};
use mcc_catalog::seam::{
    Authenticator, Capture, CatalogSource, Ending, Executor, Hit, IndexError, Invocation, Outcome, Progress,
    ProgressSink, Query, Refusal, SessionChanges, Stage, ToolIndex,
};
use mcc_crds::v1alpha1::{Tool, ToolGroup, UserGrant};
use mcc_gateway::auth::DevAuthenticator;
use mcc_gateway::exec::{ProcessExecutor, ProcessOptions};
use mcc_gateway::session::MemorySessions;
use mcc_gateway::{Gateway, GatewayConfig};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

pub const MODERN: &str = "2026-07-28";
pub const LEGACY: &str = "2025-11-25";

/// The tools of the test catalog, as `(name, groups, further spec)`.
fn tools() -> Vec<(&'static str, &'static [&'static str], Value)> {
    let text = || json!({"params": [{"name": "text", "type": "str", "description": "Text to say."}]});
    vec![
        ("echo", &["public"], text()),
        (
            "greet",
            &["public"],
            json!({"description": "Greets somebody.\n", "params": [
                {"name": "who", "type": "str", "description": "Whom to greet."},
                {"name": "times", "type": "int", "default": 1, "maximum": 9, "description": "How often."},
            ]}),
        ),
        ("named_params", &["public"], json!({"params": [{"name": "key", "type": "str"}]})),
        ("secret", &["academic"], json!({"description": "Only for scholars."})),
        ("lonely", &["lab"], json!({"description": "Granted by key."})),
        ("structured", &["public"], json!({})),
        ("fail", &["public"], json!({})),
        ("slow", &["public"], json!({})),
        ("big", &["public"], json!({"limits": {"outputBytes": 1024}})),
        ("keep", &["public"], json!({})),
        ("context", &["public"], json!({})),
        ("timeout", &["public"], json!({})),
        ("full", &["public"], json!({})),
        ("limited", &["public"], json!({"rateLimit": {"perMinute": 2}})),
        ("count", &["public"], json!({"shell": {"script": "seq 1 200000; exec 1>&2; echo noted"}})),
        (
            "hang",
            &["public"],
            json!({"shell": {"script": "echo $$ > \"$MCC_PARAM_FILE\"; sleep 600"},
            "params": [{"name": "file", "type": "str"}]}),
        ),
        (
            "noting",
            &["public"],
            json!({"shell": {"script": "echo 'project={\"id\": 7}' >> \"$MCC_SESSION\"; echo ok"}}),
        ),
        ("cached", &["public"], json!({"cache": {"seconds": 60}})),
        ("shared", &["public"], json!({"cache": {"seconds": 60, "scope": "Shared"}})),
    ]
}

fn tool(name: &str, groups: &[&str], further: &Value) -> Tool {
    let object = name.replace('_', "-");
    let mut spec = json!({"name": name, "groups": groups, "shell": {"script": "true"}});
    spec.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "Tool",
        "metadata": {"name": object, "namespace": "mcc-catalog"}, "spec": spec,
    }))
    .unwrap()
}

fn group(name: &str) -> ToolGroup {
    serde_json::from_value(json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "ToolGroup",
        "metadata": {"name": name, "namespace": "mcc-catalog"}, "spec": {"description": name},
    }))
    .unwrap()
}

fn grant(user: &str, spec: &Value) -> UserGrant {
    let mut whole = json!({"subject": {"kind": "User", "name": user}});
    whole.as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    serde_json::from_value(json!({
        "apiVersion": "mcc.dev/v1alpha1", "kind": "UserGrant",
        "metadata": {"name": user, "namespace": "mcc-catalog"}, "spec": whole,
    }))
    .unwrap()
}

fn entries<T>(objects: Vec<T>, name: impl Fn(&T) -> String) -> BTreeMap<NamespacedName, Entry<T>> {
    let key = |object: &T| NamespacedName::new("mcc-catalog", name(object));
    objects.into_iter().map(|object| (key(&object), Entry::from_cluster(object))).collect()
}

/// The test catalog without the tools named.
pub fn catalog(without: &[&str]) -> Catalog {
    let alice = json!({"email": "alice@example.com", "groups": ["academic"]});
    catalog_of(tools().into_iter().filter(|(name, _, _)| !without.contains(name)).collect(), &alice)
}

/// A catalog of these tools in which alice has this grant.
pub fn catalog_of(tools: Vec<(&str, &[&str], Value)>, alice: &Value) -> Catalog {
    let tools = tools.into_iter().map(|(name, groups, further)| tool(name, groups, &further)).collect();
    let objects = ObjectSet {
        tools: entries(tools, |tool: &Tool| tool.metadata.name.clone().unwrap()),
        groups: entries(vec![group("academic"), group("lab")], |group: &ToolGroup| {
            group.metadata.name.clone().unwrap()
        }),
        grants: entries(
            vec![grant("alice", alice), grant("bob", &json!({"tools": ["lab.lonely"]}))],
            |grant: &UserGrant| grant.metadata.name.clone().unwrap(),
        ),
        ..ObjectSet::default()
    };
    let catalog = compile(Arc::new(objects), &CatalogSettings::directory(), None);
    assert!(catalog.problems.iter().all(|p| p.severity == Severity::Warning), "{:#?}", catalog.problems);
    catalog
}

pub struct Source(watch::Sender<Arc<Catalog>>);

impl Source {
    pub fn new(catalog: Catalog) -> Self {
        Self(watch::Sender::new(Arc::new(catalog)))
    }

    pub fn publish(&self, catalog: Catalog) {
        self.0.send_replace(Arc::new(catalog));
    }
}

impl CatalogSource for Source {
    fn subscribe(&self) -> watch::Receiver<Arc<Catalog>> {
        self.0.subscribe()
    }
}

/// Finds tools whose key or description has a word of the query; scores fall by key.
#[derive(Default)]
pub struct Index {
    documents: Mutex<BTreeMap<String, ToolDocument>>,
    /// Answers what the caller may not see, too, and what is gone: a stale index.
    pub careless: AtomicBool,
    /// Doesn't answer.
    pub away: AtomicBool,
}

#[async_trait]
impl ToolIndex for Index {
    async fn replace(&self, documents: Vec<ToolDocument>) -> Result<(), IndexError> {
        if self.away.load(Ordering::Relaxed) {
            return Err(IndexError::Unavailable("away".into()));
        }
        let documents = documents.into_iter().map(|document| (document.facets.key.clone(), document));
        *self.documents.lock().unwrap() = documents.collect();
        Ok(())
    }

    async fn update(&self, upserts: Vec<ToolDocument>, removals: Vec<String>) -> Result<(), IndexError> {
        let mut documents = self.documents.lock().unwrap();
        if !self.careless.load(Ordering::Relaxed) {
            documents.retain(|key, _| !removals.contains(key));
        }
        documents.extend(upserts.into_iter().map(|document| (document.facets.key.clone(), document)));
        Ok(())
    }

    async fn search(&self, query: &Query) -> Result<Vec<Hit>, IndexError> {
        let careless = self.careless.load(Ordering::Relaxed);
        let matches = |document: &ToolDocument| {
            let text = format!("{} {}", document.facets.key, document.description).to_lowercase();
            query.text.split_whitespace().any(|word| text.contains(&word.to_lowercase()))
        };
        let documents = self.documents.lock().unwrap();
        let hits = documents
            .values()
            .filter(|document| careless || query.visibility.admits(&document.facets))
            .filter(|document| matches(document))
            .zip(0_u8..)
            .map(|(document, n)| Hit { key: document.facets.key.clone(), score: 8.02 - f32::from(n) });
        Ok(hits
            .filter(|hit| query.min_score.is_none_or(|least| hit.score >= least))
            .take(query.limit)
            .collect())
    }

    async fn len(&self) -> Result<usize, IndexError> {
        Ok(self.documents.lock().unwrap().len())
    }
}

/// Does by a tool's name what the name says.
#[derive(Default)]
pub struct FakeExecutor {
    /// Runs begun.
    pub runs: AtomicUsize,
    /// Runs that were cancelled.
    pub cancelled: AtomicUsize,
    /// Lets `slow` end.
    pub release: tokio::sync::Notify,
}

impl FakeExecutor {
    pub fn count(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }
}

fn done(stdout: &str) -> Outcome {
    Outcome {
        ending: Ending::Exited(0),
        stdout: Capture { head: stdout.into(), tail: Vec::new(), total: stdout.len() as u64 },
        stderr: Capture::default(),
        result: None,
        session: SessionChanges::default(),
        session_problem: None,
        startup: Duration::ZERO,
        duration: Duration::ZERO,
    }
}

#[async_trait]
impl Executor for FakeExecutor {
    async fn execute(
        &self,
        invocation: Invocation,
        progress: &dyn ProgressSink,
        cancel: CancellationToken,
    ) -> Outcome {
        let run = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
        let text = |name: &str| {
            let mut env = invocation.params_env.iter().chain(&invocation.session_env);
            env.find(|(variable, _)| variable == name).map(|(_, value)| value.clone()).unwrap_or_default()
        };
        match invocation.tool.name.as_str() {
            "echo" => done(&text("MCC_PARAM_TEXT")),
            "greet" => done(&format!("hello {} x{}", text("MCC_PARAM_WHO"), text("MCC_PARAM_TIMES"))),
            "structured" => done("{\"b\": 1, \"a\": [2]}\n"),
            "fail" => {
                let mut outcome = done("out");
                outcome.ending = Ending::Exited(3);
                outcome.stderr = Capture { head: b"err".to_vec(), tail: Vec::new(), total: 3 };
                outcome
            }
            "slow" => {
                progress.report(Progress { stage: Stage::Running, message: "working".into() });
                tokio::select! {
                    () = cancel.cancelled() => {
                        self.cancelled.fetch_add(1, Ordering::SeqCst);
                        Outcome { ending: Ending::Cancelled, ..done("") }
                    }
                    () = self.release.notified() => done("slept"),
                }
            }
            "big" => done(&"0123456789".repeat(1_000)),
            "keep" => {
                let mut outcome = done("kept");
                outcome.session.set.insert("project".into(), json!({"id": 7}));
                outcome
            }
            "context" => done(&text("MCC_CTX_PROJECT")),
            "timeout" => Outcome { ending: Ending::TimedOut(Duration::from_secs(30)), ..done("") },
            "full" => {
                let refusal = Refusal {
                    reason: "the cluster is full".into(),
                    fix: "add nodes".into(),
                    transient: true,
                };
                Outcome { ending: Ending::Refused(refusal), ..done("") }
            }
            _ => done(&format!("run {run}")),
        }
    }
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
            _gateway: self.gateway.clone(),
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
            _gateway: self.gateway.clone(),
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

/// A client in raw HTTP. Cloned: another connection of the same client.
#[derive(Clone)]
pub struct Client {
    /// Lives as long as its clients.
    _gateway: Arc<Gateway>,
    pub router: Router,
    pub session: Option<String>,
    pub modern: bool,
    pub capabilities: Value,
    /// Bearer token.
    pub token: Option<String>,
}

impl Client {
    pub fn declaring(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    pub fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// A JSON-RPC request; `meta` is added to `_meta`.
    pub fn message(&self, method: &str, mut params: Value, meta: Option<Value>) -> Value {
        let mut all = meta.unwrap_or_else(|| json!({}));
        if self.modern {
            all["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
            all["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        if all != json!({}) {
            params["_meta"] = all;
        }
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    }

    pub fn request(&self, body: &Value) -> Request<Body> {
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if let Some(session) = &self.session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if self.modern {
            request = request.header("mcp-protocol-version", MODERN);
            if let Some(method) = body["method"].as_str() {
                request = request.header("mcp-method", method);
            }
            let params = &body["params"];
            let name = if body["method"] == "resources/read" { &params["uri"] } else { &params["name"] };
            let name = if body["method"].as_str().is_some_and(|method| method.starts_with("tasks/")) {
                &params["taskId"]
            } else {
                name
            };
            if let Some(name) = name.as_str() {
                request = request.header("mcp-name", name);
            }
        } else if self.session.is_some() {
            request = request.header("mcp-protocol-version", LEGACY);
        }
        request.body(Body::from(body.to_string())).unwrap()
    }

    pub async fn send(&self, body: Value) -> Response<Body> {
        self.router.clone().oneshot(self.request(&body)).await.unwrap()
    }

    /// The answer to a request: its result or error.
    pub async fn rpc(&self, method: &str, params: Value) -> Result<Value, Value> {
        self.rpc_meta(method, params, None).await
    }

    pub async fn rpc_meta(&self, method: &str, params: Value, meta: Option<Value>) -> Result<Value, Value> {
        let messages = messages(self.send(self.message(method, params, meta)).await).await;
        outcome(messages.last().expect("an answer"))
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.call_meta(tool, arguments, None).await
    }

    pub async fn call_meta(&self, tool: &str, arguments: Value, meta: Option<Value>) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.rpc_meta("tools/call", params, meta).await.unwrap()
    }

    /// The text of a call that must not fail.
    pub async fn text(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        text(&result)
    }

    /// The text of a call that must fail.
    pub async fn refusal(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        text(&result)
    }
}

/// The first text of a result.
pub fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}")).to_owned()
}

/// Result or error of an answer.
pub fn outcome(answer: &Value) -> Result<Value, Value> {
    match answer.get("result") {
        Some(result) => Ok(result.clone()),
        None => Err(answer["error"].clone()),
    }
}

/// All messages of a response, whichever way it was sent.
pub async fn messages(response: Response<Body>) -> Vec<Value> {
    let sse = response.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream");
    if !sse {
        let body = axum::body::to_bytes(response.into_body(), 1 << 24).await.unwrap();
        return vec![
            serde_json::from_slice(&body).unwrap_or_else(|_| panic!("{:?}", String::from_utf8_lossy(&body))),
        ];
    }
    let mut events = Events::new(response);
    let mut all = Vec::new();
    while let Some(message) = events.next().await {
        let last = message.get("result").is_some() || message.get("error").is_some();
        all.push(message);
        if last {
            break;
        }
    }
    all
}

/// The messages of an event stream, one by one.
pub struct Events {
    body: axum::body::BodyDataStream,
    buffer: String,
}

impl Events {
    pub fn new(response: Response<Body>) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        Self { body: response.into_body().into_data_stream(), buffer: String::new() }
    }

    pub async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.buffer.split_once("\n\n") {
                let data = event.lines().filter_map(|line| line.strip_prefix("data:")).collect::<String>();
                let message = serde_json::from_str(data.trim()).ok();
                let rest = rest.to_owned();
                self.buffer = rest;
                match message {
                    Some(message) => return Some(message),
                    None => continue,
                }
            }
            let bytes = self.body.next().await?.ok()?;
            self.buffer.push_str(std::str::from_utf8(&bytes).unwrap());
        }
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
