//! Who calls: sessions bound to principals, what each may see.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use mcc_catalog::model::{Caller, Identity};
use mcc_catalog::seam::{AuthError, Authenticator, Credentials};
use mcc_crds::v1alpha1::SubjectKind;
use serde_json::json;

use crate::support::{World, catalog, catalog_of, eventually};

/// Takes the bearer token as the user's name; `bad` is wrong, `down` can't be checked.
pub struct Tokens;

#[async_trait]
impl Authenticator for Tokens {
    async fn authenticate(&self, credentials: &Credentials) -> Result<Option<Caller>, AuthError> {
        let Some(token) = &credentials.bearer else { return Ok(None) };
        match token.as_str() {
            "bad" => Err(AuthError::Invalid("no".into())),
            "down" => Err(AuthError::Unavailable("no".into())),
            name => Ok(Some(Caller::Authenticated(Arc::new(Identity {
                issuer: "test".into(),
                kind: SubjectKind::User,
                name: name.into(),
                namespace: None,
                email: None,
                provider_groups: Vec::new(),
                builtin_groups: if name == "root" { vec!["admin".into()] } else { Vec::new() },
            })))),
        }
    }
}

#[tokio::test]
async fn a_session_of_somebody_else_does_not_exist() {
    let world = World::new(Tokens).await;
    let alice = world.legacy_with(json!({}), Some("alice")).await;
    alice.text("set_session", json!({"name": "project", "value": "hers"})).await;
    let mut mallory = alice.clone().with_token("mallory");
    let params = json!({"name": "get_session", "arguments": {"name": "project"}});
    let refused = mallory.send(mallory.message("tools/call", params.clone(), None)).await;
    assert_eq!(refused.status(), 404);
    mallory.token = None;
    assert_eq!(mallory.send(mallory.message("tools/call", params, None)).await.status(), 404);
    for method in ["GET", "DELETE"] {
        let request = http::Request::builder()
            .method(method)
            .uri("/mcp")
            .header("host", "localhost")
            .header("accept", "text/event-stream")
            .header("authorization", "Bearer mallory")
            .header("mcp-session-id", alice.session.as_deref().unwrap())
            .body(axum::body::Body::empty())
            .unwrap();
        let response = tower::ServiceExt::oneshot(alice.router.clone(), request).await.unwrap();
        assert_eq!(response.status(), 404, "{method}");
    }
    assert_eq!(alice.text("get_session", json!({"name": "project"})).await, "\"hers\"");
}

#[tokio::test]
async fn the_calls_of_a_session_end_with_it() {
    let world = World::new(Tokens).await;
    let alice = world.legacy_with(json!({}), Some("alice")).await;
    let call = alice.clone();
    let call = tokio::spawn(async move { call.call("execute", json!({"key": "public.slow"})).await });
    eventually("it runs", || world.executor.count() == 1).await;
    let end = http::Request::delete("/mcp")
        .header("host", "localhost")
        .header("authorization", "Bearer alice")
        .header("mcp-session-id", alice.session.as_deref().unwrap())
        .body(axum::body::Body::empty())
        .unwrap();
    assert_eq!(tower::ServiceExt::oneshot(alice.router.clone(), end).await.unwrap().status(), 204);
    let began = std::time::Instant::now();
    eventually("it is killed", || world.executor.cancelled.load(Ordering::SeqCst) == 1).await;
    // rmcp by itself lets calls go on for five seconds.
    assert!(began.elapsed() < std::time::Duration::from_secs(4), "{:?}", began.elapsed());
    call.abort();
}

#[tokio::test]
async fn a_grant_ends_at_its_time() {
    let world = World::user("alice").await;
    let end = jiff::Timestamp::now() + std::time::Duration::from_secs(3);
    let alice = json!({"groups": ["academic"], "expiresAt": end.to_string()});
    world.source.publish(catalog_of(vec![("secret", &["academic"], json!({}))], &alice));
    let client = world.modern();
    let call = || client.call("execute", json!({"key": "academic.secret"}));
    while jiff::Timestamp::now() < end - std::time::Duration::from_secs(1) {
        assert_eq!(call().await["isError"], false);
    }
    eventually("the grant has ended", || jiff::Timestamp::now() > end + std::time::Duration::from_secs(1))
        .await;
    assert_eq!(call().await["isError"], true);
    assert_eq!(client.text("describe_tools", json!({})).await.matches("## ").count(), 0);
    assert!(client.text("whoami", json!({})).await.contains("tools: (none)"));
}

