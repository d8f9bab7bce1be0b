//! Helpers of several files.

/// An error as a program prints it.
pub(crate) fn with_hint(error: &impl aske_chat::Hint) -> String {
    format!("{error}\nhint: {}", error.hint().unwrap_or_default())
}

pub(crate) fn cosine(one: &[f32], other: &[f32]) -> f64 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(one, other)| f64::from(*one) * f64::from(*other)).sum()
}
