//! The endpoint embedder against a server on this machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcc_catalog::seam::{EmbedError, EmbedKind, Embedder as _};
use mcc_index::{EndpointEmbedder, EndpointSettings};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Serves one answer a connection: `answer(number of the request, head, body)` gives status and body.
async fn serve(
    answer: impl Fn(usize, &str, Value) -> (u16, String) + Send + Sync + 'static,
) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/embeddings", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = Vec::new();
            let (head, body) = loop {
                let mut buffer = [0; 4096];
                let read = stream.read(&mut buffer).await.unwrap();
                bytes.extend_from_slice(&buffer[..read]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                if let Some((head, body)) = text.split_once("\r\n\r\n")
                    && let Ok(body) = serde_json::from_str::<Value>(body)
                {
                    break (head.to_owned(), body);
                }
                assert!(read > 0, "the request ended early");
            };
            let (status, body) = answer(counter.fetch_add(1, Ordering::SeqCst), &head, body);
            let answer = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    (url, count)
}

fn embedder(url: &str, change: impl FnOnce(&mut EndpointSettings)) -> EndpointEmbedder {
    // An error only says that another test was faster.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut settings = EndpointSettings::new(url.parse().unwrap(), "tiny", 2);
    settings.timeout = Duration::from_secs(5);
    change(&mut settings);
    EndpointEmbedder::new(settings).unwrap()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// Vectors whose second number is the length of the text, in reverse order.
fn lengths(body: &Value) -> (u16, String) {
    let input = body["input"].as_array().unwrap();
    let data: Vec<Value> = input
        .iter()
        .enumerate()
        .rev()
        .map(|(index, text)| json!({"index": index, "embedding": [0.0, text.as_str().unwrap().len()]}))
        .collect();
    (200, json!({"data": data}).to_string())
}

#[tokio::test]
async fn batches_order_prefixes_and_key() {
    let (url, count) = serve(|_, head, body| {
        assert!(head.starts_with("POST /v1/embeddings"), "{head}");
        assert!(head.to_lowercase().contains("authorization: bearer s3cret"), "{head}");
        assert_eq!(body["model"], "tiny");
        assert!(body["input"].as_array().unwrap().len() <= 2);
        assert!(body["input"][0].as_str().unwrap().starts_with("passage: "));
        let data: Vec<Value> = (0..body["input"].as_array().unwrap().len())
            .rev()
            .map(|index| json!({"index": index, "embedding": [if body["input"][index] == "passage: b" { 3.0 } else { 0.0 }, 4.0]}))
            .collect();
        (200, json!({"data": data}).to_string())
    })
    .await;
    let embedder = embedder(&url, |settings| {
        settings.batch = 2;
        settings.api_key = Some("s3cret".to_owned());
        settings.document_prefix = "passage: ".to_owned();
    });
    let vectors = embedder.embed(&texts(&["a", "b", " ", "c"]), EmbedKind::Document).await.unwrap();
    assert_eq!(vectors, [vec![0.0, 1.0], vec![0.6, 0.8], vec![0.0, 0.0], vec![0.0, 1.0]]);
    assert_eq!(count.load(Ordering::SeqCst), 2);
    assert!(embedder.multilingual());
}

#[tokio::test]
async fn failures_that_may_pass_are_tried_again() {
    let (url, count) =
        serve(|number, _, body| if number < 2 { (503, "busy".to_owned()) } else { lengths(&body) }).await;
    let vectors = embedder(&url, |_| {}).embed(&texts(&["abc"]), EmbedKind::Query).await.unwrap();
    assert_eq!(vectors, [vec![0.0, 1.0]]);
    assert_eq!(count.load(Ordering::SeqCst), 3);
}

async fn refusal(status: u16, body: Value, retries: u32) -> (String, usize) {
    let (url, count) = serve(move |_, _, _| (status, body.to_string())).await;
    let embedder = embedder(&url, |settings| settings.retries = retries);
    let error = embedder.embed(&texts(&["a", "b"]), EmbedKind::Query).await.unwrap_err();
    assert!(matches!(error, EmbedError::Server(_)), "{error:?}");
    (error.to_string(), count.load(Ordering::SeqCst))
}

#[tokio::test]
async fn wrong_answers_are_named_and_not_repeated() {
    let (error, count) = refusal(401, json!({"error": "no key"}), 3).await;
    assert!(error.contains("401") && error.contains("no key"), "{error}");
    assert_eq!(count, 1);
    let item = |index: usize, embedding: Value| json!({"index": index, "embedding": embedding});
    let (error, _) = refusal(200, json!({"data": [item(0, json!([1.0, 2.0, 3.0]))]}), 0).await;
    assert!(error.contains("3 numbers instead of 2"), "{error}");
    let (error, _) = refusal(200, json!({"data": [item(0, json!([1.0, 2.0]))]}), 0).await;
    assert!(error.contains("fewer vectors"), "{error}");
    let (error, _) = refusal(200, json!({"data": [item(7, json!([1.0, 2.0]))]}), 0).await;
    assert!(error.contains("index 7"), "{error}");
    let (error, _) = refusal(200, json!({"nonsense": 1}), 3).await;
    assert!(error.contains("unreadable answer"), "{error}");
}

#[tokio::test]
async fn no_server_and_a_slow_one() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1/embeddings", listener.local_addr().unwrap());
    // Accepts and never answers.
    let slow = embedder(&url, |settings| {
        settings.timeout = Duration::from_millis(100);
        settings.retries = 1;
    });
    assert!(slow.embed(&texts(&["a"]), EmbedKind::Query).await.is_err());
    drop(listener);
    let gone = embedder(&url, |settings| settings.retries = 0);
    let error = gone.embed(&texts(&["a"]), EmbedKind::Query).await.unwrap_err().to_string();
    assert!(!error.contains("/v1/embeddings"), "the URL may hold a secret: {error}");
}

#[test]
fn settings_that_make_no_sense_and_the_key_in_debug_output() {
    let mut settings = EndpointSettings::new("http://127.0.0.1:1/".parse().unwrap(), "tiny", 0);
    settings.api_key = Some("s3cret".to_owned());
    assert!(!format!("{settings:?}").contains("s3cret"));
    assert!(EndpointEmbedder::new(settings).is_err());
}
