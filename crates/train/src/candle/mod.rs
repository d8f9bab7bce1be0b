//! A learner on candle: on the processor, with nothing to install.

mod network;

use aske_model::LlamaConfig;
use candle_core::{Device, Tensor, Var};

use self::network::{Named, Network};
use crate::adam::Adam;
use crate::layout::Layout;
use crate::{Batch, LearnError, Learner, Options, Report, Weights};

/// A network that learns on the processor, in single precision.
pub struct CandleLearner {
    config: LlamaConfig,
    layout: Layout,
    network: Network,
    /// Every weight.
    row: Vec<f32>,
    adam: Adam,
    sums: (f64, f64),
    since: u64,
}

impl CandleLearner {
    /// A learner that starts from these weights.
    pub fn new(config: &LlamaConfig, weights: &Weights, options: Options) -> Result<Self, LearnError> {
        weights.check(config)?;
        let layout = Layout::new(config)?;
        let row = layout.pack(weights);
        let adam = Adam::new(&row, layout.norms, options);
        let network = Network::new(config)?;
        Ok(Self { config: config.clone(), layout, network, row, adam, sums: (0.0, 0.0), since: 0 })
    }

    /// The loss of a batch under the weights being trained, and its gradient by each of them.
    fn slope(&self, batch: &Batch) -> Result<(f64, Vec<f32>), LearnError> {
        let targets = batch.targets(self.config.vocab_size, self.config.max_position_embeddings)?;
        let mut variables = Vec::new();
        for (name, tensor, place) in self.tensors(&self.row)? {
            variables.push((name, Var::from_tensor(&tensor)?, place));
        }
        let named = variables.iter().map(|(name, variable, _)| (*name, variable.as_tensor().clone()));
        let loss = self.network.loss(&Named(named.collect()), &batch.tokens, batch.rows, &targets)?;
        let gradients = loss.backward()?;
        let mut slope = vec![0.0; self.layout.size];
        for (_, variable, place) in &variables {
            // A weight that no prediction depends on has no gradient.
            if let Some(gradient) = gradients.get(variable) {
                let numbers: Vec<f32> = gradient.flatten_all()?.to_vec1()?;
                slope[*place..place + numbers.len()].copy_from_slice(&numbers);
            }
        }
        Ok((f64::from(loss.to_scalar::<f32>()?), slope))
    }

    /// Name, tensor and place of every weight of a row.
    fn tensors(&self, row: &[f32]) -> Result<Vec<(&str, Tensor, usize)>, LearnError> {
        let each = self.layout.iter().map(|(name, shape, place)| {
            let size = shape.iter().product::<usize>();
            Ok((name, Tensor::from_slice(&row[place..place + size], shape, &Device::Cpu)?, place))
        });
        each.collect()
    }
}

impl Learner for CandleLearner {
    fn step(&mut self, batch: &Batch, rate: f64) -> Result<(), LearnError> {
        let (loss, slope) = self.slope(batch)?;
        let norm = self.adam.step(&mut self.row, &slope, rate);
        self.sums = (self.sums.0 + loss, self.sums.1 + norm);
        self.since += 1;
        Ok(())
    }

    fn report(&mut self) -> Result<Report, LearnError> {
        let (loss, norm) = std::mem::take(&mut self.sums);
        Report::from_sums(std::mem::take(&mut self.since), loss, norm)
    }

    fn loss(&mut self, batch: &Batch) -> Result<f64, LearnError> {
        let targets = batch.targets(self.config.vocab_size, self.config.max_position_embeddings)?;
        let tensors = self.tensors(self.adam.average().unwrap_or(&self.row))?;
        let named = tensors.into_iter().map(|(name, tensor, _)| (name, tensor));
        let loss = self.network.loss(&Named(named.collect()), &batch.tokens, batch.rows, &targets)?;
        Ok(f64::from(loss.to_scalar::<f32>()?))
    }

    fn weights(&self) -> Result<Weights, LearnError> {
        self.layout.unpack(&self.config, self.adam.average().unwrap_or(&self.row))
    }
}
