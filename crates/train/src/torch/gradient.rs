//! Forward and backward pass over batches: the loss and its gradient.

use std::ops::Range;

use tch::{Kind, Tensor, no_grad, no_grad_guard};

use super::block::{Block, SequenceRun};
use super::head::{DeviceTargets, Evaluation, evaluate_targets};
use super::network::Network;
use super::rope::Rope;
use super::{as_i64, to_device};
use crate::{Batch, LearnError, Loss};

/// On a GPU, sequences are padded to a multiple of this, for tensor cores.
const ROUND: usize = 8;

/// The longest length of the sequences that are padded to one length on a GPU, at most an eighth longer than this one: few
/// lengths mean few calls of the attention kernel.
fn length_group(length: usize) -> usize {
    let width = 1 << (length / 8).max(ROUND).ilog2();
    length.next_multiple_of(width)
}

/// Gradients of the trained parameters, in the order of [`Network::trained`].
pub(super) struct Gradients {
    pub(super) all: Vec<Tensor>,
    /// Only adapters are trained.
    adapters: bool,
    per_layer: usize,
    layers: usize,
    tied: bool,
}

impl Gradients {
    /// Zeros; empty without a backward pass.
    fn new(network: &Network, backward: bool) -> Result<Self, LearnError> {
        let mut all = Vec::new();
        for parameter in network.trained().into_iter().filter(|_| backward) {
            all.push(parameter.value().f_zeros_like()?);
        }
        Ok(Self {
            all,
            adapters: network.lora.is_some(),
            per_layer: network.trained_per_layer(),
            layers: network.config.num_layers,
            tied: network.is_tied(),
        })
    }

    /// Those of a layer.
    fn layer(&mut self, index: usize) -> &mut [Tensor] {
        let begin = usize::from(!self.adapters) + index * self.per_layer;
        &mut self.all[begin..begin + self.per_layer]
    }

    /// That of the embedding, if trained.
    pub(super) fn embedding(&mut self) -> Option<&mut Tensor> {
        if self.adapters { None } else { self.all.first_mut() }
    }

    /// That of the final norm, if trained.
    pub(super) fn final_norm(&mut self) -> Option<&mut Tensor> {
        let index = 1 + self.layers * self.per_layer;
        if self.adapters { None } else { self.all.get_mut(index) }
    }

    /// That of the output head, if trained.
    pub(super) fn lm_head(&mut self) -> Option<&mut Tensor> {
        if self.tied || self.adapters { self.embedding() } else { self.all.last_mut() }
    }
}

/// What the backward pass needs of a layer.
enum SavedLayer {
    /// Its input; the layer is recomputed.
    Input(Tensor),
    /// Its autograd graph: input, leaves and output.
    Graph(Tensor, Vec<Tensor>, Tensor),
}

/// A packed batch on the device.
struct DeviceBatch {
    /// `[1, tokens]`.
    tokens: Tensor,
    /// Index of the token before each target.
    positions: Tensor,
    /// The position of each token in its sequence, as rotary embeddings.
    rope: Rope,
    runs: Vec<SequenceRun>,
}

/// The loss of the batches and, with `backward`, its gradient.
pub(super) fn loss_and_grad(
    network: &Network,
    batches: &[Batch],
    loss: Loss,
    recompute: bool,
    backward: bool,
) -> Result<(Evaluation, Gradients), LearnError> {
    let mut gradients = Gradients::new(network, backward)?;
    let mut evaluation = Evaluation::default();
    for batch in batches {
        let (on_device, targets) = send(network, batch, loss)?;
        let mut hidden_states = network.embed(&on_device.tokens)?;
        let mut saved = Vec::new();
        for layer in 0..network.config.num_layers {
            let input = hidden_states;
            if backward && !recompute {
                let (input, leaves, output) = forward_with_graph(network, layer, &input, &on_device)?;
                hidden_states = output.f_detach()?;
                saved.push(SavedLayer::Graph(input, leaves, output));
            } else {
                hidden_states =
                    no_grad(|| forward(network, &network.layer_without_grad(layer)?, &input, &on_device))?;
                saved.push(SavedLayer::Input(input));
            }
        }
        let hidden_size = as_i64(network.config.hidden_size);
        let selected = hidden_states.f_view([-1, hidden_size])?.f_index_select(0, &on_device.positions)?;
        let wanted = backward.then_some(&mut gradients);
        let selected_grad = evaluate_targets(network, &selected, &targets, loss, &mut evaluation, wanted)?;
        let Some(selected_grad) = selected_grad else { continue };
        let mut grad = hidden_states.f_zeros_like()?;
        let _ = grad.f_view([-1, hidden_size])?.f_index_copy_(0, &on_device.positions, &selected_grad)?;
        drop(hidden_states);
        for (layer, saved) in saved.into_iter().enumerate().rev() {
            grad = backward_layer(network, layer, saved, &grad, &on_device, gradients.layer(layer))?;
        }
        if let Some(sum) = gradients.embedding() {
            let _no_grad = no_grad_guard();
            let tokens = on_device.tokens.f_view([-1])?;
            let _ = sum.f_index_add_(0, &tokens, &grad.f_view([-1, hidden_size])?)?;
        }
    }
    Ok((evaluation, gradients))
}

