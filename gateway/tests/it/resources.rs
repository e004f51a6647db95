//! Resources, prompts and completion.

use serde_json::{Value, json};

use crate::support::{Client, World};

async fn read(client: &Client, uri: &str) -> Result<String, Value> {
    let result = client.rpc("resources/read", json!({"uri": uri})).await?;
    Ok(result["contents"][0]["text"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn resources_show_the_catalog_and_the_caller() {
    let client = World::user("alice").await.modern();
    let tools = read(&client, "catalog://tools").await.unwrap();
    assert!(
        tools.starts_with("## academic.secret () -> str\nOnly for scholars.\n\n## public.big"),
        "{tools}"
    );
    let tool = read(&client, "catalog://tools/public%2Egreet").await.unwrap();
    assert!(tool.starts_with("## public.greet (who:str, times:int=1) -> str"), "{tool}");
    let me: Value = serde_json::from_str(&read(&client, "user://me").await.unwrap()).unwrap();
    let expected =
        json!({"username": "alice", "email": "alice@example.com", "groups": ["academic"], "tools": []});
    assert_eq!(me, expected);
    let me = read(&World::anonymous().await.modern(), "user://me").await.unwrap();
    assert_eq!(me, r#"{"username":"anonymous","email":null,"groups":[],"tools":[]}"#);
}

#[tokio::test]
async fn what_is_not_there_and_what_is_not_yours_look_the_same() {
    let world = World::anonymous().await;
    for (client, code) in [(world.modern(), -32602), (world.legacy().await, -32002)] {
        for key in ["academic.secret", "academic.nothing"] {
            let error = read(&client, &format!("catalog://tools/{key}")).await.unwrap_err();
            assert_eq!(error["message"], format!("Tool '{key}' not found."));
            assert_eq!(error["code"], code);
            assert_eq!(error["data"]["uri"], format!("catalog://tools/{key}"));
        }
    }
    assert!(read(&world.modern(), "file:///etc/passwd").await.is_err());
}

#[tokio::test]
async fn prompts_say_of_a_tool_what_its_caller_may_know() {
    let client = World::user("alice").await.modern();
    let prompt = |name: &'static str, arguments: Value| {
        let client = client.clone();
        async move {
            let result = client.rpc("prompts/get", json!({"name": name, "arguments": arguments})).await?;
            Ok::<_, Value>(result["messages"][0]["content"]["text"].as_str().unwrap().to_owned())
        }
    };
    let text = prompt("find_and_run", json!({"task": "count whales"})).await.unwrap();
    assert!(text.contains("count whales") && text.contains("search"), "{text}");
    let text = prompt("explain_tool", json!({"key": "academic.secret"})).await.unwrap();
    assert!(text.contains("## academic.secret"), "{text}");
    let text = prompt("debug_error", json!({"key": "public.fail", "error": "[3, boom]"})).await.unwrap();
    assert!(text.contains("## public.fail") && text.contains("[3, boom]"), "{text}");
    for key in ["lab.lonely", "lab.nothing"] {
        let error = prompt("explain_tool", json!({"key": key})).await.unwrap_err();
        assert!(
            error["message"]
                .as_str()
                .unwrap()
                .starts_with(&format!("Unauthorized: there is no tool '{key}'"))
        );
    }
    assert_eq!(prompt("find_and_run", json!({})).await.unwrap_err()["code"], -32602);
    assert_eq!(prompt("nothing", json!({})).await.unwrap_err()["code"], -32602);
}

#[tokio::test]
async fn keys_are_completed_from_their_beginning_first() {
    let client = World::user("bob").await.modern();
    let complete = |reference: Value, name: &'static str, value: &'static str| {
        let client = client.clone();
        async move {
            let params = json!({"ref": reference, "argument": {"name": name, "value": value}});
            client.rpc("completion/complete", params).await.unwrap()["completion"].clone()
        }
    };
    let template = json!({"type": "ref/resource", "uri": "catalog://tools/{key}"});
    let completion = complete(template.clone(), "key", "L").await;
    let values: Vec<&str> =
        completion["values"].as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect();
    assert_eq!(values[0], "lab.lonely", "{values:?}");
    assert!(values.contains(&"public.fail"), "{values:?}");
    let prompt = json!({"type": "ref/prompt", "name": "debug_error"});
    assert_eq!(complete(prompt.clone(), "key", "secret").await["values"], json!([]));
    assert_eq!(complete(prompt, "error", "x").await["values"], json!([]));
}
