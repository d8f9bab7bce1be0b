//! One tensor of a network: as it is learnt, as it is multiplied, and as files name it.

use tch::{Kind, Tensor};

use crate::LearnError;
use crate::torch::network::whole;

/// A tensor of the network; matrices that read the same input lie in one, row after row.
pub(super) struct Parameter {
    /// The names in files, and how many rows each has.
    parts: Vec<(String, i64)>,
    /// Single precision where it is trained, else as the file has it.
    value: Tensor,
    /// The same in the precision of products, where that is another.
    work: Option<Tensor>,
    trained: bool,
}

impl Parameter {
    /// A tensor of these parts; `kind` is what products are in.
    pub(super) fn new(
        parts: Vec<(String, usize)>,
        value: Tensor,
        kind: Kind,
        trained: bool,
    ) -> Result<Self, LearnError> {
        let parts = parts.into_iter().map(|(name, rows)| (name, whole(rows))).collect();
        let value = if trained { value.f_to_kind(Kind::Float)? } else { value };
        let work = if value.f_kind()? == kind { None } else { Some(value.f_to_kind(kind)?) };
        Ok(Self { parts, value, work, trained })
    }

    /// As products use it.
    pub(super) fn used(&self) -> &Tensor {
        self.work.as_ref().unwrap_or(&self.value)
    }

    /// As it is learnt.
    pub(super) fn value(&self) -> &Tensor {
        &self.value
    }

    /// The same numbers as a leaf of a new graph.
    pub(super) fn leaf(&self) -> Result<Tensor, LearnError> {
        Ok(self.used().f_detach()?.f_set_requires_grad(true)?)
    }

    /// As products use it, whatever is learnt later.
    pub(super) fn kept(&self) -> Result<Tensor, LearnError> {
        // A copy in another precision is replaced after a step and never changed.
        match &self.work {
            None if self.trained => Ok(self.value.f_detach_copy()?),
            _ => Ok(self.used().shallow_clone()),
        }
    }

    /// The value itself, whatever is learnt later.
    pub(super) fn kept_value(&self) -> Result<Tensor, LearnError> {
        if self.trained { Ok(self.value.f_detach_copy()?) } else { Ok(self.value.shallow_clone()) }
    }

    /// Changes the value in place.
    pub(super) fn change(
        &mut self,
        how: impl FnOnce(&mut Tensor) -> Result<(), LearnError>,
    ) -> Result<(), LearnError> {
        how(&mut self.value)?;
        if let Some(work) = &mut self.work {
            *work = self.value.f_to_kind(work.f_kind()?)?;
        }
        Ok(())
    }

    /// A tensor of this shape, part by part under the names in files.
    pub(super) fn named(&self, tensor: &Tensor) -> Result<Vec<(String, Tensor)>, LearnError> {
        let rows: Vec<i64> = self.parts.iter().map(|(_, rows)| *rows).collect();
        let parts = tensor.f_split_with_sizes(rows.as_slice(), 0)?;
        Ok(self.parts.iter().map(|(name, _)| name.clone()).zip(parts).collect())
    }

    /// A tensor of this shape from parts under those names, in single precision on the same device.
    pub(super) fn gathered(&self, find: impl Fn(&str) -> Option<Tensor>) -> Result<Tensor, LearnError> {
        let mut parts = Vec::new();
        let mut shape = self.value.size();
        for (name, rows) in &self.parts {
            let part = find(name).ok_or_else(|| LearnError::Weights(format!("{name} is missing")))?;
            shape[0] = *rows;
            if part.size() != shape {
                let told = part.size();
                return Err(LearnError::Weights(format!("{name} has shape {told:?}, should be {shape:?}")));
            }
            parts.push(part.f_to_kind(Kind::Float)?.f_to_device(self.value.device())?);
        }
        Ok(Tensor::f_cat(&parts, 0)?)
    }

    /// How many rows each part has.
    pub(super) fn rows(&self) -> Vec<i64> {
        self.parts.iter().map(|(_, rows)| *rows).collect()
    }

    /// The names in files.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|(name, _)| name.as_str())
    }

    /// Only matrices decay.
    pub(super) fn decays(&self) -> bool {
        self.value.dim() > 1
    }
}
