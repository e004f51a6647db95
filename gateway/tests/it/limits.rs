//! Rate limits, places, cached results, bounded answers.

use mcc_gateway::auth::DevAuthenticator;
use serde_json::json;

use crate::identity::Tokens;
use crate::support::{Client, World, catalog_of, eventually, text};

#[tokio::test]
async fn a_rate_limit_says_when_to_come_back() {
    let world = World::user("alice").await;
    let client = world.modern();
    for _ in 0..2 {
        assert!(client.text("execute", json!({"key": "public.limited"})).await.starts_with("run"));
    }
    let refusal = client.refusal("execute", json!({"key": "public.limited"})).await;
    assert!(refusal.starts_with("Rate limit exceeded for public.limited — retry in "), "{refusal}");
    assert_eq!(world.executor.count(), 2);
    assert!(client.text("execute", json!({"key": "public.echo", "text": "a"})).await == "a");
}

#[tokio::test]
async fn a_call_that_is_not_valid_costs_nothing() {
    let client = World::user("alice").await.modern();
    for _ in 0..5 {
        client.refusal("execute", json!({"key": "public.limited", "params": {"zz": 1}})).await;
    }
    client.text("execute", json!({"key": "public.limited"})).await;
}

#[tokio::test]
async fn places_are_bounded_for_all_and_for_each() {
    let world = World::with(DevAuthenticator::admin(), |config| config.max_in_flight_per_caller = 1).await;
    let client = world.modern();
    let slow = tokio::spawn({
        let client = client.clone();
        async move { client.call("execute", json!({"key": "public.slow"})).await }
    });
    eventually("it runs", || world.executor.count() == 1).await;
    let refusal = client.refusal("execute", json!({"key": "public.echo", "text": "a"})).await;
    assert!(refusal.contains("you have 1 calls running"), "{refusal}");
    world.executor.release.notify_one();
    assert_eq!(text(&slow.await.unwrap()), "slept");
    assert_eq!(client.text("execute", json!({"key": "public.echo", "text": "a"})).await, "a");
}

#[tokio::test]
async fn results_are_kept_for_their_caller_or_for_all() {
    let world = World::user("alice").await;
    let client = world.modern();
    for (key, runs) in [("public.cached", 1), ("public.shared", 2)] {
        let first = client.text("execute", json!({"key": key})).await;
        assert_eq!(client.text("execute", json!({"key": key})).await, first);
        assert_eq!(world.executor.count(), runs);
    }
    // A session value that the tool sees makes another call of it.
    client.text("set_session", json!({"name": "project", "value": 1})).await;
    client.text("execute", json!({"key": "public.cached"})).await;
    assert_eq!(world.executor.count(), 3);
}

#[tokio::test]
async fn only_results_that_hold_are_kept() {
    let world = World::new(Tokens).await;
    let (alice, bob) = (world.modern().with_token("alice"), world.modern().with_token("bob"));
    let kept = |script: &str, scope: &str| {
        json!({"shell": {"script": script}, "cache": {"seconds": 60, "scope": scope},
               "params": [{"name": "text", "type": "str", "default": ""}]})
    };
    let publish = |script: &str| {
        let tools: Vec<(&str, &[&str], _)> = vec![
            ("fail", &["public"], kept("false", "Shared")),
            ("secret", &["academic"], kept(script, "Shared")),
        ];
        world.source.publish(catalog_of(tools, &json!({"groups": ["academic"]})));
    };
    let runs = async |client: &Client, key: &str, text: &str| {
        client.call("execute", json!({"key": key, "params": {"text": text}})).await;
        world.executor.count()
    };
    publish("true");
    assert_eq!([runs(&alice, "public.fail", "").await, runs(&alice, "public.fail", "").await], [1, 2]);
    assert_eq!(
        [runs(&alice, "academic.secret", "a").await, runs(&alice, "academic.secret", "a").await],
        [3, 3]
    );
    assert_eq!(runs(&alice, "academic.secret", "b").await, 4, "other parameters");
    let refusal = bob.refusal("execute", json!({"key": "academic.secret", "params": {"text": "a"}})).await;
    assert!(refusal.starts_with("Unauthorized"), "permission comes before what is kept: {refusal}");
    publish("true # changed");
    assert_eq!(runs(&alice, "academic.secret", "a").await, 5, "a changed tool");
}

#[tokio::test]
async fn big_outputs_are_cut_and_their_owner_pages_through_what_is_kept() {
    let world = World::with(DevAuthenticator::user("alice", Vec::new()), |c| c.answer_bytes = 4_000).await;
    let client = world.modern();
    let result = client.call("execute", json!({"key": "public.big"})).await;
    let answer = text(&result);
    assert!(answer.len() < 1_400, "{}", answer.len());
    assert!(answer.starts_with("0123456789") && answer.ends_with("0123456789"));
    let id = result["_meta"]["mcc.dev/execution"].as_str().unwrap();
    assert!(answer.contains(&format!("catalog://executions/{id}/output?offset=")), "{answer}");
    let mut all = String::new();
    let mut next = Some(format!("catalog://executions/{id}/output"));
    while let Some(uri) = next.take() {
        let page = client.rpc("resources/read", json!({"uri": uri})).await.unwrap();
        let page = page["contents"][0]["text"].as_str().unwrap();
        let (content, more) = page.split_once("\n[… go on at ").map_or((page, None), |(a, b)| (a, Some(b)));
        all.push_str(content);
        next = more.map(|more| more.split(' ').next().unwrap().to_owned());
    }
    assert_eq!(all, "0123456789".repeat(1_000));
    let uri = format!("catalog://executions/{id}/output");
    let stranger = World::user("bob").await.modern();
    assert!(stranger.rpc("resources/read", json!({"uri": uri})).await.is_err());
}

#[tokio::test]
async fn lists_too_long_for_an_answer_count_the_rest() {
    let world = World::with(DevAuthenticator::admin(), |config| config.answer_bytes = 200).await;
    let client = world.modern();
    for (tool, arguments) in
        [("describe_tools", json!({})), ("search", json!({"query": "public", "limit": 50}))]
    {
        let text = client.text(tool, arguments).await;
        assert!(text.contains("more tools left out"), "{text}");
        assert!(text.len() < 400, "{text}");
    }
}
