//! An embedder that embeds each text once.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use mcc_catalog::seam::{EmbedError, EmbedKind, Embedder};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::Dataset;
use crate::document::dense_text;
use crate::fusion::Plan;

/// Name of the tensor in the file of vectors.
const VECTORS: &str = "vectors";
/// Key of the texts in that file's metadata.
const TEXTS: &str = "texts";

/// Embeds each text once: sets share tools, and a model takes some hundredths of a second a text.
///
/// For models that embed requests and documents alike.
pub struct Remembering {
    model: Arc<dyn Embedder>,
    /// Factor of the cosine, instead of the model's.
    pub weight: Option<f32>,
    /// Share of the best clause, instead of the model's.
    pub clause_share: Option<f32>,
    vectors: Mutex<HashMap<String, Vec<f32>>>,
}

impl Remembering {
    /// Remembers nothing yet.
    pub fn new(model: Arc<dyn Embedder>) -> Self {
        Self { model, weight: None, clause_share: None, vectors: Mutex::default() }
    }

    /// Embeds everything that measuring these sets needs, in one call: a model can use all cores.
    pub async fn learn(&self, sets: &[Dataset]) -> Result<(), EmbedError> {
        let tools = sets.iter().flat_map(|set| &set.tools).map(dense_text);
        let parts = sets.iter().flat_map(|set| &set.queries).flat_map(|query| Plan::new(&query.text).parts);
        let texts: Vec<String> = tools.chain(parts.map(|part| part.text)).collect();
        self.embed_unknown(&texts).await
    }

    /// Adds the vectors of a file that [`Self::write`] wrote for the same model.
    pub fn read(&self, path: &Path) -> io::Result<()> {
        let bytes = std::fs::read(path)?;
        let (_, metadata) = SafeTensors::read_metadata(&bytes).map_err(io::Error::other)?;
        let texts = metadata.metadata().as_ref().and_then(|metadata| metadata.get(TEXTS));
        let texts: Vec<String> = serde_json::from_str(texts.map_or("[]", String::as_str))?;
        let file = SafeTensors::deserialize(&bytes).map_err(io::Error::other)?;
        let vectors = file.tensor(VECTORS).map_err(io::Error::other)?;
        if vectors.dtype() != Dtype::F32 || vectors.shape() != [texts.len(), self.model.dimensions()] {
            return Err(io::Error::other(format!("{} holds other vectors", path.display())));
        }
        let numbers: Vec<f32> = vectors
            .data()
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect();
        let rows = numbers.chunks_exact(self.model.dimensions().max(1)).map(<[f32]>::to_vec);
        self.known().extend(texts.into_iter().zip(rows));
        Ok(())
    }

    /// Writes all vectors, as safetensors with the texts in the metadata.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let known = self.known();
        let texts: Vec<&String> = known.keys().collect();
        let data: Vec<u8> =
            texts.iter().flat_map(|text| &known[*text]).flat_map(|number| number.to_le_bytes()).collect();
        let shape = vec![texts.len(), self.model.dimensions()];
        let tensor = TensorView::new(Dtype::F32, shape, &data).map_err(io::Error::other)?;
        let metadata = HashMap::from([(TEXTS.to_owned(), serde_json::to_string(&texts)?)]);
        safetensors::serialize_to_file([(VECTORS, tensor)], Some(metadata), path).map_err(io::Error::other)
    }

    async fn embed_unknown(&self, texts: &[String]) -> Result<(), EmbedError> {
        let unknown: Vec<String> = {
            let known = self.known();
            let unknown = texts.iter().filter(|text| !known.contains_key(*text)).cloned();
            unknown.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
        };
        if !unknown.is_empty() {
            let vectors = self.model.embed(&unknown, EmbedKind::Document).await?;
            self.known().extend(unknown.into_iter().zip(vectors));
        }
        Ok(())
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<String, Vec<f32>>> {
        self.vectors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Embedder for Remembering {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn dimensions(&self) -> usize {
        self.model.dimensions()
    }

    fn weight(&self) -> f32 {
        self.weight.unwrap_or_else(|| self.model.weight())
    }

    fn clause_share(&self) -> f32 {
        self.clause_share.unwrap_or_else(|| self.model.clause_share())
    }

    fn multilingual(&self) -> bool {
        self.model.multilingual()
    }

    async fn embed(&self, texts: &[String], _kind: EmbedKind) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed_unknown(texts).await?;
        let known = self.known();
        Ok(texts.iter().filter_map(|text| known.get(text)).cloned().collect())
    }
}
