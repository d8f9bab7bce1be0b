//! Widens the attention heads of a checkpoint, for programs that do not support small ones.

use super::LlamaConfig;
use super::error::{BoxError, CheckpointError};
use half::{bf16, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

/// The contents of `config.json` and `model.safetensors` with attention heads that are `factor` times as wide and compute the
/// same.
///
/// `factor` is a power of four. The numbers of a head are spread over the new one, with zeros between them: rotary pair i
/// becomes pair i × `factor`, which turns at the same rate. Scores are divided by the square root of the width, so
/// queries are multiplied by the square root of `factor`, a power of two; that is exact in every number format.
pub fn widen_heads(
    config: &[u8],
    weights: &[u8],
    factor: usize,
) -> Result<(Vec<u8>, Vec<u8>), CheckpointError> {
    let in_config = |error: BoxError| CheckpointError::new("config.json", error);
    let shape: LlamaConfig = serde_json::from_slice(config).map_err(|error| in_config(error.into()))?;
    if factor == 0 || factor > 256 || !factor.is_power_of_two() || factor.trailing_zeros() % 2 == 1 {
        let message = format!("heads cannot be widened by {factor}, which is no power of four");
        return Err(in_config(message.into()));
    }
    let mut wider: serde_json::Value =
        serde_json::from_slice(config).map_err(|error| in_config(error.into()))?;
    wider["head_dim"] = (shape.head_dim * factor).into();
    let wider = format!("{wider:#}\n").into_bytes();
    Ok((
        wider,
        spread(&shape, weights, factor).map_err(|error| CheckpointError::new("model.safetensors", error))?,
    ))
}

/// The weights with the numbers of every head spread.
fn spread(config: &LlamaConfig, file: &[u8], factor: usize) -> Result<Vec<u8>, BoxError> {
    let invalid = |error| format!("not a valid safetensors file: {error}");
    let (_, header) = SafeTensors::read_metadata(file).map_err(invalid)?;
    let tensors = SafeTensors::deserialize(file).map_err(invalid)?;
    let heads = Heads { width: config.head_dim, factor };
    let mut spread = Vec::new();
    for (name, shape) in config.shapes() {
        let view = tensors.tensor(&name).map_err(|_| format!("no tensor `{name}`"))?;
        if view.shape() != shape {
            let found = view.shape();
            return Err(
                format!("tensor `{name}` has shape {found:?}; the configuration requires {shape:?}").into()
            );
        }
        let (shape, data) = match name.split('.').rev().nth(1) {
            Some("q_proj") => {
                let scaled = scale(&name, view.dtype(), view.data(), factor.isqrt())?;
                heads.rows(&shape, &scaled)
            }
            Some("k_proj" | "v_proj") => heads.rows(&shape, view.data()),
            Some("o_proj") => heads.columns(&shape, view.data()),
            _ => (shape, view.data().to_vec()),
        };
        spread.push((name, view.dtype(), shape, data));
    }
    let mut views = Vec::new();
    for (name, format, shape, data) in &spread {
        views.push((name, TensorView::new(*format, shape.clone(), data)?));
    }
    Ok(safetensors::serialize(views, header.metadata().clone())?)
}

/// Heads of this width that become wider by a factor.
struct Heads {
    width: usize,
    factor: usize,
}

impl Heads {
    /// The new place of a number, counted over all heads: the two halves of a head hold the two numbers of each rotary pair.
    fn place(&self, number: usize) -> usize {
        let half = self.width / 2;
        number / half * half * self.factor + number % half * self.factor
    }

    /// A matrix with one row for each number of the heads.
    fn rows(&self, shape: &[usize], data: &[u8]) -> (Vec<usize>, Vec<u8>) {
        let mut wide = vec![0; data.len() * self.factor];
        let row = data.len() / shape[0];
        for (at, bytes) in data.chunks_exact(row).enumerate() {
            wide[self.place(at) * row..][..row].copy_from_slice(bytes);
        }
        (vec![shape[0] * self.factor, shape[1]], wide)
    }

    /// A matrix with one column for each number of the heads.
    fn columns(&self, shape: &[usize], data: &[u8]) -> (Vec<usize>, Vec<u8>) {
        let mut wide = vec![0; data.len() * self.factor];
        let size = data.len() / (shape[0] * shape[1]);
        for (at, bytes) in data.chunks_exact(size).enumerate() {
            let (row, column) = (at / shape[1], at % shape[1]);
            let to = row * shape[1] * self.factor + self.place(column);
            wide[to * size..][..size].copy_from_slice(bytes);
        }
        (vec![shape[0], shape[1] * self.factor], wide)
    }
}

/// Numbers times a power of two.
fn scale(name: &str, format: Dtype, bytes: &[u8], by: usize) -> Result<Vec<u8>, BoxError> {
    let by = by as f32;
    let pairs = || bytes.as_chunks::<2>().0.iter();
    let (scaled, finite): (Vec<u8>, bool) = match format {
        Dtype::F32 => {
            let numbers = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes) * by);
            (numbers.clone().flat_map(f32::to_le_bytes).collect(), { numbers }.all(f32::is_finite))
        }
        Dtype::F16 => {
            let numbers = pairs().map(|bytes| f16::from_f32(f16::from_le_bytes(*bytes).to_f32() * by));
            (numbers.clone().flat_map(f16::to_le_bytes).collect(), { numbers }.all(f16::is_finite))
        }
        Dtype::BF16 => {
            let numbers = pairs().map(|bytes| bf16::from_f32(bf16::from_le_bytes(*bytes).to_f32() * by));
            (numbers.clone().flat_map(bf16::to_le_bytes).collect(), { numbers }.all(bf16::is_finite))
        }
        other => {
            return Err(format!("tensor `{name}` has type {other:?}; supported are F16, BF16 and F32").into());
        }
    };
    if finite {
        Ok(scaled)
    } else {
        let message = format!("tensor `{name}` contains values that are too large to be multiplied by {by}");
        Err(message.into())
    }
}
