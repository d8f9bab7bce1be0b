//! Causal attention over one sequence, forward and backward, one block of queries at a time.
//!
//! Query heads that share a key-value head go through each product together. Attention probabilities are not saved; the
//! backward pass recomputes them from the scores and the log-sum-exp of each row, as in FlashAttention.

use aske_kernels::{Arch, PackedMatrix};

use super::kernels::{AttentionProbs, BlockMask, Softmax, SoftmaxBackward, transpose};

/// Queries per block. Masked scores within a block are wasted work, so it is small; matrix products favour large ones.
const BLOCK: usize = 64;

/// The shape of attention. Each row holds queries, then keys, then values.
#[derive(Clone, Copy)]
pub(super) struct Attention {
    pub(super) arch: Arch,
    pub(super) num_heads: usize,
    pub(super) num_kv_heads: usize,
    pub(super) head_dim: usize,
}

/// Buffers, reused from call to call.
#[derive(Default)]
pub(super) struct AttentionWorkspace {
    queries: Vec<f32>,
    keys: Vec<f32>,
    values: Vec<f32>,
    scores: Vec<f32>,
    scores_grad: Vec<f32>,
    transposed: Vec<f32>,
    output: Vec<f32>,
    output_grad: Vec<f32>,
    keys_grad: Vec<f32>,
    values_grad: Vec<f32>,
    logsumexp: Vec<f32>,
}

impl Attention {
    /// Size of a row of queries, keys and values.
    fn qkv_size(self) -> usize {
        (self.num_heads + 2 * self.num_kv_heads) * self.head_dim
    }

    /// Query heads per key-value head.
    fn group_size(self) -> usize {
        self.num_heads / self.num_kv_heads
    }

    fn mask(self, first: usize, last: usize) -> BlockMask {
        BlockMask { first, block: last - first, keys: last, scale: (self.head_dim as f32).sqrt().recip() }
    }

    /// Copies one head of some rows.
    fn gather(self, rows: &[f32], width: usize, head: usize, out: &mut Vec<f32>) {
        for row in rows.chunks_exact(width) {
            out.extend_from_slice(&row[head * self.head_dim..][..self.head_dim]);
        }
    }

    /// Copies the query heads of a key-value head of some rows.
    fn gather_group(self, rows: &[f32], width: usize, kv_head: usize, out: &mut Vec<f32>) {
        out.clear();
        for head in kv_head * self.group_size()..(kv_head + 1) * self.group_size() {
            self.gather(rows, width, head, out);
        }
    }

    /// The inverse of [`Attention::gather_group`].
    fn scatter_group(self, from: &[f32], rows: &mut [f32], width: usize, kv_head: usize) {
        let mut from = from.chunks_exact(self.head_dim);
        for head in kv_head * self.group_size()..(kv_head + 1) * self.group_size() {
            for (row, from) in rows.chunks_exact_mut(width).zip(from.by_ref()) {
                row[head * self.head_dim..][..self.head_dim].copy_from_slice(from);
            }
        }
    }

    /// Computes the attention output and the log-sum-exp of each row of scores.
    pub(super) fn forward(
        self,
        qkv: &[f32],
        output: &mut [f32],
        logsumexp: &mut Vec<f32>,
        work: &mut AttentionWorkspace,
    ) {
        let (row, width) = (self.qkv_size(), self.num_heads * self.head_dim);
        let length = qkv.len() / row;
        logsumexp.clear();
        for kv_head in 0..self.num_kv_heads {
            for first in (0..length).step_by(BLOCK) {
                let last = (first + BLOCK).min(length);
                let mask = self.mask(first, last);
                self.load_block(qkv, kv_head, first, last, work);
                self.score(mask, work);
                self.arch.dispatch(Softmax {
                    scores: &mut work.scores,
                    mask,
                    logsumexp: &mut work.logsumexp,
                });
                logsumexp.extend_from_slice(&work.logsumexp);
                work.output.resize(work.queries.len(), 0.0);
                PackedMatrix::pack_columns(self.head_dim, &work.values).multiply(
                    self.arch,
                    &work.scores,
                    &mut work.output,
                );
                self.scatter_group(&work.output, &mut output[first * width..last * width], width, kv_head);
            }
        }
    }

