//! Forward and backward pass of a Llama-style network over one sequence.

use aske_kernels::{ApplyRotary, Arch, PackedMatrix, RmsNorm, RotaryTable, SwiGlu};
use aske_model::LlamaConfig;

use super::attention::{Attention, AttentionWorkspace};
use super::kernels::{RmsNormBackward, SwiGluBackward, transpose};
use super::layout::ParameterLayout;
use crate::LearnError;

/// The shape of a network and the offsets of its parameters.
pub(super) struct Network {
    config: LlamaConfig,
    attention: Attention,
    arch: Arch,
    eps: f32,
    rotary: RotaryTable,
    embedding: usize,
    layers: Vec<LayerOffsets>,
    final_norm: usize,
    lm_head: usize,
}

/// Offsets of a layer's parameters; projections also have their number of outputs.
struct LayerOffsets {
    input_norm: usize,
    qkv: [(usize, usize); 3],
    o_proj: [(usize, usize); 1],
    post_attention_norm: usize,
    gate_up: [(usize, usize); 2],
    down_proj: [(usize, usize); 1],
}

/// A linear layer packed for both passes.
struct Linear {
    forward: PackedMatrix,
    backward: PackedMatrix,
}

/// The parameters, packed for matrix products.
pub(super) struct PackedWeights<'p> {
    parameters: &'p [f32],
    /// `qkv`, `o_proj`, `gate_up` and `down_proj` of each layer.
    layers: Vec<[Linear; 4]>,
    lm_head: Linear,
}

/// Activations of a layer that the backward pass needs.
#[derive(Default)]
struct SavedActivations {
    /// Input of the layer.
    input: Vec<f32>,
    /// Queries, keys and values, after rotary embedding.
    qkv: Vec<f32>,
    /// Output of attention, before `o_proj`.
    attention: Vec<f32>,
    /// Log-sum-exp of each row of attention scores.
    logsumexp: Vec<f32>,
    /// Hidden states between attention and MLP.
    post_attention: Vec<f32>,
    /// Gate and up projections.
    gate_up: Vec<f32>,
}

/// Buffers for one sequence, reused from sequence to sequence.
#[derive(Default)]
pub(super) struct Workspace {
    layers: Vec<SavedActivations>,
    positions: Vec<usize>,
    hidden_states: Vec<f32>,
    normed: Vec<f32>,
    inner: Vec<f32>,
    hidden_grad: Vec<f32>,
    qkv_grad: Vec<f32>,
    transposed: Vec<f32>,
    final_hidden: Vec<f32>,
    final_normed: Vec<f32>,
    logits: Vec<f32>,
    attention: AttentionWorkspace,
}

/// A token to predict.
#[derive(Clone, Copy)]
pub(super) struct Target {
    /// Position of the preceding token.
    pub(super) position: usize,
    /// The token.
    pub(super) token: usize,
}

/// The network's prediction for a target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prediction {
    /// Log-probability of the target token.
    pub(super) logprob: f64,
    /// Entropy of the next-token distribution.
    pub(super) entropy: f64,
}

/// The first `len` elements of a buffer, grown if necessary.
fn sized(buffer: &mut Vec<f32>, len: usize) -> &mut [f32] {
    if buffer.len() < len {
        buffer.resize(len, 0.0);
    }
    &mut buffer[..len]
}

fn copy(from: &[f32], to: &mut Vec<f32>) {
    to.clear();
    to.extend_from_slice(from);
}

