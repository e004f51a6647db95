//! all-MiniLM-L6-v2: a small BERT, in this process (feature `minilm`).

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use candle_core::{DType, Device, Module as _, Tensor};
use candle_nn::{Embedding, LayerNorm, Linear, VarBuilder, embedding, layer_norm, linear};
use mcc_catalog::seam::{EmbedError, EmbedKind, Embedder};
use serde::Deserialize;
use tokenizers::{Tokenizer, TruncationParams};

use super::normalize;

/// Tokens read of a text, as the model was trained (`max_seq_length` of its card).
const MOST_TOKENS: usize = 256;

/// all-MiniLM-L6-v2 (Apache-2.0): mean of the last layer over a text's tokens, normalised. English.
pub struct MiniLmEmbedder {
    model: Arc<Model>,
    dimensions: usize,
}

/// The parts of `config.json` that the computation depends on.
#[derive(Debug, Deserialize)]
struct Config {
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    type_vocab_size: usize,
    layer_norm_eps: f64,
}

impl MiniLmEmbedder {
    /// The model in a folder with `config.json`, `tokenizer.json` and `model.safetensors`, as `cargo xtask model`
    /// makes it.
    pub fn from_folder(folder: &Path) -> Result<Self, EmbedError> {
        let model = Model::load(folder).map_err(|reason| EmbedError::Load {
            model: folder.display().to_string(),
            reason: format!("{reason} (`cargo xtask model` fetches the files)"),
        })?;
        Ok(Self { dimensions: model.dimensions, model: Arc::new(model) })
    }
}

#[async_trait]
impl Embedder for MiniLmEmbedder {
    fn id(&self) -> &'static str {
        "all-MiniLM-L6-v2"
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn weight(&self) -> f32 {
        8.0
    }

    async fn embed(&self, texts: &[String], _kind: EmbedKind) -> Result<Vec<Vec<f32>>, EmbedError> {
        let model = Arc::clone(&self.model);
        let texts = texts.to_vec();
        // Milliseconds a text.
        tokio::task::spawn_blocking(move || texts.iter().map(|text| model.vector(text)).collect())
            .await
            .map_err(|error| EmbedError::Model(error.to_string()))?
    }
}

/// BERT's encoder (Devlin et al. 2018), post-norm, without the pooler.
struct Model {
    tokenizer: Tokenizer,
    words: Embedding,
    positions: Embedding,
    kinds: Embedding,
    norm: LayerNorm,
    layers: Vec<Layer>,
    dimensions: usize,
}

struct Layer {
    heads: usize,
    query: Linear,
    key: Linear,
    value: Linear,
    attention_output: Linear,
    attention_norm: LayerNorm,
    intermediate: Linear,
    output: Linear,
    norm: LayerNorm,
}

