//! Forth and back through the network: the loss of batches and its gradient.

use tch::{Kind, Tensor, no_grad, no_grad_guard};

use super::block::{Block, causal};
use super::head::{self, Opinion, Tally};
use super::network::Network;
use super::rotary::Turn;
use crate::torch::network::whole;
use crate::{Batch, LearnError, Loss};

/// Rows are filled up to a multiple of this on a GPU, so that few lengths need kernels of their own.
const ROUND: usize = 64;

/// The gradient by everything that is trained, in the order of [`Network::trained`].
pub(super) struct Gradients {
    pub(super) all: Vec<Tensor>,
    /// Only adapters are trained.
    adapters: bool,
    per_layer: usize,
    layers: usize,
    tied: bool,
}

impl Gradients {
    /// Noughts, where there is something to learn.
    fn new(network: &Network, learn: bool) -> Result<Self, LearnError> {
        let mut all = Vec::new();
        for parameter in network.trained().into_iter().filter(|_| learn) {
            all.push(parameter.value().f_zeros_like()?);
        }
        Ok(Self {
            all,
            adapters: network.lora.is_some(),
            per_layer: network.trained_per_layer(),
            layers: network.shape.layers,
            tied: network.is_tied(),
        })
    }

    /// Those of a layer.
    fn layer(&mut self, index: usize) -> &mut [Tensor] {
        let begin = usize::from(!self.adapters) + index * self.per_layer;
        &mut self.all[begin..begin + self.per_layer]
    }

    /// Those of the embedding, the last norm and the head, where they are trained.
    pub(super) fn embedding(&mut self) -> Option<&mut Tensor> {
        if self.adapters { None } else { self.all.first_mut() }
    }

    pub(super) fn norm(&mut self) -> Option<&mut Tensor> {
        let place = 1 + self.layers * self.per_layer;
        if self.adapters { None } else { self.all.get_mut(place) }
    }

    pub(super) fn head(&mut self) -> Option<&mut Tensor> {
        if self.tied || self.adapters { self.embedding() } else { self.all.last_mut() }
    }
}

/// What the way back needs of a layer.
enum Kept {
    /// Its input: the layer is computed again.
    Input(Tensor),
    /// Its graph: input, leaves and output.
    Graph(Tensor, Vec<Tensor>, Tensor),
}

/// A batch on the device.
struct Placed {
    /// `[rows, length]`.
    tokens: Tensor,
    /// Where predictions are made, counted over all rows.
    places: Tensor,
}

/// The loss of some batches and, where asked for, the gradient by everything that is trained.
pub(super) fn slope(
    network: &Network,
    batches: &[Batch],
    loss: Loss,
    recompute: bool,
    learn: bool,
) -> Result<(Tally, Gradients), LearnError> {
    let mut gradients = Gradients::new(network, learn)?;
    let mut tally = Tally::default();
    for batch in batches {
        let (placed, opinion) = place(network, batch, loss)?;
        let length = placed.tokens.size2()?.1;
        let turn = Turn::first(length, &network.speeds)?;
        let stream = Tensor::f_embedding(network.embedding(), &placed.tokens, -1, false, false)?;
        let mut stream = stream.f_to_kind(Kind::Float)?;
        let mut kept = Vec::new();
        for layer in 0..network.shape.layers {
            let input = stream;
            if learn && !recompute {
                let (input, leaves, output) = opened(network, layer, &input, &turn)?;
                stream = output.f_detach()?;
                kept.push(Kept::Graph(input, leaves, output));
            } else {
                stream = no_grad(|| ran(network, &network.closed(layer)?, &input, &turn))?;
                kept.push(Kept::Input(input));
            }
        }
        let width = whole(network.shape.width);
        let chosen = stream.f_view([-1, width])?.f_index_select(0, &placed.places)?;
        let asked = learn.then_some(&mut gradients);
        let Some(back) = head::judge(network, &chosen, &opinion, loss, &mut tally, asked)? else { continue };
        let mut slope = stream.f_zeros_like()?;
        let _ = slope.f_view([-1, width])?.f_index_copy_(0, &placed.places, &back)?;
        drop(stream);
        for (layer, kept) in kept.into_iter().enumerate().rev() {
            slope = pulled(network, layer, kept, &slope, &turn, gradients.layer(layer))?;
        }
        if let Some(sum) = gradients.embedding() {
            let _still = no_grad_guard();
            let flat = placed.tokens.f_view([-1])?;
            let _ = sum.f_index_add_(0, &flat, &slope.f_view([-1, width])?)?;
        }
    }
    Ok((tally, gradients))
}

