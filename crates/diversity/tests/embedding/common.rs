//! What several files here need.

pub(crate) fn cosine(one: &[f32], other: &[f32]) -> f64 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
}
