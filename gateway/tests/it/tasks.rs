//! The tasks extension.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mcc_gateway::auth::DevAuthenticator;
use serde_json::{Value, json};

use crate::support::{Client, World, eventually, text};

fn declared() -> Value {
    json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
}

async fn world() -> World {
    World::with(DevAuthenticator::user("alice", Vec::new()), |c| c.task_after = Duration::from_millis(20))
        .await
}

async fn begin(client: &Client) -> String {
    let task = client.call("execute", json!({"key": "public.slow"})).await;
    assert_eq!(task["resultType"], "task", "{task}");
    assert_eq!(task["status"], "working");
    task["taskId"].as_str().unwrap().to_owned()
}

async fn get(client: &Client, id: &str) -> Result<Value, Value> {
    client.rpc("tasks/get", json!({"taskId": id})).await
}

#[tokio::test]
async fn a_long_run_becomes_a_task_and_a_short_one_does_not() {
    let world = world().await;
    let client = world.modern().declaring(declared());
    assert_eq!(client.text("execute", json!({"key": "public.echo", "text": "a"})).await, "a");
    let id = begin(&client).await;
    assert!(id.starts_with("mcc-") && id.len() == 36, "{id}");
    let task = get(&client, &id).await.unwrap();
    assert_eq!((&task["status"], &task["statusMessage"]), (&json!("working"), &json!("working")));
    world.executor.release.notify_one();
    for _ in 0..2_000 {
        let task = get(&client, &id).await.unwrap();
        if task["status"] == "completed" {
            assert_eq!(text(&task["result"]), "slept");
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the task never completed");
}

#[tokio::test]
async fn a_task_is_its_owners_alone_and_they_can_end_it() {
    let world = world().await;
    let client = world.modern().declaring(declared());
    let id = begin(&client).await;
    let bob = World::user("bob").await.modern().declaring(declared());
    for method in ["tasks/get", "tasks/cancel"] {
        assert_eq!(bob.rpc(method, json!({"taskId": id})).await.unwrap_err()["code"], -32602);
    }
    assert_eq!(get(&client, "mcc-0").await.unwrap_err()["code"], -32602);
    client.rpc("tasks/cancel", json!({"taskId": id})).await.unwrap();
    eventually("it is killed", || world.executor.cancelled.load(Ordering::SeqCst) == 1).await;
    assert_eq!(get(&client, &id).await.unwrap()["status"], "cancelled");
}

#[tokio::test]
async fn clients_that_do_not_declare_tasks_wait() {
    let world = world().await;
    let client = world.modern();
    let call = tokio::spawn(async move { client.call("execute", json!({"key": "public.slow"})).await });
    eventually("it runs", || world.executor.count() == 1).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    world.executor.release.notify_one();
    assert_eq!(text(&call.await.unwrap()), "slept");
    let error = get(&world.modern(), "mcc-0").await.unwrap_err();
    assert_eq!(error["code"], -32021);
}