impl Model {
    fn load(folder: &Path) -> Result<Self, String> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))
        };
        let config: Config =
            serde_json::from_slice(&read("config.json")?).map_err(|error| error.to_string())?;
        if config.num_attention_heads == 0 || !config.hidden_size.is_multiple_of(config.num_attention_heads) {
            return Err("hidden_size must be a multiple of num_attention_heads".to_owned());
        }
        let mut tokenizer =
            Tokenizer::from_bytes(read("tokenizer.json")?).map_err(|error| error.to_string())?;
        tokenizer.with_padding(None);
        let most = MOST_TOKENS.min(config.max_position_embeddings);
        tokenizer
            .with_truncation(Some(TruncationParams { max_length: most, ..TruncationParams::default() }))
            .map_err(|error| error.to_string())?;
        let weights =
            VarBuilder::from_buffered_safetensors(read("model.safetensors")?, DType::F32, &Device::Cpu)
                .map_err(|error| error.to_string())?;
        Self::assemble(tokenizer, &config, &weights).map_err(|error| error.to_string())
    }

    fn assemble(
        tokenizer: Tokenizer,
        config: &Config,
        weights: &VarBuilder<'_>,
    ) -> candle_core::Result<Self> {
        let size = config.hidden_size;
        let embeddings = weights.pp("embeddings");
        let layers = (0..config.num_hidden_layers)
            .map(|at| Layer::assemble(config, &weights.pp(format!("encoder.layer.{at}"))))
            .collect::<candle_core::Result<_>>()?;
        Ok(Self {
            tokenizer,
            words: embedding(config.vocab_size, size, embeddings.pp("word_embeddings"))?,
            positions: embedding(config.max_position_embeddings, size, embeddings.pp("position_embeddings"))?,
            kinds: embedding(config.type_vocab_size, size, embeddings.pp("token_type_embeddings"))?,
            norm: layer_norm(size, config.layer_norm_eps, embeddings.pp("LayerNorm"))?,
            layers,
            dimensions: size,
        })
    }

    /// The vector of a text; zeros for a text without a token.
    fn vector(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        if text.trim().is_empty() {
            return Ok(vec![0.0; self.dimensions]);
        }
        let encoding =
            self.tokenizer.encode_fast(text, true).map_err(|error| EmbedError::Model(error.to_string()))?;
        let mut vector =
            self.forward(encoding.get_ids()).map_err(|error| EmbedError::Model(error.to_string()))?;
        normalize(&mut vector);
        Ok(vector)
    }

    /// The mean over the tokens of the last layer.
    fn forward(&self, tokens: &[u32]) -> candle_core::Result<Vec<f32>> {
        let length = tokens.len();
        let ids = Tensor::new(tokens, &Device::Cpu)?;
        let positions = Tensor::arange(0, u32::try_from(length).unwrap_or(u32::MAX), &Device::Cpu)?;
        let kinds = Tensor::zeros(length, DType::U32, &Device::Cpu)?;
        let sum = ((self.words.forward(&ids)? + self.positions.forward(&positions)?)?
            + self.kinds.forward(&kinds)?)?;
        let mut hidden = self.norm.forward(&sum)?;
        for layer in &self.layers {
            hidden = layer.forward(&hidden)?;
        }
        hidden.mean(0)?.to_vec1()
    }
}

impl Layer {
    fn assemble(config: &Config, weights: &VarBuilder<'_>) -> candle_core::Result<Self> {
        let (size, inner) = (config.hidden_size, config.intermediate_size);
        let attention = weights.pp("attention");
        Ok(Self {
            heads: config.num_attention_heads,
            query: linear(size, size, attention.pp("self.query"))?,
            key: linear(size, size, attention.pp("self.key"))?,
            value: linear(size, size, attention.pp("self.value"))?,
            attention_output: linear(size, size, attention.pp("output.dense"))?,
            attention_norm: layer_norm(size, config.layer_norm_eps, attention.pp("output.LayerNorm"))?,
            intermediate: linear(size, inner, weights.pp("intermediate.dense"))?,
            output: linear(inner, size, weights.pp("output.dense"))?,
            norm: layer_norm(size, config.layer_norm_eps, weights.pp("output.LayerNorm"))?,
        })
    }

    /// `hidden` and the result: tokens × size.
    fn forward(&self, hidden: &Tensor) -> candle_core::Result<Tensor> {
        let attended = self.attention_output.forward(&self.attend(hidden)?)?;
        let hidden = self.attention_norm.forward(&(hidden + attended)?)?;
        let inner = self.intermediate.forward(&hidden)?.gelu_erf()?;
        let output = self.output.forward(&inner)?;
        self.norm.forward(&(hidden + output)?)
    }

    /// Scaled dot-product attention of every head.
    fn attend(&self, hidden: &Tensor) -> candle_core::Result<Tensor> {
        let (length, size) = hidden.dims2()?;
        let width = size / self.heads;
        let split =
            |tensor: Tensor| tensor.reshape((length, self.heads, width))?.transpose(0, 1)?.contiguous();
        let query = split(self.query.forward(hidden)?)?;
        let key = split(self.key.forward(hidden)?)?;
        let value = split(self.value.forward(hidden)?)?;
        #[expect(clippy::cast_precision_loss, reason = "a head is some dozens wide")]
        let scale = 1.0 / (width as f64).sqrt();
        let scores = (query.matmul(&key.transpose(1, 2)?.contiguous()?)? * scale)?;
        let attention = candle_nn::ops::softmax_last_dim(&scores)?;
        attention.matmul(&value)?.transpose(0, 1)?.contiguous()?.reshape((length, size))
    }
}
