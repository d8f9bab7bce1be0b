//! All weights in one row of numbers: norms first, then matrices.
//!
//! One row lets an optimiser work on everything at once, and the part that decays is one stretch of it.

use aske_model::LlamaConfig;

use crate::{LearnError, Weight, Weights};

/// Where each weight lies in the row.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Name and shape in checkpoint order, and where each begins in the row.
    places: Vec<(String, Vec<usize>, usize)>,
    /// Where the matrices begin.
    pub(crate) norms: usize,
    /// Numbers in all.
    pub(crate) size: usize,
}

impl Layout {
    pub(crate) fn new(config: &LlamaConfig) -> Result<Self, LearnError> {
        if config.hidden_act != "silu" {
            return Err(LearnError::Network(format!("activation {}", config.hidden_act)));
        }
        let (heads, shared) = (config.num_attention_heads, config.num_key_value_heads);
        if shared == 0 || !heads.is_multiple_of(shared) || !config.head_dim.is_multiple_of(2) {
            let wide = config.head_dim;
            return Err(LearnError::Network(format!("{heads} heads of width {wide} over {shared}")));
        }
        let shapes = config.shapes();
        let size_of = |shape: &[usize]| shape.iter().product::<usize>();
        let norms =
            shapes.iter().filter(|(_, shape)| shape.len() == 1).map(|(_, shape)| size_of(shape)).sum();
        let (mut norm, mut matrix) = (0, norms);
        let places = shapes.into_iter().map(|(name, shape)| {
            let next = if shape.len() == 1 { &mut norm } else { &mut matrix };
            let place = *next;
            *next += size_of(&shape);
            (name, shape, place)
        });
        let places = places.collect();
        Ok(Self { places, norms, size: matrix })
    }

    /// The row that holds these weights.
    pub(crate) fn pack(&self, weights: &Weights) -> Vec<f32> {
        let mut row = vec![0.0; self.size];
        for (weight, (.., place)) in weights.iter().zip(&self.places) {
            row[*place..place + weight.data.len()].copy_from_slice(&weight.data);
        }
        row
    }

    /// The weights that a row holds.
    pub(crate) fn unpack(&self, config: &LlamaConfig, row: &[f32]) -> Result<Weights, LearnError> {
        let all = self.places.iter().map(|(name, shape, place)| {
            let data = row[*place..place + shape.iter().product::<usize>()].to_vec();
            Weight { name: name.clone(), shape: shape.clone(), data }
        });
        Weights::new(config, all)
    }

    /// Name, shape and place of each weight, in checkpoint order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[usize], usize)> {
        self.places.iter().map(|(name, shape, place)| (name.as_str(), shape.as_slice(), *place))
    }
}

/// Cosines and sines of the rotary positions, each `[longest, head_dim]`, both halves of a head alike.
///
/// Angles are single precision, as in transformers, which the checkpoints have to agree with.
#[expect(clippy::cast_possible_truncation, reason = "angles are single precision")]
#[cfg(feature = "torch")]
pub(crate) fn rotations(config: &LlamaConfig) -> (Vec<f32>, Vec<f32>) {
    let half = config.head_dim / 2;
    let speeds: Vec<f32> = (0..half)
        .map(|at| config.rope_theta.powf(2.0 * at as f64 / config.head_dim as f64).recip() as f32)
        .collect();
    let angles = (0..config.max_position_embeddings)
        .flat_map(|position| speeds.iter().chain(&speeds).map(move |speed| position as f32 * speed));
    angles.map(|angle| (angle.cos(), angle.sin())).unzip()
}