impl Network {
    #[expect(clippy::cast_possible_truncation, reason = "computes in single precision")]
    pub(super) fn new(config: &LlamaConfig, layout: &ParameterLayout) -> Result<Self, LearnError> {
        let find = |name: &str| {
            let found = layout.iter().find(|(other, ..)| *other == name);
            found
                .map(|(_, shape, offset)| (offset, shape[0]))
                .ok_or_else(|| LearnError::Weights(format!("{name} is missing")))
        };
        let layer = |index: usize| -> Result<LayerOffsets, LearnError> {
            let own = |part: &str| find(&format!("model.layers.{index}.{part}.weight"));
            Ok(LayerOffsets {
                input_norm: own("input_layernorm")?.0,
                qkv: [own("self_attn.q_proj")?, own("self_attn.k_proj")?, own("self_attn.v_proj")?],
                o_proj: [own("self_attn.o_proj")?],
                post_attention_norm: own("post_attention_layernorm")?.0,
                gate_up: [own("mlp.gate_proj")?, own("mlp.up_proj")?],
                down_proj: [own("mlp.down_proj")?],
            })
        };
        let embedding = find("model.embed_tokens.weight")?.0;
        let arch = Arch::new();
        let (num_heads, num_kv_heads) = (config.num_attention_heads, config.num_key_value_heads);
        Ok(Self {
            attention: Attention { arch, num_heads, num_kv_heads, head_dim: config.head_dim },
            arch,
            eps: config.rms_norm_eps as f32,
            rotary: RotaryTable::new(config.max_position_embeddings, config.head_dim, config.rope_theta),
            embedding,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_, _>>()?,
            final_norm: find("model.norm.weight")?.0,
            lm_head: if config.tie_word_embeddings { embedding } else { find("lm_head.weight")?.0 },
            config: config.clone(),
        })
    }

