//! With the real process executor behind it: what only the whole chain shows.

use serde_json::json;

use crate::support::{World, eventually, text};

#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_was_cut_can_be_read_to_its_end() {
    let world = World::real().await;
    let client = world.modern();
    let result = client.call("execute", json!({"key": "public.count"})).await;
    let answer = text(&result);
    let whole = (1..=200_000).map(|n| format!("{n}\n")).collect::<Vec<_>>().concat();
    assert!(answer.len() < 263_000 && whole.len() > 1_000_000, "{}", answer.len());
    assert!(answer.starts_with("1\n2\n3\n") && answer.ends_with("\n199999\n200000\n"));
    let id = result["_meta"]["mcc.dev/execution"].as_str().unwrap();
    let mut read = String::new();
    let mut next = Some(format!("catalog://executions/{id}/output?offset=0"));
    while let Some(uri) = next.take() {
        let page = client.rpc("resources/read", json!({"uri": uri})).await.unwrap();
        let page = page["contents"][0]["text"].as_str().unwrap();
        // A page that ends within a line is followed by a line break of its own.
        let (content, more) = match page.split_once("[… go on at ") {
            Some((content, more)) => (content, Some(more)),
            None => (page, None),
        };
        next = more.map(|more| more.split(' ').next().unwrap().to_owned());
        let end = next.as_ref().map(|uri| uri.rsplit_once('=').unwrap().1.parse::<usize>().unwrap());
        read.push_str(content);
        read.truncate(end.unwrap_or(read.len()));
    }
    assert!(read == whole, "{} of {} bytes", read.len(), whole.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_keeps_values_in_the_session() {
    let client = World::real().await.modern();
    assert_eq!(client.text("execute", json!({"key": "public.noting"})).await, "ok\n");
    assert_eq!(client.text("get_session", json!({"name": "project"})).await, "{\"id\":7}");
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_the_stream_kills_the_process() {
    let world = World::real().await;
    let client = world.modern();
    let file = std::env::temp_dir().join(format!("mcc-gateway-it-{}", std::process::id()));
    let params = json!({"key": "public.hang", "params": {"file": file}});
    let call = tokio::spawn(async move { client.call("execute", params).await });
    let pid = || std::fs::read_to_string(&file).ok().filter(|pid| pid.ends_with('\n'));
    eventually("it runs", || pid().is_some()).await;
    let process = format!("/proc/{}", pid().unwrap().trim());
    assert!(std::path::Path::new(&process).exists());
    call.abort();
    eventually("it is killed", || !std::path::Path::new(&process).exists()).await;
    std::fs::remove_file(&file).unwrap();
}
