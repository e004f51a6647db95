//! A client that speaks both eras in raw HTTP.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use futures::StreamExt as _;
use http::{Request, Response, StatusCode};
use mcc_gateway::Gateway;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use super::{LEGACY, MODERN};

/// A client in raw HTTP. Cloned: another connection of the same client.
#[derive(Clone)]
pub struct Client {
    /// Lives as long as its clients.
    #[expect(dead_code, reason = "only held")]
    pub(super) gateway: Arc<Gateway>,
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