    /// Packs the parameters for matrix products.
    pub(super) fn pack<'p>(&self, parameters: &'p [f32]) -> PackedWeights<'p> {
        let (hidden_size, intermediate_size) = (self.config.hidden_size, self.config.intermediate_size);
        let attention_size = self.config.num_attention_heads * self.config.head_dim;
        let linear = |inputs: usize, parts: &[(usize, usize)]| {
            let parts: Vec<&[f32]> = parts
                .iter()
                .map(|(offset, outputs)| &parameters[*offset..offset + outputs * inputs])
                .collect();
            Linear {
                forward: PackedMatrix::pack(inputs, &parts),
                backward: PackedMatrix::pack_columns(inputs, &parts.concat()),
            }
        };
        let layers = self.layers.iter().map(|offsets| {
            [
                linear(hidden_size, &offsets.qkv),
                linear(attention_size, &offsets.o_proj),
                linear(hidden_size, &offsets.gate_up),
                linear(intermediate_size, &offsets.down_proj),
            ]
        });
        PackedWeights {
            parameters,
            layers: layers.collect(),
            lm_head: linear(hidden_size, &[(self.lm_head, self.config.vocab_size)]),
        }
    }

    /// Predicts each target.
    pub(super) fn forward(
        &self,
        weights: &PackedWeights,
        tokens: &[u32],
        targets: &[Target],
        work: &mut Workspace,
    ) -> Vec<Prediction> {
        let (hidden_size, arch) = (self.config.hidden_size, self.arch);
        let length = tokens.len();
        work.positions.clear();
        work.positions.extend(0..length);
        work.hidden_states.clear();
        for token in tokens {
            let offset = self.embedding + *token as usize * hidden_size;
            work.hidden_states.extend_from_slice(&weights.parameters[offset..offset + hidden_size]);
        }
        work.layers.resize_with(self.layers.len(), SavedActivations::default);
        for ((offsets, projections), saved) in self.layers.iter().zip(&weights.layers).zip(&mut work.layers) {
            let [qkv, o_proj, gate_up, down_proj] = projections;
            copy(&work.hidden_states, &mut saved.input);
            let normed =
                self.rms_norm(weights.parameters, offsets.input_norm, &saved.input, &mut work.normed);
            saved.qkv.resize(length * qkv.forward.outputs(), 0.0);
            qkv.forward.multiply(arch, normed, &mut saved.qkv);
            self.rotate(&mut saved.qkv, &work.positions, 1.0);
            saved.attention.resize(length * self.attention.num_heads * self.attention.head_dim, 0.0);
            self.attention.forward(
                &saved.qkv,
                &mut saved.attention,
                &mut saved.logsumexp,
                &mut work.attention,
            );
            o_proj.forward.multiply_add(arch, &saved.attention, &mut work.hidden_states);
            copy(&work.hidden_states, &mut saved.post_attention);
            let normed = self.rms_norm(
                weights.parameters,
                offsets.post_attention_norm,
                &saved.post_attention,
                &mut work.normed,
            );
            saved.gate_up.resize(length * gate_up.forward.outputs(), 0.0);
            gate_up.forward.multiply(arch, normed, &mut saved.gate_up);
            let inner = sized(&mut work.inner, length * self.config.intermediate_size);
            arch.dispatch(SwiGlu { x: &saved.gate_up, width: self.config.intermediate_size, out: inner });
            down_proj.forward.multiply_add(arch, inner, &mut work.hidden_states);
        }
        work.final_hidden.clear();
        for Target { position, .. } in targets {
            work.final_hidden.extend_from_slice(&work.hidden_states[position * hidden_size..][..hidden_size]);
        }
        let normed =
            self.rms_norm(weights.parameters, self.final_norm, &work.final_hidden, &mut work.final_normed);
        let vocab_size = self.config.vocab_size;
        work.logits.resize(targets.len() * vocab_size, 0.0);
        weights.lm_head.forward.multiply(arch, normed, &mut work.logits);
        work.logits
            .chunks_exact_mut(vocab_size)
            .zip(targets)
            .map(|(logits, target)| predict(logits, target.token))
            .collect()
    }

    /// Adds the gradient of every parameter, given the derivative of the loss by each target's log-probability.
    ///
    /// Must follow [`Network::forward`] with the same sequence.
    pub(super) fn backward(
        &self,
        weights: &PackedWeights,
        tokens: &[u32],
        (targets, logprob_grads): (&[Target], &[f64]),
        work: &mut Workspace,
        gradient: &mut [f32],
    ) {
        let (hidden_size, vocab_size, arch) = (self.config.hidden_size, self.config.vocab_size, self.arch);
        let (length, intermediate_size) = (tokens.len(), self.config.intermediate_size);
        // Gradient of the logits: grad·(1 at the target, minus the probability).
        for ((probabilities, target), grad) in
            work.logits.chunks_exact_mut(vocab_size).zip(targets).zip(logprob_grads)
        {
            #[expect(clippy::cast_possible_truncation, reason = "computes in single precision")]
            let grad = *grad as f32;
            for probability in probabilities.iter_mut() {
                *probability *= -grad;
            }
            probabilities[target.token] += grad;
        }
        let normed = &work.final_normed[..targets.len() * hidden_size];
        self.weight_grad(&[(self.lm_head, vocab_size)], &work.logits, normed, &mut work.transposed, gradient);
        let normed_grad = sized(&mut work.normed, targets.len() * hidden_size);
        weights.lm_head.backward.multiply(arch, &work.logits, normed_grad);
        let mut final_grad = vec![0.0; targets.len() * hidden_size];
        self.rms_norm_backward(
            weights.parameters,
            self.final_norm,
            &work.final_hidden,
            normed_grad,
            &mut final_grad,
            gradient,
        );
        work.hidden_grad.clear();
        work.hidden_grad.resize(length * hidden_size, 0.0);
        for (target, from) in targets.iter().zip(final_grad.chunks_exact(hidden_size)) {
            add(from, &mut work.hidden_grad[target.position * hidden_size..][..hidden_size]);
        }
        for ((offsets, projections), saved) in
            self.layers.iter().zip(&weights.layers).zip(&mut work.layers).rev()
        {
            let [qkv, o_proj, gate_up, down_proj] = projections;
            let inner = sized(&mut work.inner, length * intermediate_size);
            arch.dispatch(SwiGlu { x: &saved.gate_up, width: intermediate_size, out: inner });
            self.weight_grad(&offsets.down_proj, &work.hidden_grad, inner, &mut work.transposed, gradient);
            down_proj.backward.multiply(arch, &work.hidden_grad, inner);
            arch.dispatch(SwiGluBackward { x: &mut saved.gate_up, width: intermediate_size, dy: inner });
            let normed = self.rms_norm(
                weights.parameters,
                offsets.post_attention_norm,
                &saved.post_attention,
                &mut work.normed,
            );
            self.weight_grad(&offsets.gate_up, &saved.gate_up, normed, &mut work.transposed, gradient);
            let normed_grad = sized(&mut work.normed, length * hidden_size);
            gate_up.backward.multiply(arch, &saved.gate_up, normed_grad);
            self.rms_norm_backward(
                weights.parameters,
                offsets.post_attention_norm,
                &saved.post_attention,
                normed_grad,
                &mut work.hidden_grad,
                gradient,
            );

            self.weight_grad(
                &offsets.o_proj,
                &work.hidden_grad,
                &saved.attention,
                &mut work.transposed,
                gradient,
            );
            let attention_grad = sized(&mut work.inner, saved.attention.len());
            o_proj.backward.multiply(arch, &work.hidden_grad, attention_grad);
            let qkv_grad = sized(&mut work.qkv_grad, saved.qkv.len());
            self.attention.backward(
                &saved.qkv,
                (&saved.attention, &saved.logsumexp),
                attention_grad,
                qkv_grad,
                &mut work.attention,
            );
            self.rotate(qkv_grad, &work.positions, -1.0);
            let normed =
                self.rms_norm(weights.parameters, offsets.input_norm, &saved.input, &mut work.normed);
            self.weight_grad(&offsets.qkv, qkv_grad, normed, &mut work.transposed, gradient);
            let normed_grad = sized(&mut work.normed, length * hidden_size);
            qkv.backward.multiply(arch, qkv_grad, normed_grad);
            self.rms_norm_backward(
                weights.parameters,
                offsets.input_norm,
                &saved.input,
                normed_grad,
                &mut work.hidden_grad,
                gradient,
            );
        }
        for (token, from) in tokens.iter().zip(work.hidden_grad.chunks_exact(hidden_size)) {
            add(from, &mut gradient[self.embedding + *token as usize * hidden_size..][..hidden_size]);
        }
    }

    /// Adds the gradient of projections that read `x` and whose concatenated outputs have the gradient `dy`.
    fn weight_grad(
        &self,
        parts: &[(usize, usize)],
        dy: &[f32],
        x: &[f32],
        transposed: &mut Vec<f32>,
        gradient: &mut [f32],
    ) {
        let outputs: usize = parts.iter().map(|(_, outputs)| outputs).sum();
        let length = dy.len() / outputs;
        let inputs = x.len() / length.max(1);
        transpose(dy, outputs, transposed);
        let columns = PackedMatrix::pack_columns(inputs, x);
        let mut transposed = transposed.as_slice();
        for (offset, outputs) in parts {
            let (own, rest) = transposed.split_at(outputs * length);
            columns.multiply_add(self.arch, own, &mut gradient[*offset..offset + outputs * inputs]);
            transposed = rest;
        }
    }

    /// Applies the rotary embedding to queries and keys; a sign of −1 inverts it.
    fn rotate(&self, rows: &mut [f32], positions: &[usize], sign: f32) {
        let Attention { num_heads, num_kv_heads, head_dim, .. } = self.attention;
        let width = (num_heads + 2 * num_kv_heads) * head_dim;
        let heads = num_heads + num_kv_heads;
        self.arch.dispatch(ApplyRotary { table: &self.rotary, rows, width, heads, positions, sign });
    }

    fn rms_norm<'a>(&self, parameters: &[f32], offset: usize, x: &[f32], out: &'a mut Vec<f32>) -> &'a [f32] {
        let out = sized(out, x.len());
        let weight = &parameters[offset..offset + self.config.hidden_size];
        self.arch.dispatch(RmsNorm { x, weight, eps: self.eps, out });
        out
    }

    fn rms_norm_backward(
        &self,
        parameters: &[f32],
        offset: usize,
        x: &[f32],
        dy: &[f32],
        dx: &mut [f32],
        gradient: &mut [f32],
    ) {
        let range = offset..offset + self.config.hidden_size;
        let (weight, dweight) = (&parameters[range.clone()], &mut gradient[range]);
        self.arch.dispatch(RmsNormBackward { x, weight, eps: self.eps, dy, dx, dweight });
    }
}

fn add(from: &[f32], to: &mut [f32]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}

/// Replaces logits by probabilities; returns the target's log-probability and the entropy.
#[expect(clippy::cast_possible_truncation, reason = "computes in single precision")]
fn predict(logits: &mut [f32], token: usize) -> Prediction {
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let target = f64::from(logits[token] - max);
    let (mut total, mut weighted) = (0.0, 0.0);
    for logit in logits.iter_mut() {
        let shifted = f64::from(*logit - max);
        let weight = shifted.exp();
        total += weight;
        weighted += weight * shifted;
        *logit = weight as f32;
    }
    let scale = (1.0 / total) as f32;
    for logit in logits.iter_mut() {
        *logit *= scale;
    }
    Prediction { logprob: target - total.ln(), entropy: total.ln() - weighted / total }
}
