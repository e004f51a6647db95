//! Unit vectors in 16-bit integers.
//!
//! A component is stored as `round(x · 8192)`. For unit vectors the integer dot product is at most 2²⁶ (Cauchy and
//! Schwarz), so it can't overflow, its error is some 10⁻⁴, and integer sums are the same whatever order the compiler's
//! vector instructions add in. Half the memory of floats, and one instruction multiplies and adds eight.

/// 8192: the components' scale.
const SCALE: f32 = 8192.0;

/// A vector as integers.
#[expect(clippy::cast_possible_truncation, reason = "clamped to the range of i16")]
pub(super) fn quantize(vector: &[f32]) -> Vec<i16> {
    vector.iter().map(|x| (x * SCALE).round().clamp(-SCALE, SCALE) as i16).collect()
}

/// A vector as [`quantize`] keeps it, in floats: an index that computes with these scores as the one in memory does. Their
/// dot product is a multiple of 2⁻²⁶ and at most 1, so that adding in another order changes it by some 10⁻⁷.
#[cfg(feature = "qdrant")]
pub(crate) fn rounded(vector: &[f32]) -> Vec<f32> {
    quantize(vector).into_iter().map(|x| f32::from(x) / SCALE).collect()
}

/// The dot product of two quantised vectors, as of the originals.
#[inline]
pub(super) fn dot(a: &[i16], b: &[i16]) -> f32 {
    // This plain form is what the compiler turns into multiply-adds of pairs; sums in lanes of our own took four times as
    // long.
    let sum: i32 = a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
    #[expect(clippy::cast_precision_loss, reason = "2^26 needs 26 bits of 24: an error of 2^-24 relative")]
    let sum = sum as f32;
    sum / (SCALE * SCALE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn close_to_floats(a in prop::collection::vec(-1.0_f32..1.0, 256), b in prop::collection::vec(-1.0_f32..1.0, 256)) {
            let unit = |v: Vec<f32>| { let l = v.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6); v.into_iter().map(|x| x / l).collect::<Vec<_>>() };
            let (a, b) = (unit(a), unit(b));
            let exact: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            prop_assert!((dot(&quantize(&a), &quantize(&b)) - exact).abs() < 1e-3);
        }
    }

    #[test]
    fn no_overflow_at_the_ends() {
        let mut one = vec![0.0; 250];
        one[3] = 1.0;
        assert!((dot(&quantize(&one), &quantize(&one)) - 1.0).abs() < 1e-6);
        let even = vec![1.0 / 16.0; 256];
        assert!((dot(&quantize(&even), &quantize(&even)) - 1.0).abs() < 1e-6);
    }
}