fn ran(network: &Network, block: &Block<Tensor>, stream: &Tensor, turn: &Turn) -> Result<Tensor, LearnError> {
    block.run(&network.shape, stream, turn, causal)
}

/// Computes a layer as a graph of its own.
fn opened(
    network: &Network,
    layer: usize,
    input: &Tensor,
    turn: &Turn,
) -> Result<(Tensor, Vec<Tensor>, Tensor), LearnError> {
    let input = input.f_detach()?.f_set_requires_grad(true)?;
    let (block, leaves) = network.open(layer)?;
    let output = ran(network, &block, &input, turn)?;
    Ok((input, leaves, output))
}

/// The slope by a layer's input from that by its output; adds those by its weights.
fn pulled(
    network: &Network,
    layer: usize,
    kept: Kept,
    slope: &Tensor,
    turn: &Turn,
    sums: &mut [Tensor],
) -> Result<Tensor, LearnError> {
    let (input, leaves, output) = match kept {
        Kept::Input(input) => opened(network, layer, &input, turn)?,
        Kept::Graph(input, leaves, output) => (input, leaves, output),
    };
    // Its derivative by the output is the slope itself.
    let root = output.f_mul(slope)?.f_sum(Kind::Float)?;
    let inputs: Vec<&Tensor> = std::iter::once(&input).chain(&leaves).collect();
    let mut found = Tensor::f_run_backward(&[&root], &inputs, false, false)?.into_iter();
    let back = found.next().ok_or_else(|| LearnError::Library {
        library: "libtorch",
        message: "no gradient by a layer's input".to_owned(),
    })?;
    let _still = no_grad_guard();
    for (sum, more) in sums.iter_mut().zip(found) {
        let _ = sum.f_add_(&more)?;
    }
    Ok(back)
}

/// Copies a batch to the device, without what follows the last prediction of the longest row.
fn place(network: &Network, batch: &Batch, loss: Loss) -> Result<(Placed, Opinion), LearnError> {
    let targets = batch.targets(network.shape.vocabulary, network.shape.longest, loss)?;
    // Places are counted over rows of the batch's length, and never negative.
    let split = |place: &i64| {
        let place = usize::try_from(*place).unwrap_or(0);
        (place / batch.length, place % batch.length)
    };
    let last = targets.places.iter().map(|place| split(place).1).max().unwrap_or(0);
    let length = if network.device.is_cuda() { (last + 1).next_multiple_of(ROUND) } else { last + 1 };
    let mut tokens = Vec::with_capacity(batch.rows * length);
    for row in batch.tokens.chunks_exact(batch.length) {
        tokens.extend(row.iter().map(|token| i64::from(*token)).chain(std::iter::repeat(0)).take(length));
    }
    let places: Vec<i64> =
        targets.places.iter().map(split).map(|(row, place)| whole(row * length + place)).collect();
    let sent = |numbers: &[i64]| -> Result<Tensor, LearnError> {
        Ok(Tensor::f_from_slice(numbers)?.f_to_device(network.device)?)
    };
    let tokens = sent(&tokens)?.f_view([whole(batch.rows), whole(length)])?;
    let on_device = Placed { tokens, places: sent(&places)? };
    let opinion =
        Opinion { tokens: sent(&targets.tokens)?, weights: targets.weights, before: targets.before };
    Ok((on_device, opinion))
}
