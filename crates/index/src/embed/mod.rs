//! Models that turn texts into vectors.

mod endpoint;
#[cfg(feature = "minilm")]
mod minilm;
mod static_table;

use mcc_catalog::seam::{EmbedKind, Embedder, IndexError};

use crate::fusion::Plan;

pub use endpoint::{EndpointEmbedder, EndpointSettings};
#[cfg(feature = "minilm")]
pub use minilm::MiniLmEmbedder;
pub use static_table::StaticEmbedder;

/// Embeds, and holds the embedder to its contract.
pub(crate) async fn checked(
    embedder: &dyn Embedder,
    texts: &[String],
    kind: EmbedKind,
) -> Result<Vec<Vec<f32>>, IndexError> {
    let vectors = embedder.embed(texts, kind).await?;
    let dimensions = embedder.dimensions();
    if vectors.len() != texts.len() || vectors.iter().any(|vector| vector.len() != dimensions) {
        return Err(IndexError::Refused(format!(
            "embedder {} gave {} vectors for {} texts, or vectors that don't have {dimensions} numbers",
            embedder.id(),
            vectors.len(),
            texts.len(),
        )));
    }
    Ok(vectors)
}

/// One vector for each part of a request; none where the embedder fails: words alone find less, and still most of what
/// is there.
pub(crate) async fn request(embedder: &dyn Embedder, plan: &Plan) -> Vec<Vec<f32>> {
    let texts: Vec<String> = plan.parts.iter().map(|part| part.text.clone()).collect();
    checked(embedder, &texts, EmbedKind::Query).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "a request is searched for by its words alone");
        Vec::new()
    })
}

/// Scales a vector to length 1; zeros stay zeros.
fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        for x in vector {
            *x /= length;
        }
    }
}
