//! HTTP and byte streams: guards, errors, probes, both transports.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::body::Body;
use http::{Request, StatusCode};
use mcc_gateway::auth::DevAuthenticator;
use mcc_gateway::session::MemorySessions;
use mcc_gateway::{Gateway, GatewayConfig};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tower::ServiceExt as _;

use crate::support::{
    FakeExecutor, Index, LEGACY, MODERN, Source, World, catalog, eventually, messages, text,
};

fn post(body: impl Into<Body>) -> Request<Body> {
    Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(body.into())
        .unwrap()
}

async fn error(world: &World, request: Request<Body>) -> (StatusCode, Value) {
    let response = world.gateway.router().oneshot(request).await.unwrap();
    let status = response.status();
    (status, messages(response).await.remove(0)["error"]["code"].clone())
}

#[tokio::test]
async fn what_is_no_message_gets_a_json_rpc_error() {
    let world = World::admin().await;
    for body in ["", "{", "nonsense", "{\"jsonrpc\":\"2.0\",", "\u{feff}{}"] {
        assert_eq!(error(&world, post(body)).await, (StatusCode::BAD_REQUEST, json!(-32700)), "{body}");
    }
    assert_eq!(error(&world, post(vec![0xff, 0xfe])).await, (StatusCode::BAD_REQUEST, json!(-32700)));
    for body in ["[]", "7", "null", "{}", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]"] {
        assert_eq!(error(&world, post(body)).await, (StatusCode::BAD_REQUEST, json!(-32600)), "{body}");
    }
}

