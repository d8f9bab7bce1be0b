//! A learner on the processor, with nothing to install.
//!
//! The derivative is written out for this one kind of network, on the kernels that also run it: several times quicker
//! here than building a graph of small operations, and the result is the same on any number of threads.

mod attention;
mod network;
mod steps;

use aske_model::LlamaConfig;
use rayon::prelude::*;

use self::network::{Network, Packed, Wanted, Work};
use crate::adam::{Adam, norm};
use crate::batch::Targets;
use crate::layout::Layout;
use crate::learner::{Numbers, Sums, finite};
use crate::{Batch, LearnError, Learner, Loss, Moments, Options, Reinforce, Reinforced, Report, Weights};

/// Texts are dealt out to so many stripes, each summed in order; threads take stripes. So the sums do not depend on
/// the number of threads.
const STRIPES: usize = 8;

/// A network that learns on the processor, in single precision.
pub struct CpuLearner {
    config: LlamaConfig,
    layout: Layout,
    network: Network,
    /// Every weight.
    row: Vec<f32>,
    adam: Adam,
    sums: (f64, f64),
    since: u64,
}

/// One text of a batch and what is to be learnt from it.
struct Text<'b> {
    tokens: &'b [u32],
    wanted: Vec<Wanted>,
    weights: Vec<f32>,
    before: Vec<f32>,
}

impl CpuLearner {
    /// A learner that starts from these weights.
    pub fn new(config: &LlamaConfig, weights: &Weights, options: Options) -> Result<Self, LearnError> {
        weights.check(config)?;
        let layout = Layout::new(config)?;
        let row = layout.pack(weights);
        let adam = Adam::new(&row, layout.norms, options);
        let network = Network::new(config, &layout)?;
        Ok(Self { config: config.clone(), layout, network, row, adam, sums: (0.0, 0.0), since: 0 })
    }

    /// The loss of some batches and, where asked for, the gradient by every weight.
    fn slope(
        &self,
        row: &[f32],
        batches: &[Batch],
        loss: Loss,
        learn: bool,
    ) -> Result<(Sums, Vec<f32>), LearnError> {
        let mut texts = Vec::new();
        for batch in batches {
            let targets = batch.targets(self.config.vocab_size, self.config.max_position_embeddings, loss)?;
            texts.extend(dealt(batch, &targets));
        }
        let packed = self.network.pack(row);
        let stripes: Vec<Vec<&Text>> = (0..STRIPES.min(texts.len()))
            .map(|stripe| texts.iter().skip(stripe).step_by(STRIPES).collect())
            .collect();
        let parts: Vec<(Sums, Vec<f32>)> =
            stripes.into_par_iter().map(|texts| self.stripe(&packed, &texts, loss, learn)).collect();
        let mut parts = parts.into_iter();
        let (mut sums, mut gradient) = parts.next().unwrap_or_default();
        for (other, more) in parts {
            sums.add(&other);
            for (sum, more) in gradient.iter_mut().zip(more) {
                *sum += more;
            }
        }
        Ok((sums, gradient))
    }

    fn stripe(&self, packed: &Packed, texts: &[&Text], loss: Loss, learn: bool) -> (Sums, Vec<f32>) {
        let mut work = Work::default();
        let mut sums = Sums::default();
        let mut gradient = vec![0.0; if learn { self.layout.size } else { 0 }];
        for text in texts {
            let opinions = self.network.forth(packed, text.tokens, &text.wanted, &mut work);
            let each = opinions.iter().zip(&text.weights).zip(&text.before);
            let slopes: Vec<f64> = each
                .map(|((opinion, weight), before)| {
                    let token = loss.token(opinion.logp, f64::from(*before), f64::from(*weight));
                    sums.count(&token, opinion.logp - f64::from(*before), opinion.entropy);
                    token.slope
                })
                .collect();
            if learn {
                self.network.back(packed, text.tokens, (&text.wanted, &slopes), &mut work, &mut gradient);
            }
        }
        (sums, gradient)
    }
}

/// The texts of a batch that have something to learn from, each up to its last prediction.
fn dealt<'b>(batch: &'b Batch, targets: &Targets) -> Vec<Text<'b>> {
    let mut texts: Vec<(usize, Text<'b>)> = Vec::new();
    let each = targets.places.iter().zip(&targets.tokens).zip(targets.weights.iter().zip(&targets.before));
    for ((place, token), (weight, before)) in each {
        // Both come from numbers of this size.
        let (place, token) = (usize::try_from(*place).unwrap_or(0), usize::try_from(*token).unwrap_or(0));
        let (row, place) = (place / batch.length, place % batch.length);
        if texts.last().is_none_or(|(last, _)| *last != row) {
            let text = Text { tokens: &[], wanted: Vec::new(), weights: Vec::new(), before: Vec::new() };
            texts.push((row, text));
        }
        if let Some((_, text)) = texts.last_mut() {
            text.tokens = &batch.tokens[row * batch.length..][..=place];
            text.wanted.push(Wanted { place, token });
            text.weights.push(*weight);
            text.before.push(*before);
        }
    }
    texts.into_iter().map(|(_, text)| text).collect()
}

impl Learner for CpuLearner {
    fn step(&mut self, batch: &Batch, rate: f64) -> Result<(), LearnError> {
        let (sums, gradient) = self.slope(&self.row, std::slice::from_ref(batch), Loss::Likelihood, true)?;
        let norm = self.adam.step(&mut self.row, &gradient, rate);
        self.sums = (self.sums.0 + sums.loss, self.sums.1 + norm);
        self.since += 1;
        Ok(())
    }

    fn report(&mut self) -> Result<Report, LearnError> {
        let (loss, norm) = std::mem::take(&mut self.sums);
        Report::from_sums(std::mem::take(&mut self.since), loss, norm)
    }

    fn loss(&mut self, batch: &Batch) -> Result<f64, LearnError> {
        let row = self.adam.average().unwrap_or(&self.row);
        Ok(self.slope(row, std::slice::from_ref(batch), Loss::Likelihood, false)?.0.loss)
    }

    fn weights(&self) -> Result<Weights, LearnError> {
        self.layout.unpack(&self.config, self.adam.average().unwrap_or(&self.row))
    }

    fn check(&self) -> Result<(), LearnError> {
        finite(Numbers::Weights, &self.row)?;
        self.adam.check()
    }
}

impl Reinforce for CpuLearner {
    fn reinforce(
        &mut self,
        batches: &[Batch],
        loss: Loss,
        rate: f64,
        longest: f64,
    ) -> Result<Reinforced, LearnError> {
        let (sums, gradient) = self.slope(&self.row, batches, loss, true)?;
        let told = sums.told(norm(&gradient), longest)?;
        self.adam.step(&mut self.row, &gradient, rate);
        Ok(told)
    }

    fn score(&mut self, batches: &[Batch], loss: Loss) -> Result<Reinforced, LearnError> {
        self.slope(&self.row, batches, loss, false)?.0.told(0.0, f64::INFINITY)
    }

    fn gradient(&mut self, batches: &[Batch], loss: Loss) -> Result<Weights, LearnError> {
        let (_, gradient) = self.slope(&self.row, batches, loss, true)?;
        self.layout.unpack(&self.config, &gradient)
    }

    fn moments(&self) -> Result<Moments, LearnError> {
        Ok(self.adam.moments())
    }

    fn remember(&mut self, moments: &Moments) -> Result<(), LearnError> {
        self.adam.restore(moments)
    }
}
