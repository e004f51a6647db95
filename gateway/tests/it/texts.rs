//! The exact texts of DESIGN.md and DECISIONS 6 and 8, in both eras.

use mcc_gateway::auth::DevAuthenticator;
use serde_json::{Value, json};

use crate::support::{World, catalog};

#[tokio::test]
async fn search_answers_blocks_with_a_blank_line_between() {
    let world = World::anonymous().await;
    for client in [world.modern(), world.legacy().await] {
        let found = client.text("search", json!({"query": "greet echo"})).await;
        insta::allow_duplicates! {
            insta::assert_snapshot!(found, @r#"
            [8.02]
            ## public.echo (text:str) -> str
            `text` — Text to say.

            [7.02]
            ## public.greet (who:str, times:int=1) -> str
            `who` — Whom to greet.
            `times` — How often. Default 1, max 9.
            Greets somebody.
            "#);
        }
    }
}

#[tokio::test]
async fn search_reads_limit_and_min_score_and_says_when_nothing_matched() {
    let client = World::anonymous().await.modern();
    let one = client.text("search", json!({"query": "public", "limit": "1"})).await;
    assert_eq!(one.matches("## ").count(), 1);
    let few = client.text("search", json!({"query": "public", "min_score": 7})).await;
    assert_eq!(few.matches("## ").count(), 2);
    for arguments in [json!({"query": "zebra"}), json!({"query": "public", "min-score": 99})] {
        let nothing = client.text("search", arguments).await;
        assert!(nothing.starts_with("No tools matched"), "{nothing}");
    }
}

#[tokio::test]
async fn describe_tools_answers_key_and_description() {
    let world = World::user("bob").await;
    let all = world.modern().text("describe_tools", json!({})).await;
    assert!(all.starts_with("## lab.lonely\nGranted by key.\n\n## public.big\n\n## public.cached"), "{all}");
    assert!(!all.contains("academic"), "{all}");
    let some = world.modern().text("describe_tools", json!({"groups": ["lab"]})).await;
    assert_eq!(some, "## lab.lonely\nGranted by key.");
    let none = world.modern().text("describe_tools", json!({"groups": ["lab", "public"]})).await;
    assert_eq!(none, "No tools available.");
}

/// The public tools of the catalog.
const PUBLIC: [&str; 17] = [
    "echo",
    "greet",
    "structured",
    "fail",
    "slow",
    "big",
    "keep",
    "context",
    "timeout",
    "full",
    "limited",
    "cached",
    "shared",
    "named_params",
    "count",
    "hang",
    "noting",
];

#[tokio::test]
async fn whoami_has_three_forms() {
    let world = World::user("alice").await;
    world.source.publish(catalog(&PUBLIC));
    insta::assert_snapshot!(world.modern().text("whoami", json!({})).await, @r"
    username: alice
    email: alice@example.com
    groups: academic
    tools: academic.secret
    ");
    let stranger = World::user("carol").await;
    stranger.source.publish(catalog(&PUBLIC));
    insta::assert_snapshot!(stranger.legacy().await.text("whoami", json!({})).await, @r"
    username: carol
    email: (none)
    groups: (none)
    tools: (none)
    ");
    let nobody = World::anonymous().await.modern().text("whoami", json!({})).await;
    assert_eq!(nobody, "Not authenticated: no user is associated with this session.");
}

#[tokio::test]
async fn whoami_is_never_older_than_the_catalog() {
    let world = World::user("alice").await;
    assert!(world.modern().text("whoami", json!({})).await.contains("academic.secret"));
    world.source.publish(catalog(&["secret"]));
    assert!(!world.modern().text("whoami", json!({})).await.contains("academic.secret"));
}

#[tokio::test]
async fn a_long_whoami_counts_the_rest() {
    let world = World::with(DevAuthenticator::admin(), |config| config.whoami_tools = 2).await;
    let text = world.modern().text("whoami", json!({})).await;
    assert!(text.contains("tools: academic.secret, lab.lonely … and 17 more"), "{text}");
}

#[tokio::test]
async fn session_values_keep_their_type_and_reserved_names_are_identity() {
    let world = World::user("alice").await;
    for client in [world.modern(), world.legacy().await] {
        assert_eq!(client.text("get_session", json!({"name": "project"})).await, "null");
        for value in [json!("x"), json!(7), json!(null), json!([1, {"a": false}])] {
            let set = client.text("set_session", json!({"name": "project", "value": value})).await;
            assert_eq!(set, "Set 'project'.");
            let got = client.text("get_session", json!({"name": "project"})).await;
            assert_eq!(serde_json::from_str::<Value>(&got).unwrap(), value);
        }
        assert_eq!(client.text("get_session", json!({"name": "user"})).await, "\"alice\"");
        assert_eq!(client.text("get_session", json!({"name": "groups"})).await, "[\"academic\"]");
        for name in ["user", "email", "groups", "tools"] {
            let refusal = client.refusal("set_session", json!({"name": name, "value": 1})).await;
            assert_eq!(refusal, format!("Cannot set reserved identity key '{name}'."));
        }
        let refusal = client.refusal("set_session", json!({"name": "Bad-Name", "value": 1})).await;
        assert!(refusal.starts_with("Invalid name 'Bad-Name'"), "{refusal}");
        let refusal = client.refusal("set_session", json!({"name": "project"})).await;
        assert!(refusal.contains("'value' is missing"), "{refusal}");
        client.call("set_session", json!({"name": "project", "value": "gone", "session": "other"})).await;
    }
}

#[tokio::test]
async fn an_anonymous_modern_caller_is_given_a_handle() {
    let world = World::anonymous().await;
    let client = world.modern();
    let set = client.text("set_session", json!({"name": "project", "value": 1})).await;
    let (first, second) = set.split_once('\n').expect("two lines");
    assert_eq!(first, "Set 'project'.");
    let handle =
        second.split_whitespace().find(|word| word.starts_with("ses_")).unwrap().trim_end_matches('.');
    assert_eq!(client.text("get_session", json!({"name": "project", "session": handle})).await, "1");
    assert_eq!(client.text("get_session", json!({"name": "project"})).await, "null");
    let again = client.text("set_session", json!({"name": "x", "value": 2, "session": handle})).await;
    assert_eq!(again, "Set 'x'.");
    let refusal = client.refusal("get_session", json!({"name": "project", "session": "ses_0123"})).await;
    assert!(refusal.starts_with("Unknown session"), "{refusal}");
    // Useless to somebody else.
    let alice = World::user("alice").await.modern();
    assert_eq!(alice.text("get_session", json!({"name": "project", "session": handle})).await, "null");
}

#[tokio::test]
async fn an_unknown_and_a_forbidden_key_get_the_same_answer() {
    let client = World::anonymous().await.modern();
    let forbidden = client.refusal("execute", json!({"key": "academic.secret"})).await;
    let unknown = client.refusal("execute", json!({"key": "academic.secrex"})).await;
    assert_eq!(forbidden.replace("academic.secret", "KEY"), unknown.replace("academic.secrex", "KEY"));
    assert!(forbidden.starts_with("Unauthorized"), "{forbidden}");
    let near = client.refusal("execute", json!({"key": "public.ecko"})).await;
    insta::assert_snapshot!(near, @"Unauthorized: there is no tool 'public.ecko' that you may run. The nearest that you may run: public.echo, public.big, public.fail. Use search to find tools.");
}

#[tokio::test]
async fn a_prefix_renames_all_tools() {
    let world = World::with(DevAuthenticator::admin(), |config| config.tool_prefix = "mcc_".into()).await;
    let list = world.modern().rpc("tools/list", json!({})).await.unwrap();
    let names: Vec<&str> =
        list["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    let expected = ["search", "execute", "describe_tools", "whoami", "set_session", "get_session"];
    assert_eq!(names, expected.map(|name| format!("mcc_{name}")));
    assert!(world.modern().text("mcc_whoami", json!({})).await.starts_with("username: dev"));
    let error = world.modern().rpc("tools/call", json!({"name": "whoami"})).await.unwrap_err();
    assert_eq!(error["code"], -32602);
    assert!(list.to_string().contains("mcc_search answers"), "texts name the prefixed tools");
}

#[tokio::test]
async fn lists_are_private_and_live_for_a_while() {
    let world = World::admin().await;
    for method in
        ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "server/discover"]
    {
        let list = world.modern().rpc(method, json!({})).await.unwrap();
        assert_eq!(list["cacheScope"], "private", "{method}");
        assert_eq!(list["ttlMs"], 300_000, "{method}");
        assert_eq!(list["resultType"], "complete", "{method}");
    }
    let legacy = world.legacy().await.rpc("tools/list", json!({})).await.unwrap();
    assert_eq!(legacy["tools"].as_array().unwrap().len(), 6);
}
