//! What MiniLM reaches on the public sets stays reached.

use std::path::Path;
use std::sync::Arc;

use mcc_catalog::seam::{EmbedKind, Embedder, ToolIndex as _};
use mcc_index::evaluate::{Remembering, measure};
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
    Some(Arc::new(MiniLmEmbedder::from_folder(&folder).unwrap()))
}

#[tokio::test]
async fn mean_ndcg_with_minilm() {
    let test = "mean_ndcg_with_minilm";
    let (Some(sets), Some(model)) = (sets(test), model(test)) else { return };
    let model = Arc::new(Remembering::new(model));
    model.learn(&sets).await.unwrap();
    let mut sum = 0.0;
    for set in &sets {
        let index = MemoryIndex::new(Arc::clone(&model) as Arc<dyn Embedder>);
        index.replace(set.tools.clone()).await.unwrap();
        let figures = measure(&index, set).await.unwrap();
        eprintln!("{:14} {figures:.3?}", set.name);
        sum += figures.ndcg_10;
    }
    let mean = sum / 4.0;
    eprintln!("mean nDCG@10 {mean:.4}");
    assert!(mean >= 0.658, "mean nDCG@10 {mean:.4}");
}

/// A text's vector is the same alone and among others, of whatever lengths.
#[tokio::test]
async fn batches_change_nothing() {
    let Some(model) = model("batches_change_nothing") else { return };
    let mut texts: Vec<String> =
        (0..40_usize).map(|at| "read the mail of a colleague ".repeat(at % 7)).collect();
    texts.push("a very long text ".repeat(500));
    texts.push("天气".to_owned());
    let together = model.embed(&texts, EmbedKind::Document).await.unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        let alone = model.embed(std::slice::from_ref(text), EmbedKind::Query).await.unwrap().remove(0);
        let furthest = alone.iter().zip(vector).map(|(a, b)| (a - b).abs()).fold(0.0_f32, f32::max);
        assert!(alone.len() == vector.len() && furthest < 1e-5, "{text:?}: {furthest}");
    }
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
