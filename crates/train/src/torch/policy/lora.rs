//! Low-rank adapters: small trained matrices beside frozen ones.

use tch::{Kind, Tensor};

use super::block::Block;
use super::options::Lora;
use super::parameter::Parameter;
use crate::LearnError;
use crate::torch::network::whole;

/// The adapters of one matrix, those of its parts below each other.
pub(super) struct Adapter {
    /// `A`: `[parts · rank, inputs]`.
    first: Parameter,
    /// `B`: `[outputs, rank]`.
    second: Parameter,
}

impl Adapter {
    /// New adapters of a layer's matrices, which change nothing yet: `A` uniform within 1 / √inputs, `B` nought.
    pub(super) fn all(base: &Block<Parameter>, lora: &Lora, layer: usize) -> Result<Vec<Self>, LearnError> {
        if lora.rank == 0 {
            return Err(LearnError::Weights("adapters of rank 0".to_owned()));
        }
        let mut random = fastrand::Rng::with_seed(lora.seed ^ (layer as u64).wrapping_mul(0x9e37_79b9));
        let mut all = Vec::new();
        for matrix in base.matrices() {
            let (rows, inputs) = matrix.value().size2()?;
            let bound = (inputs as f64).sqrt().recip();
            let named = |end: &str, size: &dyn Fn(i64) -> usize| -> Vec<(String, usize)> {
                let each = matrix.names().zip(matrix.rows());
                each.map(|(name, rows)| (adapted(name, end), size(rows))).collect()
            };
            let first_parts = named("lora_A", &|_| lora.rank);
            let second_parts = named("lora_B", &|rows| usize::try_from(rows).unwrap_or(0));
            let many = first_parts.len() * lora.rank * usize::try_from(inputs).unwrap_or(0);
            let start: Vec<f64> = (0..many).map(|_| bound * (2.0 * random.f64() - 1.0)).collect();
            let device = matrix.value().device();
            let first = Tensor::f_from_slice(&start)?.f_view([-1, inputs])?.f_to_kind(Kind::Float)?;
            let second = Tensor::f_zeros([rows, whole(lora.rank)], (Kind::Float, device))?;
            all.push(Self {
                first: Parameter::new(first_parts, first.f_to_device(device)?, Kind::Float, true)?,
                second: Parameter::new(second_parts, second, Kind::Float, true)?,
            });
        }
        Ok(all)
    }

    /// `A`, then `B`.
    pub(super) fn both(&self) -> [&Parameter; 2] {
        [&self.first, &self.second]
    }

    /// The same to change.
    pub(super) fn both_mut(&mut self) -> [&mut Parameter; 2] {
        [&mut self.first, &mut self.second]
    }
}

/// The name that PEFT gives an adapter of this weight.
fn adapted(weight: &str, end: &str) -> String {
    format!("base_model.model.{}.{end}.weight", weight.trim_end_matches(".weight"))
}

/// `W + alpha / rank · B·A` in single precision, part by part.
pub(super) fn merged(
    matrix: &Parameter,
    [first, second]: &[Tensor; 2],
    lora: &Lora,
) -> Result<Tensor, LearnError> {
    let rows = matrix.rows();
    let firsts = first.f_split(whole(lora.rank), 0)?;
    let seconds = second.f_split_with_sizes(rows.as_slice(), 0)?;
    let mut parts = Vec::new();
    for (first, second) in firsts.iter().zip(&seconds) {
        parts.push(second.f_mm(first)?);
    }
    let change = Tensor::f_cat(&parts, 0)?.f_mul_scalar(lora.alpha / lora.rank as f64)?;
    Ok(matrix.value().f_to_kind(Kind::Float)?.f_add(&change)?)
}
