//! Keys and values of the running sequences, all layers in one tensor.

use tch::{Device, Kind, Tensor};

use super::as_i64;
use super::config::ModelConfig;
use crate::LearnError;

/// The capacity in positions grows in multiples of this.
const ROUND: usize = 64;

/// `[layers, 2, rows, positions, num_kv_heads, head_dim]`.
pub(super) struct KvCache {
    tensor: Tensor,
    /// Layers, 2, `num_kv_heads` and `head_dim`.
    dims: [i64; 4],
    rows: usize,
    positions: usize,
}

impl KvCache {
    pub(super) fn new(config: &ModelConfig, kind: Kind, device: Device) -> Result<Self, LearnError> {
        let dims = [as_i64(config.num_layers), 2, as_i64(config.num_kv_heads), as_i64(config.head_dim)];
        let tensor = zeros(dims, 0, 0, kind, device)?;
        Ok(Self { tensor, dims, rows: 0, positions: 0 })
    }

    /// Bytes per position of one row.
    pub(super) fn bytes_per_position(&self) -> usize {
        let elements: i64 = self.dims.iter().product();
        usize::try_from(elements).unwrap_or(usize::MAX).saturating_mul(self.tensor.kind().elt_size_in_bytes())
    }

    /// Ensures capacity for these rows and positions, doubling up to the given maximum.
    pub(super) fn reserve(
        &mut self,
        rows: usize,
        positions: usize,
        max: (usize, usize),
    ) -> Result<(), LearnError> {
        if rows <= self.rows && positions <= self.positions {
            return Ok(());
        }
        let grow = |need: usize, capacity: usize, max: usize| {
            if need <= capacity { capacity } else { need.max((2 * capacity).min(max)) }
        };
        let new_rows = grow(rows, self.rows, max.0);
        let new_positions = grow(positions, self.positions, max.1).next_multiple_of(ROUND);
        let tensor = zeros(self.dims, new_rows, new_positions, self.tensor.kind(), self.tensor.device())?;
        if self.rows > 0 {
            let (old_rows, old_positions) = (as_i64(self.rows), as_i64(self.positions));
            tensor.f_narrow(2, 0, old_rows)?.f_narrow(3, 0, old_positions)?.f_copy_(&self.tensor)?;
        }
        (self.tensor, self.rows, self.positions) = (tensor, new_rows, new_positions);
        Ok(())
    }

    /// Keys and values of a layer for the first rows and positions, each `[rows, positions, num_kv_heads, head_dim]`.
    pub(super) fn read(
        &self,
        layer: usize,
        rows: usize,
        positions: usize,
    ) -> Result<(Tensor, Tensor), LearnError> {
        let layer = self.tensor.f_select(0, as_i64(layer))?;
        let part = layer.f_narrow(1, 0, as_i64(rows))?.f_narrow(2, 0, as_i64(positions))?;
        Ok((part.f_select(0, 0)?, part.f_select(0, 1)?))
    }

    /// The number of positions to read for sequences of at most this length.
    pub(super) fn padded_len(&self, max_len: usize) -> usize {
        max_len.next_multiple_of(ROUND).min(self.positions)
    }

    /// Writes one position of each of the first rows: keys and values `[rows, num_kv_heads, head_dim]`.
    pub(super) fn write(
        &mut self,
        layer: usize,
        (rows, positions): (&Tensor, &Tensor),
        keys: &Tensor,
        values: &Tensor,
    ) -> Result<(), LearnError> {
        let mut layer = self.tensor.f_select(0, as_i64(layer))?;
        let both = Tensor::f_stack(&[keys, values], 0)?;
        let _ = layer.f_index_put_(&[None, Some(rows), Some(positions)], &both, false)?;
        Ok(())
    }

    /// Writes the prompts of some rows: keys and values `[rows, positions, num_kv_heads, head_dim]`.
    pub(super) fn write_prompts(
        &mut self,
        layer: usize,
        first: usize,
        keys: &Tensor,
        values: &Tensor,
    ) -> Result<(), LearnError> {
        let (rows, positions, ..) = keys.size4()?;
        let layer = self.tensor.f_select(0, as_i64(layer))?;
        let part = layer.f_narrow(1, as_i64(first), rows)?.f_narrow(2, 0, positions)?;
        part.f_select(0, 0)?.f_copy_(keys)?;
        Ok(part.f_select(0, 1)?.f_copy_(values)?)
    }

    /// Copies a row over another.
    pub(super) fn move_row(&mut self, from: usize, to: usize, positions: usize) -> Result<(), LearnError> {
        let row = |index: usize| -> Result<Tensor, LearnError> {
            Ok(self.tensor.f_select(2, as_i64(index))?.f_narrow(2, 0, as_i64(positions))?)
        };
        Ok(row(to)?.f_copy_(&row(from)?)?)
    }
}

fn zeros(
    dims: [i64; 4],
    rows: usize,
    positions: usize,
    kind: Kind,
    device: Device,
) -> Result<Tensor, LearnError> {
    let [layers, pair, num_kv_heads, head_dim] = dims;
    let shape = [layers, pair, as_i64(rows), as_i64(positions), num_kv_heads, head_dim];
    Ok(Tensor::f_zeros(shape, (kind, device))?)
}
