//! An OpenAI-compatible embeddings endpoint: `POST /v1/embeddings`.

use std::time::Duration;

use async_trait::async_trait;
use mcc_catalog::seam::{EmbedError, EmbedKind, Embedder};
use reqwest::{Client, StatusCode, Url};
use serde::{Deserialize, Serialize};

use super::normalize;

/// First pause before a request is sent again; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Most bytes quoted of a server's error.
const QUOTED: usize = 300;

/// Where and how to ask for vectors.
#[derive(Clone)]
pub struct EndpointSettings {
    /// Full URL of the embeddings resource, for example `http://127.0.0.1:8080/v1/embeddings`.
    pub url: Url,
    /// Name of the model.
    pub model: String,
    /// Sent as `Authorization: Bearer`.
    pub api_key: Option<String>,
    /// Length of the model's vectors. An answer of another length is an error.
    pub dimensions: usize,
    /// Texts a request.
    pub batch: usize,
    /// Time for one request.
    pub timeout: Duration,
    /// How often a request is sent again after a failure that may pass (no connection, 429, 5xx).
    pub retries: u32,
    /// Put before requests (`query: ` for the e5 family).
    pub query_prefix: String,
    /// Put before tools (`passage: ` for the e5 family).
    pub document_prefix: String,
    /// Factor of the cosine in the fused score.
    pub weight: f32,
    /// Whether the model knows other languages than English.
    pub multilingual: bool,
}

impl EndpointSettings {
    /// The usual settings for a model at `url`.
    pub fn new(url: Url, model: impl Into<String>, dimensions: usize) -> Self {
        Self {
            url,
            model: model.into(),
            api_key: None,
            dimensions,
            batch: 64,
            timeout: Duration::from_secs(10),
            retries: 3,
            query_prefix: String::new(),
            document_prefix: String::new(),
            weight: 8.0,
            multilingual: true,
        }
    }
}

impl std::fmt::Debug for EndpointSettings {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EndpointSettings")
            .field("url", &self.url.as_str())
            .field("model", &self.model)
            .field("dimensions", &self.dimensions)
            .finish_non_exhaustive()
    }
}

/// Asks a server for vectors.
pub struct EndpointEmbedder {
    id: String,
    settings: EndpointSettings,
    client: Client,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Response {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

/// A failed request, and whether another try may help.
struct Failure {
    reason: String,
    passing: bool,
}

impl EndpointEmbedder {
    /// A client for these settings. Fails where the program hasn't installed a rustls provider.
    pub fn new(settings: EndpointSettings) -> Result<Self, EmbedError> {
        let load = |reason: String| EmbedError::Load { model: settings.model.clone(), reason };
        if settings.dimensions == 0 || settings.batch == 0 {
            return Err(load("dimensions and batch must be at least 1".to_owned()));
        }
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            return Err(load(
                "this program has not installed a TLS provider (rustls ring) at its start".to_owned(),
            ));
        }
        let client =
            Client::builder().timeout(settings.timeout).build().map_err(|error| load(error.to_string()))?;
        Ok(Self { id: format!("{}@{}", settings.model, settings.url), settings, client })
    }

    /// One request, sent again while that may help.
    async fn batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut pause = FIRST_PAUSE;
        let mut tries = 0;
        loop {
            match self.ask(texts).await {
                Ok(vectors) => return Ok(vectors),
                Err(failure) if failure.passing && tries < self.settings.retries => {
                    tracing::debug!(reason = failure.reason, "embedding server failed, trying again");
                    tries += 1;
                    tokio::time::sleep(pause).await;
                    pause *= 2;
                }
                Err(failure) => return Err(EmbedError::Server(failure.reason)),
            }
        }
    }

    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Failure> {
        let body = Request { model: &self.settings.model, input: texts, encoding_format: "float" };
        let mut request = self.client.post(self.settings.url.clone()).json(&body);
        if let Some(key) = &self.settings.api_key {
            request = request.bearer_auth(key);
        }
        // The URL may hold a secret: it isn't quoted.
        let failed =
            |error: reqwest::Error| Failure { reason: error.without_url().to_string(), passing: true };
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        if !status.is_success() {
            let mut text = response.text().await.unwrap_or_default();
            crate::document::truncate(&mut text, QUOTED);
            let passing = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
            return Err(Failure { reason: format!("status {status}: {text}"), passing });
        }
        let bytes = response.bytes().await.map_err(failed)?;
        let answer: Response = serde_json::from_slice(&bytes)
            .map_err(|error| Failure { reason: format!("unreadable answer: {error}"), passing: false })?;
        self.order(answer, texts.len()).map_err(|reason| Failure { reason, passing: false })
    }

    /// The vectors in the order of the texts, checked and normalised.
    fn order(&self, answer: Response, texts: usize) -> Result<Vec<Vec<f32>>, String> {
        let mut vectors: Vec<Option<Vec<f32>>> = vec![None; texts];
        for item in answer.data {
            let length = item.embedding.len();
            if length != self.settings.dimensions {
                let expected = self.settings.dimensions;
                return Err(format!(
                    "model {} gave a vector of {length} numbers instead of {expected}; set the dimensions to {length}",
                    self.settings.model
                ));
            }
            if item.embedding.iter().any(|x| !x.is_finite()) {
                return Err("a vector holds numbers that aren't finite".to_owned());
            }
            let Some(place) = vectors.get_mut(item.index) else {
                return Err(format!("index {} in an answer for {texts} texts", item.index));
            };
            let mut vector = item.embedding;
            normalize(&mut vector);
            *place = Some(vector);
        }
        vectors
            .into_iter()
            .collect::<Option<_>>()
            .ok_or_else(|| format!("fewer vectors than the {texts} texts"))
    }
}

#[async_trait]
impl Embedder for EndpointEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.settings.dimensions
    }

    fn weight(&self) -> f32 {
        self.settings.weight
    }

    fn multilingual(&self) -> bool {
        self.settings.multilingual
    }

    async fn embed(&self, texts: &[String], kind: EmbedKind) -> Result<Vec<Vec<f32>>, EmbedError> {
        let prefix = match kind {
            EmbedKind::Query => &self.settings.query_prefix,
            EmbedKind::Document => &self.settings.document_prefix,
        };
        let mut vectors = vec![vec![0.0; self.settings.dimensions]; texts.len()];
        // Servers refuse empty texts; their vector is zeros anyway.
        let asked: Vec<(usize, String)> = texts
            .iter()
            .enumerate()
            .filter(|(_, text)| !text.trim().is_empty())
            .map(|(at, text)| (at, format!("{prefix}{text}")))
            .collect();
        for batch in asked.chunks(self.settings.batch) {
            let batch_texts: Vec<String> = batch.iter().map(|(_, text)| text.clone()).collect();
            for ((at, _), vector) in batch.iter().zip(self.batch(&batch_texts).await?) {
                vectors[*at] = vector;
            }
        }
        Ok(vectors)
    }
}
