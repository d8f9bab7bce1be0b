//! Embedders that are small BERT encoders: files, tokenizer, network.

mod folder;
mod hub;
mod network;
mod tokens;

pub(crate) use hub::find;

use crate::EmbedError;
use network::Network;
use std::path::Path;
use tokens::TextTokenizer;

/// Tokens of a forward pass, padding included; bounds the memory of activations.
const MAX_BATCH_TOKENS: usize = 4096;

/// An encoder and its tokenizer.
pub(crate) struct Encoder {
    tokenizer: TextTokenizer,
    network: Network,
}

impl Encoder {
    /// Reads the encoder of a folder; also returns its fingerprint.
    pub(crate) fn read(folder: &Path) -> Result<(Self, String), EmbedError> {
        let folder::Files { tokenizer, network, fingerprint } = folder::read(folder)?;
        Ok((Self { tokenizer, network }, fingerprint))
    }

    /// The length of a vector.
    pub(crate) fn dimensions(&self) -> usize {
        self.network.dimensions()
    }

    /// Unit vectors of texts; texts of similar length are batched together.
    pub(crate) fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, String> {
        let mut rows = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            rows.push((at, self.tokenizer.encode(text)?));
        }
        rows.sort_by_key(|(_, row)| row.len());
        let mut vectors = vec![Vec::new(); texts.len()];
        let mut rest = rows.as_slice();
        while !rest.is_empty() {
            // The last row of a batch is its longest, and all are padded to it.
            let fits = |count: &usize| {
                rest.get(count - 1).is_some_and(|row| count * row.1.len() <= MAX_BATCH_TOKENS)
            };
            let (batch, after) = rest.split_at((1..=rest.len()).take_while(fits).last().unwrap_or(1));
            let tokens: Vec<&[u32]> = batch.iter().map(|(_, row)| row.as_slice()).collect();
            let pooled = self.network.forward(&tokens).map_err(|error| format!("candle: {error}"))?;
            for ((at, _), vector) in batch.iter().zip(pooled) {
                let unit = unit(&vector).ok_or("the embedding is zero or not finite")?;
                if let Some(slot) = vectors.get_mut(*at) {
                    *slot = unit;
                }
            }
            rest = after;
        }
        Ok(vectors)
    }
}

/// The vector scaled to length one; none if it is zero or not finite.
#[expect(clippy::cast_possible_truncation, reason = "vectors are single precision")]
fn unit(vector: &[f32]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
    let valid = length.is_finite() && length > 0.0;
    valid.then(|| vector.iter().map(|number| (f64::from(*number) / length) as f32).collect())
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
