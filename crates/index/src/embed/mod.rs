//! Models that turn texts into vectors.

mod endpoint;
#[cfg(feature = "minilm")]
mod minilm;
mod static_table;

pub use endpoint::{EndpointEmbedder, EndpointSettings};
#[cfg(feature = "minilm")]
pub use minilm::MiniLmEmbedder;
pub use static_table::StaticEmbedder;

/// Scales a vector to length 1; zeros stay zeros.
fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        for x in vector {
            *x /= length;
        }
    }
}
