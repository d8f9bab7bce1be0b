//! Keys and values of the texts that are being written, all layers in one tensor.

use tch::{Device, Kind, Tensor};

use super::shape::Shape;
use crate::LearnError;
use crate::torch::network::whole;

/// Places are added in steps of this.
const ROUND: usize = 64;

/// `[layers, 2, rows, places, shared heads, head]`.
pub(super) struct Cache {
    all: Tensor,
    fixed: [i64; 4],
    rows: usize,
    places: usize,
}

impl Cache {
    pub(super) fn new(shape: &Shape, kind: Kind, device: Device) -> Result<Self, LearnError> {
        let fixed = [whole(shape.layers), 2, whole(shape.shared), whole(shape.head)];
        let all = blank(fixed, 0, 0, kind, device)?;
        Ok(Self { all, fixed, rows: 0, places: 0 })
    }

    /// Bytes for one place of one row.
    pub(super) fn bytes(&self) -> usize {
        let numbers: i64 = self.fixed.iter().product();
        usize::try_from(numbers).unwrap_or(usize::MAX).saturating_mul(self.all.kind().elt_size_in_bytes())
    }

    /// Makes room for so many rows and places, and some more up to the most that are said to come.
    pub(super) fn reserve(
        &mut self,
        rows: usize,
        places: usize,
        most: (usize, usize),
    ) -> Result<(), LearnError> {
        if rows <= self.rows && places <= self.places {
            return Ok(());
        }
        let grown = |need: usize, has: usize, most: usize| {
            if need <= has { has } else { need.max((2 * has).min(most)) }
        };
        let new_rows = grown(rows, self.rows, most.0);
        let new_places = grown(places, self.places, most.1).next_multiple_of(ROUND);
        let all = blank(self.fixed, new_rows, new_places, self.all.kind(), self.all.device())?;
        if self.rows > 0 {
            let (old_rows, old_places) = (whole(self.rows), whole(self.places));
            all.f_narrow(2, 0, old_rows)?.f_narrow(3, 0, old_places)?.f_copy_(&self.all)?;
        }
        (self.all, self.rows, self.places) = (all, new_rows, new_places);
        Ok(())
    }

    /// Keys and values of a layer for the first rows and places, each `[rows, places, shared, head]`.
    pub(super) fn read(
        &self,
        layer: usize,
        rows: usize,
        places: usize,
    ) -> Result<(Tensor, Tensor), LearnError> {
        let layer = self.all.f_select(0, whole(layer))?;
        let some = layer.f_narrow(1, 0, whole(rows))?.f_narrow(2, 0, whole(places))?;
        Ok((some.f_select(0, 0)?, some.f_select(0, 1)?))
    }

    /// Places to look at for texts of at most this length.
    pub(super) fn looked(&self, longest: usize) -> usize {
        longest.next_multiple_of(ROUND).min(self.places)
    }

    /// Writes one place of each of the first rows: keys and values `[rows, shared, head]`.
    pub(super) fn write(
        &mut self,
        layer: usize,
        at: (&Tensor, &Tensor),
        keys: &Tensor,
        values: &Tensor,
    ) -> Result<(), LearnError> {
        let mut layer = self.all.f_select(0, whole(layer))?;
        let both = Tensor::f_stack(&[keys, values], 0)?;
        let _ = layer.f_index_put_(&[None, Some(at.0), Some(at.1)], &both, false)?;
        Ok(())
    }

    /// Writes the beginnings of some rows: keys and values `[rows, places, shared, head]`.
    pub(super) fn begin(
        &mut self,
        layer: usize,
        first: usize,
        keys: &Tensor,
        values: &Tensor,
    ) -> Result<(), LearnError> {
        let (rows, places, ..) = keys.size4()?;
        let layer = self.all.f_select(0, whole(layer))?;
        let some = layer.f_narrow(1, whole(first), rows)?.f_narrow(2, 0, places)?;
        some.f_select(0, 0)?.f_copy_(keys)?;
        Ok(some.f_select(0, 1)?.f_copy_(values)?)
    }

    /// Copies a row over another.
    pub(super) fn move_row(&mut self, from: usize, to: usize, places: usize) -> Result<(), LearnError> {
        let row = |index: usize| -> Result<Tensor, LearnError> {
            Ok(self.all.f_select(2, whole(index))?.f_narrow(2, 0, whole(places))?)
        };
        Ok(row(to)?.f_copy_(&row(from)?)?)
    }
}

fn blank(
    fixed: [i64; 4],
    rows: usize,
    places: usize,
    kind: Kind,
    device: Device,
) -> Result<Tensor, LearnError> {
    let [layers, pair, shared, head] = fixed;
    Ok(Tensor::f_zeros([layers, pair, whole(rows), whole(places), shared, head], (kind, device))?)
}
