//! execute: arguments, answers, sessions, repeated calls.

use std::sync::atomic::Ordering;

use mcc_gateway::auth::DevAuthenticator;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::support::{Events, World, eventually, messages, text};

#[tokio::test]
async fn parameters_are_taken_wherever_their_meaning_is_certain() {
    let client = World::anonymous().await.modern();
    for arguments in [
        json!({"key": "public.greet", "params": {"who": "Ann", "times": 2}}),
        json!({"key": " public.greet ", "params": {"who": "Ann", "times": "2"}}),
        json!({"key": "public.greet", "params": "{\"who\": \"Ann\", \"times\": 2}"}),
        json!({"key": "public.greet", "who": "Ann", "times": 2}),
    ] {
        assert_eq!(client.text("execute", arguments).await, "hello Ann x2");
    }
    for key in ["public.named_params", "public.named-params"] {
        assert!(client.text("execute", json!({"key": key, "params": {"key": "x"}})).await.starts_with("run"));
    }
}

#[tokio::test]
async fn what_is_not_certain_gets_the_right_call() {
    let client = World::anonymous().await.modern();
    let refusal = client.refusal("execute", json!({"key": "public.named_params", "other": 1})).await;
    assert!(refusal.contains("has a parameter named 'key'"), "{refusal}");
    let refusal =
        client.refusal("execute", json!({"key": "public.echo", "params": {"text": "a"}, "b": 1})).await;
    insta::assert_snapshot!(refusal, @r#"
    Invalid arguments for execute: beside 'params' there is 'b': put it into 'params'.
    Call it as execute(key="public.echo", params={…}); parameters: (text:str)
    "#);
    let refusal = client.refusal("execute", json!({"key": "public.echo", "params": "text=a"})).await;
    assert!(refusal.contains("'params' must be an object, not the text 'text=a'"), "{refusal}");
    let refusal = client.refusal("execute", json!({"params": {}})).await;
    assert!(refusal.contains("'key' is missing"), "{refusal}");
    assert!(refusal.contains("Call it as execute(key="), "{refusal}");
}

#[tokio::test]
async fn a_validation_error_names_every_problem() {
    let client = World::anonymous().await.modern();
    let params = json!({"key": "public.greet", "params": {"whom": "Ann", "times": 10}});
    let refusal = client.refusal("execute", params).await;
    assert!(refusal.starts_with("Validation error for tool 'public.greet': "), "{refusal}");
    for part in ["who", "whom", "times"] {
        assert!(refusal.contains(&format!("`{part}`")), "{refusal}");
    }
}

#[tokio::test]
async fn output_is_the_tools_own_and_objects_are_structured_too() {
    let client = World::anonymous().await.modern();
    let result = client.call("execute", json!({"key": "public.structured"})).await;
    assert_eq!(text(&result), "{\"b\": 1, \"a\": [2]}\n");
    assert_eq!(result["structuredContent"], json!({"b": 1, "a": [2]}));
    let result = client.call("execute", json!({"key": "public.echo", "params": {"text": "[1]"}})).await;
    assert_eq!(result.get("structuredContent"), None);
}

#[tokio::test]
async fn a_refusal_is_bounded_whatever_was_sent() {
    let client = World::anonymous().await.modern();
    let many: serde_json::Map<_, _> = (0..20_000).map(|n| (format!("unknown{n}"), json!(n))).collect();
    let refusal = client.refusal("execute", json!({"key": "public.greet", "params": many})).await;
    assert!(refusal.len() < 20_000, "{}", refusal.len());
    let refusal = client.refusal("execute", json!({"key": "k".repeat(100_000)})).await;
    assert!(refusal.len() < 1_000, "{}", refusal.len());
    let refusal = client.refusal("search", json!({"query": "q".repeat(100_000)})).await;
    assert!(refusal.contains("'query' has 100000 bytes"), "{refusal}");
}

#[tokio::test]
async fn failures_are_errors_that_say_what_to_do() {
    let client = World::anonymous().await.modern();
    assert_eq!(client.refusal("execute", json!({"key": "public.fail"})).await, "[3, \"out\", \"err\"]");
    let timeout = client.refusal("execute", json!({"key": "public.timeout"})).await;
    assert!(timeout.contains("timeout after 30s"), "{timeout}");
    let full = client.refusal("execute", json!({"key": "public.full"})).await;
    assert!(full.contains("the cluster is full") && full.contains("add nodes"), "{full}");
}

#[tokio::test]
async fn a_tool_sees_the_session_and_may_change_it() {
    let world = World::user("alice").await;
    let client = world.modern();
    client.text("set_session", json!({"name": "project", "value": "before"})).await;
    assert_eq!(client.text("execute", json!({"key": "public.context"})).await, "before");
    assert_eq!(client.text("execute", json!({"key": "public.keep"})).await, "kept");
    assert_eq!(client.text("get_session", json!({"name": "project"})).await, "{\"id\":7}");
}

#[tokio::test]
async fn a_tool_that_keeps_values_for_nobody_makes_a_session() {
    let client = World::anonymous().await.modern();
    let result = client.call("execute", json!({"key": "public.keep"})).await;
    assert_eq!(text(&result), "kept");
    let note = result["content"][1]["text"].as_str().unwrap();
    let handle = note.split_whitespace().find(|word| word.starts_with("ses_")).unwrap().trim_end_matches('.');
    assert_eq!(client.text("get_session", json!({"name": "project", "session": handle})).await, "{\"id\":7}");
    let context = client.text("execute", json!({"key": "public.context", "session": handle})).await;
    assert_eq!(context, "{\"id\":7}");
}

#[tokio::test]
async fn the_same_idempotency_key_runs_once() {
    let world = World::user("alice").await;
    let client = world.modern();
    let meta = || Some(json!({"mcc.dev/idempotencyKey": "order-1"}));
    let call = |text: &'static str| json!({"key": "public.echo", "params": {"text": text}});
    let first = client.call_meta("execute", call("a"), meta()).await;
    let second = client.call_meta("execute", call("a"), meta()).await;
    assert_eq!(first, second);
    assert_eq!(world.executor.count(), 1);
    let other = client.call_meta("execute", call("b"), meta()).await;
    assert!(text(&other).contains("idempotency key was used"), "{other}");
    let elsewhere = World::user("bob").await.modern().call_meta("execute", call("b"), meta()).await;
    assert_eq!(text(&elsewhere), "b", "keys are the caller's own");
    let bad = client.call_meta("execute", call("a"), Some(json!({"mcc.dev/idempotencyKey": "é"}))).await;
    assert_eq!(bad["isError"], true);
}

#[tokio::test]
async fn the_idempotency_key_may_be_a_header() {
    let world = World::user("alice").await;
    let client = world.modern();
    let call = async |header: &str, meta: Option<Value>| {
        let params = json!({"name": "execute", "arguments": {"key": "academic.secret"}});
        let mut request = client.request(&client.message("tools/call", params, meta));
        request.headers_mut().insert("idempotency-key", header.parse().unwrap());
        let response = world.gateway.router().oneshot(request).await.unwrap();
        messages(response).await.pop().unwrap()["result"].clone()
    };
    let first = call("order-1", None).await;
    assert_eq!(first, call("order-1", None).await);
    assert_eq!(first, call("order-1", Some(json!({"mcc.dev/idempotencyKey": "order-1"}))).await);
    assert_ne!(first, call("order-2", None).await);
    for (header, meta) in [
        ("order-1", Some(json!({"mcc.dev/idempotencyKey": "order-2"}))),
        ("", None),
        ("k".repeat(129).as_str(), None),
    ] {
        let refused = call(header, meta).await;
        assert_eq!(refused["isError"], true, "{refused}");
        assert!(text(&refused).contains("Idempotency-Key"), "{refused}");
    }
    assert_eq!(world.executor.count(), 2);
}

#[tokio::test]
async fn concurrent_duplicates_join_and_outlive_each_other() {
    let world = World::user("alice").await;
    let client = world.modern();
    let meta = || Some(json!({"mcc.dev/idempotencyKey": "slow-1"}));
    let call = || {
        let client = client.clone();
        tokio::spawn(async move { client.call_meta("execute", json!({"key": "public.slow"}), meta()).await })
    };
    let (first, second) = (call(), call());
    eventually("it runs", || world.executor.count() == 1).await;
    first.abort();
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    world.executor.release.notify_one();
    assert_eq!(text(&second.await.unwrap()), "slept");
    assert_eq!((world.executor.count(), world.executor.cancelled.load(Ordering::SeqCst)), (1, 0));
}

#[tokio::test]
async fn a_call_that_did_not_run_may_be_repeated_with_its_key() {
    let world = World::user("alice").await;
    let meta = || Some(json!({"mcc.dev/idempotencyKey": "k"}));
    for runs in 1..=2 {
        world.modern().call_meta("execute", json!({"key": "public.full"}), meta()).await;
        assert_eq!(world.executor.count(), runs);
    }
}

#[tokio::test]
async fn progress_is_told_to_who_asks() {
    let world = World::with(DevAuthenticator::admin(), |config| {
        config.progress_after = std::time::Duration::from_millis(1);
        config.progress_interval = std::time::Duration::from_millis(5);
    })
    .await;
    for client in [world.modern(), world.legacy().await] {
        let params = json!({"name": "execute", "arguments": {"key": "public.slow"}});
        let message = client.message("tools/call", params, Some(json!({"progressToken": "p1"})));
        let mut events = Events::new(client.send(message).await);
        let mut last = -1.0;
        for _ in 0..3 {
            let progress = events.next().await.unwrap();
            assert_eq!(progress["method"], "notifications/progress", "{progress}");
            assert_eq!(progress["params"]["progressToken"], "p1");
            assert!(progress["params"]["message"].as_str().unwrap().starts_with("working"), "{progress}");
            let now = progress["params"]["progress"].as_f64().unwrap();
            assert!(now >= last);
            last = now;
        }
        world.executor.release.notify_one();
        while let Some(message) = events.next().await {
            if message.get("result").is_some() {
                assert_eq!(text(&message["result"]), "slept");
                break;
            }
        }
    }
}

#[tokio::test]
async fn closing_the_stream_kills_a_modern_call() {
    let world = World::admin().await;
    let client = world.modern();
    let call = tokio::spawn(async move { client.call("execute", json!({"key": "public.slow"})).await });
    eventually("it runs", || world.executor.count() == 1).await;
    call.abort();
    eventually("it is killed", || world.executor.cancelled.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn a_cancel_notification_kills_a_legacy_call() {
    let world = World::admin().await;
    let client = world.legacy().await;
    let params = json!({"name": "execute", "arguments": {"key": "public.slow"}});
    let response = client.send(client.message("tools/call", params, None)).await;
    eventually("it runs", || world.executor.count() == 1).await;
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    assert_eq!(client.send(cancel).await.status(), 202);
    eventually("it is killed", || world.executor.cancelled.load(Ordering::SeqCst) == 1).await;
    drop(response);
}

#[tokio::test]
async fn a_legacy_call_survives_the_loss_of_its_stream() {
    let world = World::admin().await;
    let client = world.legacy().await;
    let params = json!({"name": "execute", "arguments": {"key": "public.slow"}});
    drop(client.send(client.message("tools/call", params, None)).await);
    eventually("it runs", || world.executor.count() == 1).await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert_eq!(world.executor.cancelled.load(Ordering::SeqCst), 0);
    world.executor.release.notify_one();
}

#[tokio::test]
async fn plain_calls_are_answered_as_json_in_one_piece() {
    let world = World::admin().await;
    let client = world.modern();
    let params = json!({"name": "execute", "arguments": {"key": "public.echo", "params": {"text": "hi"}}});
    let response = client.send(client.message("tools/call", params, Some(json!({"progressToken": 1})))).await;
    assert_eq!(response.headers()["content-type"], "application/json");
    let all = messages(response).await;
    assert_eq!(text(&all[0]["result"]), "hi");
}