#[tokio::test]
async fn a_session_that_was_ended_stays_ended_and_leaves_nothing() {
    let world = World::new(Tokens).await;
    let alice = world.legacy_with(json!({}), Some("alice")).await;
    alice.text("set_session", json!({"name": "project", "value": 1})).await;
    let end = || {
        let request = http::Request::delete("/mcp")
            .header("host", "localhost")
            .header("authorization", "Bearer alice")
            .header("mcp-session-id", alice.session.as_deref().unwrap())
            .body(axum::body::Body::empty())
            .unwrap();
        tower::ServiceExt::oneshot(alice.router.clone(), request)
    };
    assert_eq!(end().await.unwrap().status(), 204);
    assert_eq!(end().await.unwrap().status(), 404);
    assert_eq!(alice.send(alice.message("ping", json!({}), None)).await.status(), 404);
    let session = alice.session.clone().unwrap();
    let modern = world.modern().with_token("alice");
    assert_eq!(modern.text("get_session", json!({"name": "project", "session": session})).await, "null");
}

#[tokio::test]
async fn a_session_id_that_a_modern_client_makes_up_is_ignored() {
    let world = World::new(Tokens).await;
    let alice = world.legacy_with(json!({}), Some("alice")).await;
    alice.text("set_session", json!({"name": "project", "value": "hers"})).await;
    for token in [Some("mallory"), None] {
        let mut client = world.modern();
        client.token = token.map(str::to_owned);
        client.session = alice.session.clone();
        assert_eq!(client.text("get_session", json!({"name": "project"})).await, "null");
    }
}

#[tokio::test]
async fn anonymous_sessions_do_not_see_each_other() {
    let world = World::anonymous().await;
    let (first, second) = (world.legacy().await, world.legacy().await);
    assert_eq!(first.text("set_session", json!({"name": "x", "value": 1})).await, "Set 'x'.");
    assert_eq!(second.text("get_session", json!({"name": "x"})).await, "null");
    let other = json!({"name": "x", "session": first.session});
    assert!(second.refusal("get_session", other).await.starts_with("Unknown session"));
}

#[tokio::test]
async fn credentials_that_fail_never_become_anonymous() {
    let world = World::new(Tokens).await;
    for (token, status) in [("bad", 401), ("down", 503)] {
        let client = world.modern().with_token(token);
        let response = client.send(client.message("tools/list", json!({}), None)).await;
        assert_eq!(response.status(), status);
        assert_eq!(response.headers().contains_key("www-authenticate"), status == 401);
    }
    let mut client = world.modern();
    client.token = None;
    assert!(client.text("whoami", json!({})).await.starts_with("Not authenticated"));
}

/// Every way to see a tool shows exactly what execute lets run.
#[tokio::test]
async fn what_is_seen_is_what_can_be_run() {
    let world = World::new(Tokens).await;
    // A stale index that forgets to filter.
    world.index.careless.store(true, Ordering::Relaxed);
    for without in [&[][..], &["secret", "echo"]] {
        let catalog = catalog(without);
        let keys: Vec<String> = catalog.tools.keys().cloned().collect();
        world.source.publish(catalog);
        for token in ["alice", "bob", "carol", "root"] {
            let client = world.modern().with_token(token);
            let mut runs = BTreeSet::new();
            for key in &keys {
                let result = client.call("execute", json!({"key": key, "params": {"zz": 1}})).await;
                if !crate::support::text(&result).starts_with("Unauthorized") {
                    runs.insert(key.clone());
                }
            }
            let heads = |text: String| -> BTreeSet<String> {
                let heads = text.lines().filter_map(|line| line.strip_prefix("## "));
                heads.filter_map(|head| head.split_whitespace().next()).map(str::to_owned).collect()
            };
            assert_eq!(heads(client.text("describe_tools", json!({})).await), runs, "{token}");
            let query = json!({"query": "public academic lab", "limit": 50});
            assert_eq!(heads(client.text("search", query).await), runs, "{token}");
            let resource = client.rpc("resources/read", json!({"uri": "catalog://tools"})).await.unwrap();
            assert_eq!(heads(resource["contents"][0]["text"].as_str().unwrap().to_owned()), runs, "{token}");
            let whoami = client.text("whoami", json!({})).await;
            let listed = whoami.lines().find_map(|line| line.strip_prefix("tools: ")).unwrap();
            assert_eq!(listed.split(", ").map(str::to_owned).collect::<BTreeSet<_>>(), runs, "{token}");
            let completion = client
                .rpc(
                    "completion/complete",
                    json!({"ref": {"type": "ref/prompt", "name": "explain_tool"},
                           "argument": {"name": "key", "value": ""}}),
                )
                .await
                .unwrap();
            let completed = completion["completion"]["values"].as_array().unwrap();
            let completed: BTreeSet<String> =
                completed.iter().map(|key| key.as_str().unwrap().to_owned()).collect();
            assert_eq!(completed, runs, "{token}");
        }
    }
}
