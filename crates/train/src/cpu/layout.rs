//! Positions of the parameters in one vector: norm weights first, then matrices.
//!
//! One vector lets the optimizer work on everything at once; the part with weight decay is contiguous.

use aske_model::LlamaConfig;

use crate::{LearnError, Weight, Weights};

/// Where each parameter is in the vector.
#[derive(Clone, Debug)]
pub(super) struct ParameterLayout {
    /// Name, shape and offset, in checkpoint order.
    entries: Vec<(String, Vec<usize>, usize)>,
    /// Number of norm weights, which is also the offset of the first matrix.
    pub(super) norms: usize,
    /// Number of parameters.
    pub(super) len: usize,
}

impl ParameterLayout {
    pub(super) fn new(config: &LlamaConfig) -> Result<Self, LearnError> {
        config.check().map_err(LearnError::UnsupportedArchitecture)?;
        let shapes = config.shapes();
        let size = |shape: &[usize]| shape.iter().product::<usize>();
        let norms = shapes.iter().filter(|(_, shape)| shape.len() == 1).map(|(_, shape)| size(shape)).sum();
        let (mut next_norm, mut next_matrix) = (0, norms);
        let entries = shapes.into_iter().map(|(name, shape)| {
            let next = if shape.len() == 1 { &mut next_norm } else { &mut next_matrix };
            let offset = *next;
            *next += size(&shape);
            (name, shape, offset)
        });
        let entries = entries.collect();
        Ok(Self { entries, norms, len: next_matrix })
    }

    /// Copies the weights into one vector.
    pub(super) fn pack(&self, weights: &Weights) -> Vec<f32> {
        let mut parameters = vec![0.0; self.len];
        for (weight, (.., offset)) in weights.iter().zip(&self.entries) {
            parameters[*offset..offset + weight.data.len()].copy_from_slice(&weight.data);
        }
        parameters
    }

    /// The inverse of [`ParameterLayout::pack`].
    pub(super) fn unpack(&self, config: &LlamaConfig, parameters: &[f32]) -> Result<Weights, LearnError> {
        let all = self.entries.iter().map(|(name, shape, offset)| {
            let data = parameters[*offset..offset + shape.iter().product::<usize>()].to_vec();
            Weight { name: name.clone(), shape: shape.clone(), data }
        });
        Weights::new(config, all)
    }

    /// Name, shape and offset of each parameter, in checkpoint order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[usize], usize)> {
        self.entries.iter().map(|(name, shape, offset)| (name.as_str(), shape.as_slice(), *offset))
    }
}
