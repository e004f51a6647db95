//! Missing parameters are asked for, in both eras.

use mcc_gateway::auth::DevAuthenticator;
use serde_json::{Value, json};

use crate::support::{Client, Events, World, text};

fn call() -> Value {
    json!({"name": "execute", "arguments": {"key": "public.greet", "params": {"times": 2}}})
}

async fn ask(client: &Client) -> Value {
    client.rpc("tools/call", call()).await.unwrap()
}

async fn repeat(client: &Client, params: Value, answer: Value, state: &Value) -> Result<Value, Value> {
    let mut params = params;
    params["inputResponses"] = json!({"params": answer});
    params["requestState"] = state.clone();
    client.rpc("tools/call", params).await
}

#[tokio::test]
async fn a_modern_client_repeats_the_call_with_the_answers() {
    let world = World::user("alice").await;
    let client = world.modern().declaring(json!({"elicitation": {}}));
    let asked = ask(&client).await;
    assert_eq!(asked["resultType"], "input_required");
    insta::assert_snapshot!(serde_json::to_string_pretty(&asked["inputRequests"]["params"]).unwrap());
    let accept = json!({"action": "accept", "content": {"who": "Ann", "times": 9, "other": 1}});
    let result = repeat(&client, call(), accept, &asked["requestState"]).await.unwrap();
    assert_eq!(text(&result), "hello Ann x2", "only what was asked for is taken");
}

#[tokio::test]
async fn declining_ends_the_call() {
    let client = World::user("alice").await.modern().declaring(json!({"elicitation": {"form": {}}}));
    let asked = ask(&client).await;
    for action in ["decline", "cancel"] {
        let result =
            repeat(&client, call(), json!({"action": action}), &asked["requestState"]).await.unwrap();
        assert_eq!(result["isError"], true);
        assert_eq!(text(&result), "Execution cancelled: required parameters not provided");
    }
}

#[tokio::test]
async fn a_state_is_bound_to_principal_tool_and_arguments() {
    let secret = |config: &mut mcc_gateway::GatewayConfig| config.secret = Some([7; 32]);
    let world = World::with(DevAuthenticator::user("alice", Vec::new()), secret).await;
    let client = world.modern().declaring(json!({"elicitation": {}}));
    let state = ask(&client).await["requestState"].clone();
    let accept = json!({"action": "accept", "content": {"who": "Ann"}});
    let mut other = call();
    other["arguments"]["params"]["times"] = json!(3);
    let error = repeat(&client, other, accept.clone(), &state).await.unwrap_err();
    assert_eq!(error["code"], -32602);
    let tampered = json!(format!("{}x", state.as_str().unwrap()));
    assert_eq!(repeat(&client, call(), accept.clone(), &tampered).await.unwrap_err()["code"], -32602);
    let bob = World::with(DevAuthenticator::user("bob", Vec::new()), secret).await;
    let bob = bob.modern().declaring(json!({"elicitation": {}}));
    assert_eq!(repeat(&bob, call(), accept.clone(), &state).await.unwrap_err()["code"], -32602);
    // Another gateway with the same secret takes it.
    let twin = World::with(DevAuthenticator::user("alice", Vec::new()), secret).await;
    let twin = twin.modern().declaring(json!({"elicitation": {}}));
    assert!(repeat(&twin, call(), accept, &state).await.is_ok());
}

#[tokio::test]
async fn clients_that_cannot_ask_get_the_validation_error() {
    let world = World::user("alice").await;
    let url_only = world.modern().declaring(json!({"elicitation": {"url": {}}}));
    for client in [world.modern(), url_only, world.legacy().await] {
        let result = ask(&client).await;
        assert!(text(&result).starts_with("Validation error for tool 'public.greet'"), "{result}");
    }
}

#[tokio::test]
async fn a_problem_that_asking_cannot_mend_is_reported_at_once() {
    let client = World::user("alice").await.modern().declaring(json!({"elicitation": {}}));
    let params = json!({"key": "public.greet", "params": {"times": 99}});
    let refusal = client.refusal("execute", params).await;
    assert!(refusal.contains("`times`") && refusal.contains("`who`"), "{refusal}");
}

#[tokio::test]
async fn a_legacy_client_is_asked_while_the_call_waits() {
    let world = World::user("alice").await;
    let client = world.legacy_with(json!({"elicitation": {}}), None).await;
    for (answer, expected) in [
        (json!({"action": "accept", "content": {"who": "Ann"}}), "hello Ann x2"),
        (json!({"action": "decline"}), "Execution cancelled: required parameters not provided"),
    ] {
        let mut events = Events::new(client.send(client.message("tools/call", call(), None)).await);
        let asked = events.next().await.unwrap();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert_eq!(asked["params"]["message"], "Tool 'public.greet' requires: who (str)");
        let reply = json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer});
        assert_eq!(client.send(reply).await.status(), 202);
        let result = events.next().await.unwrap();
        assert_eq!(text(&result["result"]), expected);
    }
}
