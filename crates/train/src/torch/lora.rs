//! Low-rank adapters of frozen projections.

use tch::{Kind, Tensor};

use super::as_i64;
use super::block::Block;
use super::options::Lora;
use super::parameter::Parameter;
use crate::LearnError;

/// The adapter of one projection; those of fused parts are concatenated.
pub(super) struct Adapter {
    /// `A`: `[parts · rank, inputs]`.
    lora_a: Parameter,
    /// `B`: `[outputs, rank]`.
    lora_b: Parameter,
}

impl Adapter {
    /// Initializes the adapters of a layer: `A` uniform within 1 / √inputs, `B` zero.
    pub(super) fn for_layer(
        base: &Block<Parameter>,
        lora: &Lora,
        layer: usize,
    ) -> Result<Vec<Self>, LearnError> {
        if lora.rank == 0 {
            return Err(LearnError::Weights("adapters of rank 0".to_owned()));
        }
        let mut rng = fastrand::Rng::with_seed(lora.seed ^ (layer as u64).wrapping_mul(0x9e37_79b9));
        let mut all = Vec::new();
        for projection in base.projections() {
            let (rows, inputs) = projection.value().size2()?;
            let bound = (inputs as f64).sqrt().recip();
            let named = |end: &str, size: &dyn Fn(i64) -> usize| -> Vec<(String, usize)> {
                let each = projection.names().zip(projection.rows());
                each.map(|(name, rows)| (adapter_name(name, end), size(rows))).collect()
            };
            let a_parts = named("lora_A", &|_| lora.rank);
            let b_parts = named("lora_B", &|rows| usize::try_from(rows).unwrap_or(0));
            let count = a_parts.len() * lora.rank * usize::try_from(inputs).unwrap_or(0);
            let initial: Vec<f64> = (0..count).map(|_| bound * (2.0 * rng.f64() - 1.0)).collect();
            let device = projection.value().device();
            let a = Tensor::f_from_slice(&initial)?.f_view([-1, inputs])?.f_to_kind(Kind::Float)?;
            let b = Tensor::f_zeros([rows, as_i64(lora.rank)], (Kind::Float, device))?;
            all.push(Self {
                lora_a: Parameter::new(a_parts, a.f_to_device(device)?, Kind::Float, true)?,
                lora_b: Parameter::new(b_parts, b, Kind::Float, true)?,
            });
        }
        Ok(all)
    }

    /// `A`, then `B`.
    pub(super) fn both(&self) -> [&Parameter; 2] {
        [&self.lora_a, &self.lora_b]
    }

    /// Mutable [`Adapter::both`].
    pub(super) fn both_mut(&mut self) -> [&mut Parameter; 2] {
        [&mut self.lora_a, &mut self.lora_b]
    }
}

/// The name of an adapter in PEFT files.
fn adapter_name(weight: &str, end: &str) -> String {
    format!("base_model.model.{}.{end}.weight", weight.trim_end_matches(".weight"))
}

/// `W + alpha / rank · B·A` in single precision, for each fused part.
pub(super) fn merged(
    projection: &Parameter,
    [a, b]: &[Tensor; 2],
    lora: &Lora,
) -> Result<Tensor, LearnError> {
    let rows = projection.rows();
    let a_parts = a.f_split(as_i64(lora.rank), 0)?;
    let b_parts = b.f_split_with_sizes(rows.as_slice(), 0)?;
    let mut parts = Vec::new();
    for (a, b) in a_parts.iter().zip(&b_parts) {
        parts.push(b.f_mm(a)?);
    }
    let change = Tensor::f_cat(&parts, 0)?.f_mul_scalar(lora.alpha / lora.rank as f64)?;
    Ok(projection.value().f_to_kind(Kind::Float)?.f_add(&change)?)
}
