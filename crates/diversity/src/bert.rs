//! Embedders that are small BERT encoders: their files, tokens and network.

mod folder;
mod hub;
mod network;
mod tokens;

pub(crate) use hub::find;

use crate::EmbedError;
use network::Network;
use std::path::Path;
use tokens::Tokens;

/// Tokens of one pass through a network, filling included: what it holds in memory at a time is bounded by it.
const AT_ONCE: usize = 4096;

/// A network and its tokens.
pub(crate) struct Encoder {
    tokens: Tokens,
    network: Network,
}

impl Encoder {
    /// The encoder of a folder, and what tells it from others.
    pub(crate) fn read(folder: &Path) -> Result<(Self, String), EmbedError> {
        let folder::Parts { tokens, network, fingerprint } = folder::read(folder)?;
        Ok((Self { tokens, network }, fingerprint))
    }

    /// How many numbers a vector has.
    pub(crate) fn dimensions(&self) -> usize {
        self.network.dimensions()
    }

    /// Texts of about the same length go through the network together.
    pub(crate) fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let mut rows = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            rows.push((at, self.tokens.of(text)?));
        }
        rows.sort_by_key(|(_, row)| row.len());
        let mut vectors = vec![Vec::new(); texts.len()];
        let mut rest = rows.as_slice();
        while !rest.is_empty() {
            // The last of a group is its longest, and all are filled up to it.
            let fits = |count: &usize| rest.get(count - 1).is_some_and(|row| count * row.1.len() <= AT_ONCE);
            let (group, after) = rest.split_at((1..=rest.len()).take_while(fits).last().unwrap_or(1));
            let plain: Vec<&[u32]> = group.iter().map(|(_, row)| row.as_slice()).collect();
            let pooled = self.network.pooled(&plain).map_err(|error| format!("candle: {error}"))?;
            for ((at, _), vector) in group.iter().zip(pooled) {
                let unit =
                    unit(&vector).ok_or("the network gives no direction\nhint: its weights are damaged")?;
                if let Some(place) = vectors.get_mut(*at) {
                    *place = unit;
                }
            }
            rest = after;
        }
        Ok(vectors)
    }
}

/// This vector at length one, if it has a direction.
#[expect(clippy::cast_possible_truncation, reason = "vectors are single precision")]
fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    let sound = length.is_finite() && length > 0.0;
    sound.then(|| vector.iter().map(|number| (f64::from(*number) / length) as f32).collect())
}

#[cfg(test)]
mod tests {
    use super::unit;

    #[test]
    fn only_a_direction_becomes_a_unit_vector() {
        assert_eq!(unit(&[3.0, -4.0]), Some(vec![0.6, -0.8]));
        assert_eq!(unit(&[1e-30, 0.0]), Some(vec![1.0, 0.0]));
        for none in [&[0.0, 0.0][..], &[f32::NAN, 1.0], &[f32::INFINITY, 1.0], &[]] {
            assert_eq!(unit(none), None, "{none:?}");
        }
    }
}