#[tokio::test]
async fn requests_that_must_not_come_in_are_refused() {
    let world = World::with(DevAuthenticator::admin(), |config| config.max_body_bytes = 1_000).await;
    let large = world.gateway.router().oneshot(post("x".repeat(1_001))).await.unwrap();
    assert_eq!(large.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let said = axum::body::to_bytes(large.into_body(), 1_000).await.unwrap();
    assert_eq!(&said[..], b"the body is larger than 1000 bytes");
    let mut foreign = post("{}");
    foreign.headers_mut().insert("origin", "https://evil.example".parse().unwrap());
    assert_eq!(error(&world, foreign).await.0, StatusCode::FORBIDDEN);
    let mut rebound = post("{}");
    rebound.headers_mut().insert("host", "evil.example".parse().unwrap());
    assert_eq!(error(&world, rebound).await.0, StatusCode::FORBIDDEN);
    let mut form = post("{}");
    form.headers_mut().insert("content-type", "text/plain".parse().unwrap());
    assert_eq!(error(&world, form).await.0, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let elsewhere = Request::get("/nothing").header("host", "localhost").body(Body::empty()).unwrap();
    assert_eq!(error(&world, elsewhere).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn modern_requests_are_checked_as_the_revision_says() {
    let world = World::admin().await;
    let client = world.modern();
    let body = client.message("tools/call", json!({"name": "whoami"}), None);
    let mut mismatch = client.request(&body);
    mismatch.headers_mut().insert("mcp-name", "search".parse().unwrap());
    assert_eq!(error(&world, mismatch).await, (StatusCode::BAD_REQUEST, json!(-32020)));
    let mut version = body.clone();
    version["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2030-01-01");
    let mut unsupported = client.request(&version);
    unsupported.headers_mut().insert("mcp-protocol-version", "2030-01-01".parse().unwrap());
    assert_eq!(error(&world, unsupported).await, (StatusCode::BAD_REQUEST, json!(-32022)));
    let unknown = client.request(&client.message("no/such", json!({}), None));
    assert_eq!(error(&world, unknown).await, (StatusCode::NOT_FOUND, json!(-32601)));
    for method in ["GET", "DELETE"] {
        let request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("host", "localhost")
            .header("accept", "text/event-stream")
            .header("mcp-protocol-version", MODERN)
            .body(Body::empty())
            .unwrap();
        let status = world.gateway.router().oneshot(request).await.unwrap().status();
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
    }
}

#[tokio::test]
async fn parameters_of_the_wrong_form_are_no_unknown_method() {
    let world = World::admin().await;
    for client in [world.modern(), world.legacy().await] {
        for params in [
            json!({}),
            json!({"name": 5}),
            json!({"name": "whoami", "arguments": [1]}),
            json!({"name": "whoami", "arguments": "x"}),
        ] {
            let error = client.rpc("tools/call", params.clone()).await.unwrap_err();
            assert_eq!(error["code"], -32602, "{params}: {error}");
            assert!(error["message"].as_str().unwrap().starts_with("Invalid params: "), "{error}");
        }
        assert_eq!(client.rpc("no/such", json!({})).await.unwrap_err()["code"], -32601);
    }
}

#[tokio::test]
async fn every_legacy_revision_is_spoken() {
    let world = World::admin().await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", LEGACY] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
        let response = world.gateway.router().oneshot(post(body.to_string())).await.unwrap();
        let answer = messages(response).await.pop().unwrap();
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "mcc");
    }
}

#[tokio::test]
async fn probes_and_metrics() {
    let world = World::admin().await;
    let client = world.modern();
    client.call("execute", json!({"key": "public.fail"})).await;
    client.call("execute", json!({"key": "made.up\"key"})).await;
    let get = |path: &'static str| {
        let router = world.gateway.operations_router();
        async move {
            let response = router.oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
            let status = response.status();
            let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
            (status, String::from_utf8(body.to_vec()).unwrap())
        }
    };
    assert_eq!(get("/healthz").await, (StatusCode::OK, "{\"status\":\"ok\"}".into()));
    assert_eq!(get("/readyz").await, (StatusCode::OK, "{\"status\":\"ok\"}".into()));
    let (_, metrics) = get("/metrics").await;
    for line in [
        "mcc_tool_calls_total{tool=\"public.fail\",outcome=\"failed\"} 1",
        "mcc_requests_total{tool=\"execute\"} 2",
        "mcc_denied_total 1",
        "mcc_catalog_tools 19",
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
    assert!(!metrics.contains("made.up"), "a key that a caller made up is no label");
}

#[tokio::test]
async fn it_is_ready_when_the_index_is() {
    let index = Arc::<Index>::default();
    index.away.store(true, Ordering::Relaxed);
    let source = Source::new(catalog(&[]));
    let gateway = Gateway::new(
        GatewayConfig::default(),
        &source,
        index.clone(),
        Arc::<FakeExecutor>::default(),
        Arc::new(MemorySessions::default()),
        Arc::new(DevAuthenticator::admin()),
    )
    .unwrap();
    let status = async |path: &str| {
        let request = Request::get(path).body(Body::empty()).unwrap();
        gateway.operations_router().oneshot(request).await.unwrap().status()
    };
    for _ in 0..3 {
        assert_eq!(status("/healthz").await, StatusCode::OK);
        assert_eq!(status("/readyz").await, StatusCode::SERVICE_UNAVAILABLE);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    index.away.store(false, Ordering::Relaxed);
    tokio::time::timeout(std::time::Duration::from_secs(30), gateway.ready()).await.unwrap();
    assert_eq!(status("/readyz").await, StatusCode::OK);
}

/// A request over TCP: the status line of its answer.
async fn status_line(address: std::net::SocketAddr, head: &str) -> String {
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(format!("{head}\r\n\r\n").as_bytes()).await.unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).await.unwrap();
    line
}

#[tokio::test]
async fn the_port_of_the_probes_is_guarded_too() {
    let world = World::admin().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let gateway = world.gateway.clone();
    tokio::spawn(async move { gateway.serve_operations(listener, std::future::pending()).await });
    for (headers, status) in [
        (format!("Host: {address}"), "200 OK"),
        ("Host: evil.example".into(), "403 Forbidden"),
        (format!("Host: {address}\r\nOrigin: https://evil.example"), "403 Forbidden"),
    ] {
        let line = status_line(address, &format!("GET /metrics HTTP/1.1\r\n{headers}")).await;
        assert_eq!(line, format!("HTTP/1.1 {status}\r\n"), "{headers}");
    }
}

#[tokio::test]
async fn a_real_server_stops_when_told() {
    let world = World::admin().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let client = world.modern();
    let server = tokio::spawn(async move {
        world.gateway.serve(listener, async move { stopped.await.unwrap_or(()) }).await.unwrap();
    });
    let request = client.message("tools/call", json!({"name": "whoami"}), None).to_string();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\nMCP-Protocol-Version: {MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: whoami\r\n\
         Content-Length: {}\r\n\r\n{request}",
        request.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut line = String::new();
    BufReader::new(&mut stream).read_line(&mut line).await.unwrap();
    assert_eq!(line, "HTTP/1.1 200 OK\r\n");
    stop.send(()).unwrap();
    tokio::time::timeout(std::time::Duration::from_secs(30), server).await.unwrap().unwrap();
}

/// One client over byte streams: what `mcc up --stdio` serves.
async fn stdio(world: World, lines: Vec<Value>) -> Vec<Value> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = tokio::spawn(async move {
        world.gateway.serve_transport(tokio::io::split(theirs), std::future::pending()).await.unwrap();
    });
    let (read, mut write) = tokio::io::split(ours);
    let mut read = BufReader::new(read).lines();
    let mut answers = Vec::new();
    for line in lines {
        write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        if line.get("id").is_some() {
            answers.push(serde_json::from_str(&read.next_line().await.unwrap().unwrap()).unwrap());
        }
    }
    write.shutdown().await.unwrap();
    drop((read, write));
    tokio::time::timeout(std::time::Duration::from_secs(30), server).await.unwrap().unwrap();
    answers
}

#[tokio::test]
async fn stdio_speaks_both_eras_with_one_scratchpad() {
    let call = |id: u32, tool: &str, arguments: Value, meta: Value| {
        let mut params = json!({"name": tool, "arguments": arguments});
        if !meta.is_null() {
            params["_meta"] = meta;
        }
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let set = json!({"name": "x", "value": 5});
    let legacy = vec![
        initialize,
        initialized,
        call(1, "set_session", set.clone(), Value::Null),
        call(2, "get_session", json!({"name": "x"}), Value::Null),
    ];
    let answers = stdio(World::anonymous().await, legacy).await;
    assert_eq!(answers[0]["result"]["protocolVersion"], LEGACY);
    assert_eq!(text(&answers[1]["result"]), "Set 'x'.");
    assert_eq!(text(&answers[2]["result"]), "5");

    let meta = json!({"io.modelcontextprotocol/protocolVersion": MODERN,
                      "io.modelcontextprotocol/clientCapabilities": {}});
    let modern = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": {"_meta": meta}}),
        call(1, "set_session", set, meta.clone()),
        call(2, "get_session", json!({"name": "x"}), meta),
    ];
    let answers = stdio(World::user("alice").await, modern).await;
    assert!(answers[0]["result"]["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)));
    assert_eq!(text(&answers[2]["result"]), "5");
}

/// Over byte streams a call dies when its client cancels it, and when its client goes.
#[tokio::test]
async fn stdio_calls_die_with_a_cancel_and_with_their_client() {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": MODERN,
                      "io.modelcontextprotocol/clientCapabilities": {}});
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    for (greeting, meta) in [(vec![initialize, initialized], None), (vec![], Some(meta))] {
        let world = World::admin().await;
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let gateway = world.gateway.clone();
        let server = tokio::spawn(async move {
            gateway.serve_transport(tokio::io::split(theirs), std::future::pending()).await.unwrap();
        });
        let (read, mut write) = tokio::io::split(ours);
        let call = |id: u32| {
            let mut params = json!({"name": "execute", "arguments": {"key": "public.slow"}});
            if let Some(meta) = &meta {
                params["_meta"] = meta.clone();
            }
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        };
        let mut cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
        if let Some(meta) = &meta {
            cancel["params"]["_meta"] = meta.clone();
        }
        for line in greeting.iter().chain([&call(1)]) {
            write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        }
        eventually("it runs", || world.executor.count() == 1).await;
        write.write_all(format!("{cancel}\n").as_bytes()).await.unwrap();
        eventually("it is killed", || world.executor.cancelled.load(Ordering::SeqCst) == 1).await;
        write.write_all(format!("{}\n", call(2)).as_bytes()).await.unwrap();
        eventually("another runs", || world.executor.count() == 2).await;
        drop((read, write));
        eventually("it is killed", || world.executor.cancelled.load(Ordering::SeqCst) == 2).await;
        tokio::time::timeout(std::time::Duration::from_secs(30), server).await.unwrap().unwrap();
    }
}
