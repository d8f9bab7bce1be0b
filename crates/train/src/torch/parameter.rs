//! A parameter tensor: its trained value, its copy in compute precision, and its names in checkpoint files.

use tch::{Kind, Tensor};

use super::as_i64;
use crate::LearnError;

/// A parameter of the network; fused projections are concatenated along the first dimension.
pub(super) struct Parameter {
    /// Name in checkpoint files and number of rows of each part.
    parts: Vec<(String, i64)>,
    /// Single precision if trained, otherwise as in the file.
    value: Tensor,
    /// Copy in compute precision, if that differs.
    compute: Option<Tensor>,
}

impl Parameter {
    /// Creates a parameter; `kind` is the compute precision.
    pub(super) fn new(
        parts: Vec<(String, usize)>,
        value: Tensor,
        kind: Kind,
        trained: bool,
    ) -> Result<Self, LearnError> {
        let parts = parts.into_iter().map(|(name, rows)| (name, as_i64(rows))).collect();
        let value = if trained { value.f_to_kind(Kind::Float)? } else { value };
        let compute = if value.f_kind()? == kind { None } else { Some(value.f_to_kind(kind)?) };
        Ok(Self { parts, value, compute })
    }

    /// The value in compute precision.
    pub(super) fn compute(&self) -> &Tensor {
        self.compute.as_ref().unwrap_or(&self.value)
    }

    /// The trained value.
    pub(super) fn value(&self) -> &Tensor {
        &self.value
    }

    /// A new autograd leaf.
    pub(super) fn leaf(&self) -> Result<Tensor, LearnError> {
        Ok(self.compute().f_detach()?.f_set_requires_grad(true)?)
    }

    /// Updates the value in place.
    pub(super) fn update(
        &mut self,
        update: impl FnOnce(&mut Tensor) -> Result<(), LearnError>,
    ) -> Result<(), LearnError> {
        update(&mut self.value)?;
        if let Some(compute) = &mut self.compute {
            *compute = self.value.f_to_kind(compute.f_kind()?)?;
        }
        Ok(())
    }

    /// Splits a tensor of this shape into its parts, with their names.
    pub(super) fn split_named(&self, tensor: &Tensor) -> Result<Vec<(String, Tensor)>, LearnError> {
        let rows: Vec<i64> = self.parts.iter().map(|(_, rows)| *rows).collect();
        let parts = tensor.f_split_with_sizes(rows.as_slice(), 0)?;
        Ok(self.parts.iter().map(|(name, _)| name.clone()).zip(parts).collect())
    }

    /// Concatenates the parts found under their names, in single precision on the same device.
    pub(super) fn concat_named(&self, find: impl Fn(&str) -> Option<Tensor>) -> Result<Tensor, LearnError> {
        let mut parts = Vec::new();
        let mut shape = self.value.size();
        for (name, rows) in &self.parts {
            let part = find(name).ok_or_else(|| LearnError::Weights(format!("{name} is missing")))?;
            shape[0] = *rows;
            if part.size() != shape {
                let found = part.size();
                return Err(LearnError::Weights(format!("{name} has shape {found:?}, should be {shape:?}")));
            }
            parts.push(part.f_to_kind(Kind::Float)?.f_to_device(self.value.device())?);
        }
        Ok(Tensor::f_cat(&parts, 0)?)
    }

    /// Number of rows of each part.
    pub(super) fn rows(&self) -> Vec<i64> {
        self.parts.iter().map(|(_, rows)| *rows).collect()
    }

    /// Names in checkpoint files.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|(name, _)| name.as_str())
    }

    /// Weight decay applies to matrices only.
    pub(super) fn has_weight_decay(&self) -> bool {
        self.value.dim() > 1
    }
}
