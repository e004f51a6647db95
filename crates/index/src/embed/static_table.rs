//! The default embedder: a table of token vectors (model2vec format).

use std::borrow::Cow;
use std::path::Path;

use async_trait::async_trait;
use mcc_catalog::seam::{EmbedError, EmbedKind, Embedder};
use safetensors::{Dtype, SafeTensors};
use tokenizers::Tokenizer;

use super::normalize;

static MODEL: &[u8] = include_bytes!("../../../../models/static-en-256/model.safetensors");
static TOKENIZER: &[u8] = include_bytes!("../../../../models/static-en-256/tokenizer.json");

/// Texts embedded before other tasks get their turn.
const BATCH: usize = 64;
/// Tokens read of a text.
const MOST_TOKENS: usize = 512;

/// A table of token vectors: a text's vector is the weighted mean of its tokens' rows, normalised.
///
/// The compiled-in table knows English; its card is in `models/static-en-256`.
pub struct StaticEmbedder {
    id: String,
    tokenizer: Tokenizer,
    unknown: Option<u32>,
    /// The safetensors file; compiled in, or read from a folder.
    file: Cow<'static, [u8]>,
    /// Where in `file` the int8 rows begin.
    rows: usize,
    dimensions: usize,
    /// One factor a token.
    weights: Vec<f32>,
}

impl StaticEmbedder {
    /// The table compiled into the program, `static-en-256`.
    pub fn bundled() -> Result<Self, EmbedError> {
        Self::new("static-en-256", Cow::Borrowed(MODEL), TOKENIZER)
    }

    /// A table in a folder with `model.safetensors` (int8 `embeddings`, f32 `weights`) and `tokenizer.json`.
    pub fn from_folder(folder: &Path) -> Result<Self, EmbedError> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).map_err(|error| {
                load_error(&folder.display().to_string(), &format!("{}: {error}", path.display()))
            })
        };
        let name = folder
            .file_name()
            .map_or_else(|| "static".to_owned(), |name| name.to_string_lossy().into_owned());
        Self::new(&name, Cow::Owned(read("model.safetensors")?), &read("tokenizer.json")?)
    }

    fn new(name: &str, file: Cow<'static, [u8]>, tokenizer: &[u8]) -> Result<Self, EmbedError> {
        let fail = |reason: &str| load_error(name, reason);
        let tokenizer = Tokenizer::from_bytes(tokenizer).map_err(|error| fail(&error.to_string()))?;
        let tensors = SafeTensors::deserialize(&file).map_err(|error| fail(&error.to_string()))?;
        let table = tensors.tensor("embeddings").map_err(|error| fail(&error.to_string()))?;
        let &[tokens, dimensions] = table.shape() else {
            return Err(fail("embeddings must have two dimensions"));
        };
        if table.dtype() != Dtype::I8 {
            return Err(fail("embeddings must be int8"));
        }
        let weights = tensors.tensor("weights").map_err(|error| fail(&error.to_string()))?;
        if weights.dtype() != Dtype::F32 || weights.shape() != [tokens] {
            return Err(fail("weights must be one float32 a token"));
        }
        let weights = weights
            .data()
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect();
        let rows = table.data().as_ptr().addr() - file.as_ptr().addr();
        let unknown = tokenizer.token_to_id("[UNK]");
        Ok(Self { id: name.to_owned(), tokenizer, unknown, rows, dimensions, weights, file })
    }

    /// The vector of a text. Deterministic.
    pub fn vector(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let encoding =
            self.tokenizer.encode_fast(text, false).map_err(|error| EmbedError::Model(error.to_string()))?;
        let mut sum = vec![0.0_f32; self.dimensions];
        for &token in
            encoding.get_ids().iter().filter(|&&token| Some(token) != self.unknown).take(MOST_TOKENS)
        {
            let token = token as usize;
            let Some(&weight) = self.weights.get(token) else { continue };
            let start = self.rows + token * self.dimensions;
            for (sum, byte) in sum.iter_mut().zip(&self.file[start..start + self.dimensions]) {
                *sum += weight * f32::from(byte.cast_signed());
            }
        }
        // The mean's divisor is lost in the normalisation.
        normalize(&mut sum);
        Ok(sum)
    }
}

#[async_trait]
impl Embedder for StaticEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn weight(&self) -> f32 {
        8.0
    }

    async fn embed(&self, texts: &[String], _kind: EmbedKind) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            for text in batch {
                vectors.push(self.vector(text)?);
            }
            if texts.len() > BATCH {
                tokio::task::yield_now().await;
            }
        }
        Ok(vectors)
    }
}

fn load_error(model: &str, reason: &str) -> EmbedError {
    EmbedError::Load { model: model.to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let model = StaticEmbedder::bundled().unwrap();
        let (a, b) = (model.vector(a).unwrap(), model.vector(b).unwrap());
        a.iter().zip(&b).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn similar_texts_are_near() {
        assert!(
            cosine("weather forecast", "rain tomorrow") > cosine("weather forecast", "invoice the customer")
        );
        assert!((cosine("weather", "weather") - 1.0).abs() < 1e-5);
    }

    #[tokio::test]
    async fn a_text_without_known_tokens_gives_zeros() {
        let model = StaticEmbedder::bundled().unwrap();
        let vectors = model.embed(&[String::new(), "weather".to_owned()], EmbedKind::Query).await.unwrap();
        assert!(vectors[0].iter().all(|&x| x == 0.0));
        assert_eq!(vectors[1].len(), model.dimensions());
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = StaticEmbedder::from_folder(Path::new("no/such/model")).err().unwrap().to_string();
        assert!(error.contains("no/such/model/model.safetensors"), "{error}");
    }
}
