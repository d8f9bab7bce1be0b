//! Causal attention of one text, forth and back, a block of queries at a time.
//!
//! Queries that share keys go through each product together. The shares are not kept: on the way back they are
//! computed again from the scores and the logarithm of each row's sum.

use aske_kernels::{Arch, Matrix};

use super::steps::{Place, Shares, Softmax, SoftmaxBack, transpose};

/// Queries in a block: later keys of a block are computed in vain, so it is small; products want it large.
const BLOCK: usize = 64;

/// The shape of attention: rows of queries, then keys, then values.
#[derive(Clone, Copy)]
pub(super) struct Attention {
    pub(super) arch: Arch,
    pub(super) heads: usize,
    pub(super) shared: usize,
    pub(super) wide: usize,
}

/// Room to work in.
#[derive(Default)]
pub(super) struct Desk {
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    scores: Vec<f32>,
    pulls: Vec<f32>,
    turned: Vec<f32>,
    mixed: Vec<f32>,
    mixed_back: Vec<f32>,
    keys_back: Vec<f32>,
    values_back: Vec<f32>,
    sums: Vec<f32>,
}

impl Attention {
    /// Numbers in a row of queries, keys and values.
    fn row(self) -> usize {
        (self.heads + 2 * self.shared) * self.wide
    }

    fn group(self) -> usize {
        self.heads / self.shared
    }

    fn place(self, first: usize, last: usize) -> Place {
        Place { first, block: last - first, keys: last, scale: (self.wide as f32).sqrt().recip() }
    }

    /// Copies one head's stretch of some rows.
    fn gather(self, rows: &[f32], width: usize, head: usize, out: &mut Vec<f32>) {
        for row in rows.chunks_exact(width) {
            out.extend_from_slice(&row[head * self.wide..][..self.wide]);
        }
    }

    /// The queries of all heads that share a key head, for some rows.
    fn gather_group(self, rows: &[f32], width: usize, shared: usize, out: &mut Vec<f32>) {
        out.clear();
        for head in shared * self.group()..(shared + 1) * self.group() {
            self.gather(rows, width, head, out);
        }
    }

    /// The other way round.
    fn scatter_group(self, from: &[f32], rows: &mut [f32], width: usize, shared: usize) {
        let mut from = from.chunks_exact(self.wide);
        for head in shared * self.group()..(shared + 1) * self.group() {
            for (row, from) in rows.chunks_exact_mut(width).zip(from.by_ref()) {
                row[head * self.wide..][..self.wide].copy_from_slice(from);
            }
        }
    }

    /// Mixes the values: `all` holds queries, keys and values of every token, `mixed` becomes the result, `sums` the
    /// logarithms that the way back needs.
    pub(super) fn forth(self, all: &[f32], mixed: &mut [f32], sums: &mut Vec<f32>, desk: &mut Desk) {
        let (row, width) = (self.row(), self.heads * self.wide);
        let length = all.len() / row;
        sums.clear();
        for shared in 0..self.shared {
            for first in (0..length).step_by(BLOCK) {
                let last = (first + BLOCK).min(length);
                let place = self.place(first, last);
                self.read(all, shared, first, last, desk);
                self.score(place, desk);
                self.arch.dispatch(Softmax { scores: &mut desk.scores, place, sums: &mut desk.sums });
                sums.extend_from_slice(&desk.sums);
                desk.mixed.resize(desk.queries.len(), 0.0);
                Matrix::pack_columns(self.wide, &desk.values).multiply(
                    self.arch,
                    &desk.scores,
                    &mut desk.mixed,
                );
                self.scatter_group(&desk.mixed, &mut mixed[first * width..last * width], width, shared);
            }
        }
    }

    /// Queries of a block, keys and values up to its end.
    fn read(self, all: &[f32], shared: usize, first: usize, last: usize, desk: &mut Desk) {
        let row = self.row();
        self.gather_group(&all[first * row..last * row], row, shared, &mut desk.queries);
        desk.keys.clear();
        self.gather(&all[..last * row], row, self.heads + shared, &mut desk.keys);
        desk.values.clear();
        self.gather(&all[..last * row], row, self.heads + self.shared + shared, &mut desk.values);
    }

    fn score(self, place: Place, desk: &mut Desk) {
        desk.scores.resize(desk.queries.len() / self.wide * place.keys, 0.0);
        Matrix::pack(self.wide, &[&desk.keys]).multiply(self.arch, &desk.queries, &mut desk.scores);
    }

    /// The derivative by queries, keys and values, from that by the mixed values.
    pub(super) fn back(
        self,
        all: &[f32],
        (mixed, sums): (&[f32], &[f32]),
        mixed_back: &[f32],
        all_back: &mut [f32],
        desk: &mut Desk,
    ) {
        let (row, width, arch) = (self.row(), self.heads * self.wide, self.arch);
        let length = all.len() / row;
        let mut sums = sums;
        for shared in 0..self.shared {
            for out in [&mut desk.keys_back, &mut desk.values_back] {
                out.clear();
                out.resize(length * self.wide, 0.0);
            }
            for first in (0..length).step_by(BLOCK) {
                let last = (first + BLOCK).min(length);
                let place = self.place(first, last);
                self.read(all, shared, first, last, desk);
                self.gather_group(&mixed[first * width..last * width], width, shared, &mut desk.mixed);
                self.gather_group(
                    &mixed_back[first * width..last * width],
                    width,
                    shared,
                    &mut desk.mixed_back,
                );
                self.score(place, desk);
                let (own, rest) = sums.split_at(desk.queries.len() / self.wide);
                sums = rest;
                arch.dispatch(Shares { scores: &mut desk.scores, place, sums: own });
                desk.pulls.resize(desk.scores.len(), 0.0);
                Matrix::pack(self.wide, &[&desk.values]).multiply(arch, &desk.mixed_back, &mut desk.pulls);
                arch.dispatch(SoftmaxBack {
                    shares: &desk.scores,
                    dy: &mut desk.pulls,
                    place,
                    mixed: &desk.mixed,
                    mixed_back: &desk.mixed_back,
                    wide: self.wide,
                });
                // Values: sharesᵀ·d mixed. Keys: pullsᵀ·queries. Queries: pulls·keys.
                transpose(&desk.scores, place.keys, &mut desk.turned);
                let values_back = &mut desk.values_back[..last * self.wide];
                Matrix::pack_columns(self.wide, &desk.mixed_back).multiply_add(
                    arch,
                    &desk.turned,
                    values_back,
                );
                transpose(&desk.pulls, place.keys, &mut desk.turned);
                let keys_back = &mut desk.keys_back[..last * self.wide];
                Matrix::pack_columns(self.wide, &desk.queries).multiply_add(arch, &desk.turned, keys_back);
                Matrix::pack_columns(self.wide, &desk.keys).multiply(arch, &desk.pulls, &mut desk.mixed);
                self.scatter_group(&desk.mixed, &mut all_back[first * row..last * row], row, shared);
            }
            let parts = [
                (self.heads + shared, &desk.keys_back),
                (self.heads + self.shared + shared, &desk.values_back),
            ];
            for (head, from) in parts {
                for (row, from) in all_back.chunks_exact_mut(row).zip(from.chunks_exact(self.wide)) {
                    row[head * self.wide..][..self.wide].copy_from_slice(from);
                }
            }
        }
    }
}
