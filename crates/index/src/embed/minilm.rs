//! all-MiniLM-L6-v2: a small BERT, in this process (feature `minilm`).

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use candle_core::{DType, Device, Module as _, Tensor};
use candle_nn::{Embedding, LayerNorm, Linear, VarBuilder, embedding, layer_norm, linear};
use mcc_catalog::seam::{EmbedError, EmbedKind, Embedder};
use rayon::prelude::*;
use serde::Deserialize;
use tokenizers::{Tokenizer, TruncationParams};

use super::normalize;

/// Tokens read of a text, as the model was trained (`max_seq_length` of its card).
const MOST_TOKENS: usize = 256;
/// Tokens that go through the layers together, of one text or several: enough that the weights are read for many.
const BATCH_TOKENS: usize = 1024;

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

    /// From 8.5 to 10 it ranks alike; below, words outweigh what it knows.
    fn weight(&self) -> f32 {
        9.0
    }

    async fn embed(&self, texts: &[String], _kind: EmbedKind) -> Result<Vec<Vec<f32>>, EmbedError> {
        let model = Arc::clone(&self.model);
        let texts = texts.to_vec();
        // Milliseconds a text.
        tokio::task::spawn_blocking(move || model.vectors(&texts))
            .await
            .map_err(|error| EmbedError::Model(error.to_string()))?
            .map_err(EmbedError::Model)
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

    /// The vectors of texts; zeros for a blank text. Batches run on all cores.
    fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, String> {
        let tokens: Vec<Vec<u32>> =
            texts.par_iter().map(|text| self.tokens(text)).collect::<Result<_, _>>()?;
        let mut batches: Vec<Range<usize>> = Vec::new();
        let mut held = 0;
        for (at, tokens) in tokens.iter().enumerate() {
            held += tokens.len();
            match batches.last_mut() {
                Some(batch) if held <= BATCH_TOKENS => batch.end = at + 1,
                _ => {
                    held = tokens.len();
                    batches.push(at..at + 1);
                }
            }
        }
        let vectors: Vec<Vec<Vec<f32>>> = batches
            .into_par_iter()
            .map(|batch| self.forward(&tokens[batch]).map_err(|error| error.to_string()))
            .collect::<Result<_, _>>()?;
        Ok(vectors.concat())
    }

    /// `[CLS]`, the text's first tokens, `[SEP]`; nothing for a blank text.
    fn tokens(&self, text: &str) -> Result<Vec<u32>, String> {
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let encoding = self.tokenizer.encode_fast(text, true).map_err(|error| error.to_string())?;
        Ok(encoding.get_ids().to_vec())
    }

    /// For each text, the mean of the last layer over its tokens, normalised.
    fn forward(&self, texts: &[Vec<u32>]) -> candle_core::Result<Vec<Vec<f32>>> {
        let ids = texts.concat();
        if ids.is_empty() {
            return Ok(vec![vec![0.0; self.dimensions]; texts.len()]);
        }
        let positions: Vec<u32> = texts.iter().flat_map(|text| (0..).zip(text).map(|(at, _)| at)).collect();
        let kinds = Tensor::zeros(ids.len(), DType::U32, &Device::Cpu)?;
        let ids = Tensor::new(ids, &Device::Cpu)?;
        let positions = Tensor::new(positions, &Device::Cpu)?;
        let sum = ((self.words.forward(&ids)? + self.positions.forward(&positions)?)?
            + self.kinds.forward(&kinds)?)?;
        let mut hidden = self.norm.forward(&sum)?;
        let lengths: Vec<usize> = texts.iter().map(Vec::len).filter(|&length| length > 0).collect();
        for layer in &self.layers {
            hidden = layer.forward(&hidden, &lengths)?;
        }
        let mut start = 0;
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            let mut vector = vec![0.0; self.dimensions];
            if !text.is_empty() {
                vector = hidden.narrow(0, start, text.len())?.mean(0)?.to_vec1()?;
                normalize(&mut vector);
                start += text.len();
            }
            vectors.push(vector);
        }
        Ok(vectors)
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

    /// `hidden` and the result: tokens × size, the texts one after the other. Only attention tells them apart.
    fn forward(&self, hidden: &Tensor, lengths: &[usize]) -> candle_core::Result<Tensor> {
        let attended = self.attention_output.forward(&self.attend(hidden, lengths)?)?;
        let hidden = self.attention_norm.forward(&(hidden + attended)?)?;
        let inner = self.intermediate.forward(&hidden)?.gelu_erf()?;
        let output = self.output.forward(&inner)?;
        self.norm.forward(&(hidden + output)?)
    }

    /// Scaled dot-product attention of every head, within each text.
    fn attend(&self, hidden: &Tensor, lengths: &[usize]) -> candle_core::Result<Tensor> {
        let (query, key, value) =
            (self.query.forward(hidden)?, self.key.forward(hidden)?, self.value.forward(hidden)?);
        let mut start = 0;
        let mut attended = Vec::with_capacity(lengths.len());
        for &length in lengths {
            let of_text = |tensor: &Tensor| tensor.narrow(0, start, length);
            attended.push(self.attend_within(&of_text(&query)?, &of_text(&key)?, &of_text(&value)?)?);
            start += length;
        }
        Tensor::cat(&attended, 0)
    }

    fn attend_within(&self, query: &Tensor, key: &Tensor, value: &Tensor) -> candle_core::Result<Tensor> {
        let (length, size) = query.dims2()?;
        let width = size / self.heads;
        let split =
            |tensor: &Tensor| tensor.reshape((length, self.heads, width))?.transpose(0, 1)?.contiguous();
        let (query, key, value) = (split(query)?, split(key)?, split(value)?);
        #[expect(clippy::cast_precision_loss, reason = "a head is some dozens wide")]
        let scale = 1.0 / (width as f64).sqrt();
        let scores = (query.matmul(&key.transpose(1, 2)?.contiguous()?)? * scale)?;
        let attention = candle_nn::ops::softmax_last_dim(&scores)?;
        attention.matmul(&value)?.transpose(0, 1)?.contiguous()?.reshape((length, size))
    }
}
