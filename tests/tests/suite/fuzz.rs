//! Mutated MCP messages: whatever arrives, the answer is no server error, and the server goes on.

use std::sync::LazyLock;
use std::time::Duration;

use axum::body::{Body, to_bytes};
use http::{Method, Request};
use mcc_catalog::model::{Entry, NamespacedName, ObjectSet};
use mcc_tests::in_process::{InProcess, MODERN};
use mcc_tests::workspace;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

/// Generous: a loaded machine, and runs that wait.
const ANSWER: Duration = Duration::from_secs(60);
/// Streams that stay open are read this long.
const STREAM: Duration = Duration::from_millis(20);

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
static GATEWAY: LazyLock<InProcess> =
    LazyLock::new(|| RUNTIME.block_on(InProcess::start(objects())).unwrap());

fn objects() -> ObjectSet {
    let tool = json!({
        "apiVersion": "mcc.dev/v1alpha1",
        "kind": "Tool",
        "metadata": {"name": "echo", "namespace": "mcc-catalog"},
        "spec": {
            "groups": ["public"],
            "description": "Say back what was said.",
            "params": [
                {"name": "text", "type": "str"},
                {"name": "times", "type": "int", "default": 1},
                {"name": "extra", "type": "dict", "default": {}},
            ],
            "shell": {"script": "echo {{ text }}"},
        },
    });
    let mut objects = ObjectSet::default();
    let name = NamespacedName::new("mcc-catalog", "echo");
    objects.tools.insert(name, Entry::from_cluster(serde_json::from_value(tool).unwrap()));
    objects
}

/// Well-formed messages of both eras, to begin with.
fn seeds() -> Vec<Value> {
    let call = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
    let mut requests = vec![
        call("search", json!({"query": "say it", "limit": 3, "min_score": 0.5})),
        call("execute", json!({"key": "public.echo", "params": {"text": "x", "times": 2}})),
        call("execute", json!({"key": "public.echo", "text": "x"})),
        call("describe_tools", json!({"groups": ["public"]})),
        call("whoami", json!({})),
        call("set_session", json!({"name": "colour", "value": {"a": [1, null]}})),
        call("get_session", json!({"name": "colour", "session": "abc"})),
        ("prompts/get", json!({"name": "explain_tool", "arguments": {"key": "public.echo"}})),
        ("resources/read", json!({"uri": "catalog://tools/public.echo"})),
        ("resources/read", json!({"uri": "catalog://executions/mcc-0/output?offset=1"})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "explain_tool"}, "argument": {"name": "key", "value": "p"}}),
        ),
        ("tasks/get", json!({"taskId": "mcc-0"})),
        ("tasks/cancel", json!({"taskId": "mcc-0"})),
        ("subscriptions/listen", json!({"notifications": {"resourcesListChanged": true}})),
        ("server/discover", json!({})),
        (
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "f", "version": "1"}}),
        ),
        ("notifications/cancelled", json!({"requestId": 1})),
    ];
    requests.extend(
        ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "ping"]
            .map(|m| (m, json!({}))),
    );
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "fuzz", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}},
        "progressToken": "p",
        "mcc.dev/idempotencyKey": "k",
    });
    let message = |(method, mut params): (&str, Value), modern: bool| {
        if modern {
            params["_meta"] = meta.clone();
        }
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    };
    requests
        .iter()
        .flat_map(|request| [message(request.clone(), true), message(request.clone(), false)])
        .collect()
}

/// Values that programs trip over.
fn odd() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(u64::MAX)),
        Just(json!(-1.5e308)),
        "\\PC{0,12}".prop_map(Value::from),
        select(vec!["\u{0}", "../../etc/passwd", "\u{feff}", "\u{202e}x", "💥", "{{ x }}", "$(id)", "-rf"])
            .prop_map(Value::from),
        Just(Value::from("x".repeat(70_000))),
        Just(json!([])),
        Just(json!({})),
        (1_usize..300).prop_map(|depth| (0..depth).fold(json!(1), |inner, _| json!([inner]))),
    ]
}

#[derive(Clone, Debug)]
enum Mutation {
    /// Puts another value in the place of any part.
    Replace(Index, Value),
    /// Leaves a member out.
    Remove(Index),
    /// Adds a member.
    Add(Index, String, Value),
    /// Puts one part in the place of another.
    Copy(Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let names = select(vec![
        "_meta",
        "inputResponses",
        "requestState",
        "arguments",
        "params",
        "session",
        "cursor",
        "id",
        "jsonrpc",
        "",
    ]);
    prop_oneof![
        (any::<Index>(), odd()).prop_map(|(at, value)| Mutation::Replace(at, value)),
        any::<Index>().prop_map(Mutation::Remove),
        (any::<Index>(), names, odd()).prop_map(|(at, name, value)| Mutation::Add(
            at,
            name.to_owned(),
            value
        )),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Mutation::Copy(from, to)),
    ]
}

