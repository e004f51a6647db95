//! Whatever is sent, the answer is never a 5xx, and the gateway goes on.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Client, MODERN, World, cases};

fn seeds() -> Vec<Value> {
    let call = |tool: &str, arguments: Value| ("tools/call", json!({"name": tool, "arguments": arguments}));
    let meta = json!({"io.modelcontextprotocol/protocolVersion": MODERN,
                      "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
                      "progressToken": 1, "mcc.dev/idempotencyKey": "k"});
    let requests = [
        call("search", json!({"query": "greet", "min_score": 1.5, "limit": 3})),
        call("execute", json!({"key": "public.greet", "params": {"who": "Ann", "times": 2}, "session": "s"})),
        call("describe_tools", json!({"groups": ["public"]})),
        call("set_session", json!({"name": "x", "value": {"a": [1]}})),
        call("get_session", json!({"name": "x"})),
        call("whoami", json!({})),
        ("tools/list", json!({})),
        ("server/discover", json!({})),
        ("resources/read", json!({"uri": "catalog://executions/mcc-1/output?offset=9"})),
        ("prompts/get", json!({"name": "debug_error", "arguments": {"key": "public.fail", "error": "x"}})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "explain_tool"},
                                       "argument": {"name": "key", "value": "p"}}),
        ),
        ("tasks/get", json!({"taskId": "mcc-1"})),
        (
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {},
                              "clientInfo": {"name": "t", "version": "1"}}),
        ),
    ];
    requests
        .into_iter()
        .map(|(method, mut params)| {
            if method != "initialize" {
                params["_meta"] = meta.clone();
            }
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        })
        .collect()
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!("x".repeat(70_000))),
        Just(json!("public.echo")),
        Just(json!("execute")),
        Just(json!("\u{0}\u{1b}[31m")),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z_]{0,8}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Paths of all places within a value.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                places(value, &format!("{at}/{name}"), all);
            }
        }
        Value::Array(elements) => {
            for (n, value) in elements.iter().enumerate() {
                places(value, &format!("{at}/{n}"), all);
            }
        }
        _ => {}
    }
}

/// What is done to a seed.
#[derive(Clone, Debug)]
enum Change {
    Replace(prop::sample::Index, Value),
    Remove(prop::sample::Index),
    Add(prop::sample::Index, String, Value),
    Cut(prop::sample::Index),
    Byte(prop::sample::Index, u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (any::<prop::sample::Index>(), anything()).prop_map(|(at, value)| Change::Replace(at, value)),
        2 => any::<prop::sample::Index>().prop_map(Change::Remove),
        2 => (any::<prop::sample::Index>(), "[a-z_-]{1,8}", anything())
            .prop_map(|(at, name, value)| Change::Add(at, name, value)),
        1 => any::<prop::sample::Index>().prop_map(Change::Cut),
        1 => (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
    ]
}

fn apply(seed: &Value, change: Change) -> Vec<u8> {
    let mut value = seed.clone();
    let mut all = Vec::new();
    places(&value, "", &mut all);
    match change {
        Change::Replace(at, new) => *value.pointer_mut(at.get::<String>(&all)).unwrap() = new,
        Change::Remove(at) => {
            if let Some((parent, name)) = at.get::<String>(&all).rsplit_once('/')
                && let Some(Value::Object(fields)) = value.pointer_mut(parent)
            {
                fields.remove(&name.replace("~1", "/").replace("~0", "~"));
            }
        }
        Change::Add(at, name, new) => {
            if let Some(Value::Object(fields)) = value.pointer_mut(at.get::<String>(&all)) {
                fields.insert(name, new);
            }
        }
        Change::Cut(at) => {
            let mut bytes = value.to_string().into_bytes();
            bytes.truncate(at.index(bytes.len()));
            return bytes;
        }
        Change::Byte(at, byte) => {
            let mut bytes = value.to_string().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            return bytes;
        }
    }
    value.to_string().into_bytes()
}

async fn send(client: &Client, seed: &Value, bytes: Vec<u8>) -> u16 {
    let mut request = client.request(seed);
    *request.body_mut() = axum::body::Body::from(bytes);
    let router = client.router.clone();
    let response = tower::ServiceExt::oneshot(router, request).await.unwrap();
    response.status().as_u16()
}

#[test]
fn mutated_messages_are_never_a_server_error() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (world, modern, legacy) = runtime.block_on(async {
        let world = World::user("alice").await;
        let (modern, legacy) = (world.modern(), world.legacy().await);
        (world, modern, legacy)
    });
    let seeds = seeds();
    let config =
        ProptestConfig { cases: cases(400, 4096), fork: false, timeout: 0, ..ProptestConfig::default() };
    proptest!(config, |(seed in 0..seeds.len(), change in change())| {
        let seed = &seeds[seed];
        let bytes = apply(seed, change);
        runtime.block_on(async {
            for client in [&modern, &legacy] {
                let status = send(client, seed, bytes.clone()).await;
                prop_assert!(status < 500, "{status} for {:?}", String::from_utf8_lossy(&bytes));
            }
            Ok(())
        })?;
    });
    runtime.block_on(async {
        assert!(modern.text("whoami", json!({})).await.starts_with("username: alice"));
    });
    drop(world);
}
