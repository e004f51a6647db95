//! Models that turn texts into vectors.

mod static_table;

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