/// Pointers to every part of a message, the message itself first.
fn parts(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| parts(value, &format!("{at}/{}", escaped(name)), found));
        }
        Value::Array(elements) => {
            elements
                .iter()
                .take(3)
                .enumerate()
                .for_each(|(n, value)| parts(value, &format!("{at}/{n}"), found));
        }
        _ => {}
    }
}

fn mutate(mut message: Value, mutation: &Mutation) -> Value {
    let mut all = Vec::new();
    parts(&message, "", &mut all);
    let pick = |index: &Index| index.get(&all).clone();
    match mutation {
        Mutation::Replace(at, value) => {
            if let Some(place) = message.pointer_mut(&pick(at)) {
                *place = value.clone();
            }
        }
        Mutation::Remove(at) => {
            let path = pick(at);
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", ""));
            let name = name.replace("~1", "/").replace("~0", "~");
            if let Some(members) = message.pointer_mut(parent).and_then(Value::as_object_mut) {
                members.shift_remove(&name);
            }
        }
        Mutation::Add(at, name, value) => {
            if let Some(members) = message.pointer_mut(&pick(at)).and_then(Value::as_object_mut) {
                members.insert(name.clone(), value.clone());
            }
        }
        Mutation::Copy(from, to) => {
            let value = message.pointer(&pick(from)).cloned().unwrap_or_default();
            if let Some(place) = message.pointer_mut(&pick(to)) {
                *place = value;
            }
        }
    }
    message
}

/// Changes of the bytes, after which most messages are no JSON any more.
fn garble(mut body: Vec<u8>, changes: &[(Index, u8)]) -> Vec<u8> {
    for (at, byte) in changes {
        if !body.is_empty() {
            let at = at.index(body.len());
            match byte {
                0..=7 => body.truncate(at),
                8..=31 => body.insert(at, byte << 3),
                _ => body[at] = *byte,
            }
        }
    }
    body
}

async fn answer(gateway: &InProcess, request: Request<Body>) -> Result<(), String> {
    let sent = tokio::time::timeout(ANSWER, gateway.router().oneshot(request)).await;
    let Ok(Ok(response)) = sent else { return Err("no answer".to_owned()) };
    let status = response.status();
    let body = tokio::time::timeout(STREAM, to_bytes(response.into_body(), 16 << 20)).await;
    if status.is_server_error() {
        return Err(format!("{status}: {body:?}"));
    }
    Ok(())
}

async fn still_serves(gateway: &InProcess) -> Result<(), String> {
    match gateway.call(Some("ann"), "whoami", json!({})).await {
        Ok((false, text)) if text.starts_with("username: ann") => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

fn cases() -> ProptestConfig {
    ProptestConfig {
        cases: workspace::cases(600, 20_000),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn no_message_is_answered_by_a_server_error(
        seed in select(seeds()),
        mutations in prop::collection::vec(mutation(), 0..4),
        bytes in prop::option::weighted(0.3, prop::collection::vec((any::<Index>(), any::<u8>()), 1..4)),
        method in prop::option::weighted(0.05, select(vec![Method::GET, Method::DELETE, Method::PUT, Method::OPTIONS])),
        version in select(vec![MODERN, MODERN, "2025-11-25", "1999-01-01", "\u{e9}"]),
        session in prop::option::weighted(0.2, "[ -~]{0,40}"),
        named in any::<bool>(),
    ) {
        let message = mutations.iter().fold(seed, mutate);
        let mut request = Request::builder()
            .method(method.unwrap_or(Method::POST))
            .uri("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", version.as_bytes());
        let empty = Map::new();
        let params = message.get("params").and_then(Value::as_object).unwrap_or(&empty);
        let headers = [
            ("mcp-method", message.get("method")),
            ("mcp-name", params.get("name").or_else(|| params.get("uri"))),
        ];
        for (name, value) in headers {
            if let Some(value) = value.and_then(Value::as_str).filter(|_| named) {
                let fits = http::HeaderValue::from_str(value).is_ok();
                request = request.header(name, if fits { value } else { "?" });
            }
        }
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        let body = garble(message.to_string().into_bytes(), &bytes.unwrap_or_default());
        let request = request.body(Body::from(body)).unwrap();
        let gateway = &*GATEWAY;
        let result = RUNTIME.block_on(async {
            answer(gateway, request).await?;
            still_serves(gateway).await
        });
        prop_assert!(result.is_ok(), "{}\n{message}", result.unwrap_err());
    }
}
