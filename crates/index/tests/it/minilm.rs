//! What MiniLM reaches on the public sets stays reached.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use mcc_catalog::seam::{EmbedError, EmbedKind, Embedder, ToolIndex as _};
use mcc_index::evaluate::measure;
use mcc_index::{MemoryIndex, MiniLmEmbedder, model_folder};

use crate::support::sets;

/// The model, or none and a line that says so.
fn model(test: &str) -> Option<Arc<dyn Embedder>> {
    let folder =
        model_folder().unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/minilm"));
    if !folder.join("model.safetensors").is_file() {
        eprintln!("skipped: {test}: no MiniLM weights (cargo xtask model)");
        return None;
    }
    let model = MiniLmEmbedder::from_folder(&folder).unwrap();
    Some(Arc::new(Remembering { model, vectors: Mutex::default() }))
}

/// Embeds each text once: two sets have the same tools, and a text takes some hundredths of a second.
struct Remembering {
    model: MiniLmEmbedder,
    vectors: Mutex<HashMap<String, Vec<f32>>>,
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
        self.model.weight()
    }
    async fn embed(&self, texts: &[String], kind: EmbedKind) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            let known = self.vectors.lock().unwrap().get(text).cloned();
            let vector = match known {
                Some(vector) => vector,
                None => self.model.embed(std::slice::from_ref(text), kind).await?.remove(0),
            };
            self.vectors.lock().unwrap().insert(text.clone(), vector.clone());
            vectors.push(vector);
        }
        Ok(vectors)
    }
}

#[tokio::test]
async fn mean_ndcg_with_minilm() {
    let test = "mean_ndcg_with_minilm";
    let (Some(sets), Some(model)) = (sets(test), model(test)) else { return };
    let mut sum = 0.0;
    for set in &sets {
        let index = MemoryIndex::new(Arc::clone(&model));
        index.replace(set.tools.clone()).await.unwrap();
        let figures = measure(&index, set).await.unwrap();
        eprintln!("{:14} {figures:.3?}", set.name);
        sum += figures.ndcg_10;
    }
    let mean = sum / 4.0;
    eprintln!("mean nDCG@10 {mean:.4}");
    assert!(mean >= 0.655, "mean nDCG@10 {mean:.4}");
}

/// Like texts are near, and the vectors have the length of the model.
#[tokio::test]
async fn vectors_are_sensible() {
    let Some(model) = model("vectors_are_sensible") else { return };
    let texts =
        ["That is a happy person", "That is a happy dog", "Today is a sunny day", ""].map(str::to_owned);
    let vectors = model.embed(&texts, EmbedKind::Query).await.unwrap();
    let cosine = |a: usize, b: usize| vectors[a].iter().zip(&vectors[b]).map(|(a, b)| a * b).sum::<f32>();
    assert_eq!(vectors[0].len(), 384);
    assert!((cosine(0, 0) - 1.0).abs() < 1e-4);
    assert!(cosine(0, 1) > cosine(0, 2));
    assert!(vectors[3].iter().all(|&x| x == 0.0));
}