fn forward(
    network: &Network,
    block: &Block<Tensor>,
    hidden_states: &Tensor,
    batch: &DeviceBatch,
) -> Result<Tensor, LearnError> {
    block.forward(&network.config, hidden_states, &batch.rope, &batch.runs)
}

/// Runs a layer as an autograd graph of its own.
fn forward_with_graph(
    network: &Network,
    layer: usize,
    input: &Tensor,
    batch: &DeviceBatch,
) -> Result<(Tensor, Vec<Tensor>, Tensor), LearnError> {
    let input = input.f_detach()?.f_set_requires_grad(true)?;
    let (block, leaves) = network.layer_with_grad(layer)?;
    let output = forward(network, &block, &input, batch)?;
    Ok((input, leaves, output))
}

/// The gradient with respect to a layer's input from that of its output; adds the gradients of its parameters.
fn backward_layer(
    network: &Network,
    layer: usize,
    saved: SavedLayer,
    grad: &Tensor,
    batch: &DeviceBatch,
    sums: &mut [Tensor],
) -> Result<Tensor, LearnError> {
    let (input, leaves, output) = match saved {
        SavedLayer::Input(input) => forward_with_graph(network, layer, &input, batch)?,
        SavedLayer::Graph(input, leaves, output) => (input, leaves, output),
    };
    // The derivative of this root with respect to the output is the gradient.
    let root = output.f_mul(grad)?.f_sum(Kind::Float)?;
    let inputs: Vec<&Tensor> = std::iter::once(&input).chain(&leaves).collect();
    let mut found = Tensor::f_run_backward(&[&root], &inputs, false, false)?.into_iter();
    let input_grad =
        found.next().ok_or_else(|| LearnError::library("libtorch", "no gradient for a layer's input"))?;
    let _no_grad = no_grad_guard();
    for (sum, more) in sums.iter_mut().zip(found) {
        let _ = sum.f_add_(&more)?;
    }
    Ok(input_grad)
}

/// Copies a batch to the device, each sequence only up to its last target.
///
/// Sequences of one length that follow each other stay of one length, so that they are computed together; on a GPU also
/// sequences of nearly one length, padded. Padding has no targets, and attention is causal.
fn send(network: &Network, batch: &Batch, loss: Loss) -> Result<(DeviceBatch, DeviceTargets), LearnError> {
    let config = &network.config;
    let targets = batch.targets(config.vocab_size, config.max_position_embeddings, loss)?;
    let round = if network.device.is_cuda() { ROUND } else { 1 };
    let (mut tokens, mut offsets, mut positions) = (Vec::new(), Vec::new(), Vec::new());
    let mut runs = Vec::new();
    let mut remaining = targets.positions.iter().copied().peekable();
    let ranges: Vec<Range<usize>> = batch.ranges().collect();
    let group = |length: usize| if network.device.is_cuda() { length_group(length) } else { length };
    for run in ranges.chunk_by(|one, other| group(one.len()) == group(other.len())) {
        let mut own: Vec<(usize, usize)> = Vec::new();
        for (index, range) in run.iter().enumerate() {
            while let Some(target) = remaining.next_if(|target| range.contains(target)) {
                own.push((index, target - range.start));
            }
        }
        let Some(last) = own.iter().map(|(_, position)| *position).max() else { continue };
        let length = (last + 1).next_multiple_of(round);
        positions
            .extend(own.iter().map(|(index, position)| as_i64(tokens.len() + index * length + position)));
        for range in run {
            let sequence = batch.tokens[range.clone()].iter().map(|token| i64::from(*token));
            tokens.extend(sequence.chain(std::iter::repeat(0)).take(length));
            offsets.extend(0..as_i64(length));
        }
        runs.push(SequenceRun { sequences: as_i64(run.len()), length: as_i64(length) });
    }
    let on_device = DeviceBatch {
        tokens: to_device(&tokens, network.device)?.f_unsqueeze(0)?,
        positions: to_device(&positions, network.device)?,
        rope: Rope::at_positions(&to_device(&offsets, network.device)?, &network.inv_freq)?,
        runs,
    };
    let targets = DeviceTargets {
        tokens: to_device(&targets.tokens, network.device)?,
        weights: targets.weights,
        old_logprobs: targets.old_logprobs,
    };
    Ok((on_device, targets))
}