    /// Copies the queries of a block, and keys and values up to its end.
    fn load_block(
        self,
        qkv: &[f32],
        kv_head: usize,
        first: usize,
        last: usize,
        work: &mut AttentionWorkspace,
    ) {
        let row = self.qkv_size();
        self.gather_group(&qkv[first * row..last * row], row, kv_head, &mut work.queries);
        work.keys.clear();
        self.gather(&qkv[..last * row], row, self.num_heads + kv_head, &mut work.keys);
        work.values.clear();
        self.gather(&qkv[..last * row], row, self.num_heads + self.num_kv_heads + kv_head, &mut work.values);
    }

    fn score(self, mask: BlockMask, work: &mut AttentionWorkspace) {
        work.scores.resize(work.queries.len() / self.head_dim * mask.keys, 0.0);
        PackedMatrix::pack(self.head_dim, &[&work.keys]).multiply(self.arch, &work.queries, &mut work.scores);
    }

    /// Computes the gradient of queries, keys and values from the gradient of the output.
    pub(super) fn backward(
        self,
        qkv: &[f32],
        (output, logsumexp): (&[f32], &[f32]),
        output_grad: &[f32],
        qkv_grad: &mut [f32],
        work: &mut AttentionWorkspace,
    ) {
        let (row, width, arch) = (self.qkv_size(), self.num_heads * self.head_dim, self.arch);
        let length = qkv.len() / row;
        let mut logsumexp = logsumexp;
        for kv_head in 0..self.num_kv_heads {
            for grad in [&mut work.keys_grad, &mut work.values_grad] {
                grad.clear();
                grad.resize(length * self.head_dim, 0.0);
            }
            for first in (0..length).step_by(BLOCK) {
                let last = (first + BLOCK).min(length);
                let mask = self.mask(first, last);
                self.load_block(qkv, kv_head, first, last, work);
                let block = first * width..last * width;
                self.gather_group(&output[block.clone()], width, kv_head, &mut work.output);
                self.gather_group(&output_grad[block], width, kv_head, &mut work.output_grad);
                self.score(mask, work);
                let (own, rest) = logsumexp.split_at(work.queries.len() / self.head_dim);
                logsumexp = rest;
                arch.dispatch(AttentionProbs { scores: &mut work.scores, mask, logsumexp: own });
                work.scores_grad.resize(work.scores.len(), 0.0);
                PackedMatrix::pack(self.head_dim, &[&work.values]).multiply(
                    arch,
                    &work.output_grad,
                    &mut work.scores_grad,
                );
                arch.dispatch(SoftmaxBackward {
                    probs: &work.scores,
                    dy: &mut work.scores_grad,
                    mask,
                    output: &work.output,
                    output_grad: &work.output_grad,
                    head_dim: self.head_dim,
                });
                // dV = probsᵀ·dO, dK = dSᵀ·Q, dQ = dS·K.
                transpose(&work.scores, mask.keys, &mut work.transposed);
                let values_grad = &mut work.values_grad[..last * self.head_dim];
                PackedMatrix::pack_columns(self.head_dim, &work.output_grad).multiply_add(
                    arch,
                    &work.transposed,
                    values_grad,
                );
                transpose(&work.scores_grad, mask.keys, &mut work.transposed);
                let keys_grad = &mut work.keys_grad[..last * self.head_dim];
                PackedMatrix::pack_columns(self.head_dim, &work.queries).multiply_add(
                    arch,
                    &work.transposed,
                    keys_grad,
                );
                PackedMatrix::pack_columns(self.head_dim, &work.keys).multiply(
                    arch,
                    &work.scores_grad,
                    &mut work.output,
                );
                self.scatter_group(&work.output, &mut qkv_grad[first * row..last * row], row, kv_head);
            }
            let parts = [
                (self.num_heads + kv_head, &work.keys_grad),
                (self.num_heads + self.num_kv_heads + kv_head, &work.values_grad),
            ];
            for (head, from) in parts {
                for (row, from) in qkv_grad.chunks_exact_mut(row).zip(from.chunks_exact(self.head_dim)) {
                    row[head * self.head_dim..][..self.head_dim].copy_from_slice(from);
                }
            }
        }
    }
}
