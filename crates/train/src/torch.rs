//! A learner on libtorch: on a GPU, or on the processor to compare.

mod adam;
mod network;
mod policy;
mod reinforce;

use aske_model::LlamaConfig;
use tch::{Device, Kind, Reduction, Tensor, no_grad};

use self::adam::Adam;
use self::network::{Network, whole};
pub use self::policy::{Lora, TorchOptions, TorchPolicy};
use crate::batch::Targets;
use crate::layout::Layout;
use crate::learner::Numbers;
use crate::{Batch, LearnError, Learner, Loss, Options, Report, Weights};

/// A network that learns through libtorch, with single-precision weights and, on a GPU, bfloat16 products.
pub struct TorchLearner {
    config: LlamaConfig,
    layout: Layout,
    network: Network,
    device: Device,
    /// Every weight; the leaf of the graph.
    row: Tensor,
    adam: Adam,
    /// Loss and gradient norm, summed on the device since the last report.
    sums: Tensor,
    since: u64,
}

impl TorchLearner {
    /// A learner on the device of this name: `cpu`, `cuda` or `cuda:N`.
    pub fn new(
        config: &LlamaConfig,
        weights: &Weights,
        options: Options,
        device: &str,
    ) -> Result<Self, LearnError> {
        weights.check(config)?;
        let layout = Layout::new(config)?;
        let device = device_named(device)?;
        let kind = if device.is_cuda() && !options.exact { Kind::BFloat16 } else { Kind::Float };
        let network = Network::new(config, &layout, kind, device)?;
        let row = Tensor::f_from_slice(&layout.pack(weights))?.f_to_device(device)?;
        let adam = Adam::new(&row, layout.norms, options)?;
        let row = row.f_set_requires_grad(true)?;
        let sums = Tensor::f_zeros([2], (Kind::Float, device))?;
        Ok(Self { config: config.clone(), layout, network, device, row, adam, sums, since: 0 })
    }

    /// The logits of the predictions of a batch under these weights, and the tokens to predict, on the device.
    fn logits(&self, row: &Tensor, batch: &Batch, targets: &Targets) -> Result<(Tensor, Tensor), LearnError> {
        let (size, count) = (whole(batch.size()), whole(targets.places.len()));
        let mut numbers: Vec<i64> = batch.tokens.iter().map(|&token| i64::from(token)).collect();
        numbers.extend(&targets.places);
        numbers.extend(&targets.tokens);
        let numbers =
            self.sent(Tensor::f_from_slice(&numbers)?)?.f_split_with_sizes([size, count, count], 0)?;
        let tokens = numbers[0].f_view([whole(batch.rows), whole(batch.length)])?;
        let logits = self.network.logits(row, &tokens, &numbers[1])?.f_to_kind(Kind::Float)?;
        Ok((logits, numbers[2].shallow_clone()))
    }

    fn targets(&self, batch: &Batch, loss: Loss) -> Result<Targets, LearnError> {
        batch.targets(self.config.vocab_size, self.config.max_position_embeddings, loss)
    }

    /// The loss of a batch as a tensor on the device, under these weights.
    fn forward(&self, row: &Tensor, batch: &Batch) -> Result<Tensor, LearnError> {
        let targets = self.targets(batch, Loss::Likelihood)?;
        let (logits, tokens) = self.logits(row, batch, &targets)?;
        let shares = self.sent(Tensor::f_from_slice(&targets.weights)?)?;
        let each = logits.f_cross_entropy_loss(&tokens, None::<Tensor>, Reduction::None, -100, 0.0)?;
        Ok(each.f_dot(&shares)?)
    }

    /// Copies to the device.
    fn sent(&self, tensor: Tensor) -> Result<Tensor, LearnError> {
        if !self.device.is_cuda() {
            return Ok(tensor);
        }
        let kind = tensor.f_kind()?;
        Ok(tensor.f_to_device_(self.device, kind, true, false)?)
    }
}

impl Learner for TorchLearner {
    fn step(&mut self, batch: &Batch, rate: f64) -> Result<(), LearnError> {
        let loss = self.forward(&self.row, batch)?;
        let gradients = Tensor::f_run_backward(&[&loss], &[&self.row], false, false)?;
        let [gradient] = gradients.try_into().map_err(|_| LearnError::Library {
            library: "libtorch",
            message: "no gradient for the weights".to_owned(),
        })?;
        let _still = tch::no_grad_guard();
        let norm = self.adam.step(&mut self.row, gradient, rate)?;
        let _ = self.sums.f_add_(&Tensor::f_stack(&[&loss.f_detach()?, &norm], 0)?)?;
        self.since += 1;
        Ok(())
    }

    fn report(&mut self) -> Result<Report, LearnError> {
        let mut sums = [0.0_f32; 2];
        self.sums.f_to_device(Device::Cpu)?.f_copy_data(&mut sums, 2)?;
        let _ = self.sums.f_zero_()?;
        let [loss, norm] = sums.map(f64::from);
        Report::from_sums(std::mem::take(&mut self.since), loss, norm)
    }

    fn loss(&mut self, batch: &Batch) -> Result<f64, LearnError> {
        let row = self.adam.average().unwrap_or(&self.row);
        Ok(no_grad(|| self.forward(row, batch))?.f_double_value(&[])?)
    }

    fn weights(&self) -> Result<Weights, LearnError> {
        let row = self.adam.average().unwrap_or(&self.row);
        let mut numbers = vec![0.0_f32; self.layout.size];
        row.f_detach()?.f_to_device(Device::Cpu)?.f_copy_data(&mut numbers, self.layout.size)?;
        self.layout.unpack(&self.config, &numbers)
    }

    fn check(&self) -> Result<(), LearnError> {
        Numbers::Weights.finite(all_finite(&self.row)?)?;
        self.adam.check()
    }
}

/// Whether every number of a tensor is finite; waits for the device.
fn all_finite(tensor: &Tensor) -> Result<bool, LearnError> {
    Ok(no_grad(|| tensor.f_isfinite()?.f_all()?.f_int64_value(&[]))? != 0)
}

fn device_named(name: &str) -> Result<Device, LearnError> {
    let unusable = || LearnError::Device(name.to_owned());
    let device = match (name, name.strip_prefix("cuda:")) {
        ("cpu", _) => return Ok(Device::Cpu),
        ("cuda", _) => 0,
        (_, Some(index)) => index.parse().map_err(|_| unusable())?,
        _ => return Err(unusable()),
    };
    let there = usize::try_from(tch::Cuda::device_count()).unwrap_or(0);
    if device < there { Ok(Device::Cuda(device)) } else { Err(unusable()) }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Network, TorchLearner};
    use crate::{Batch, Learner, Options, Weights};

    /// What a GPU does, on the processor: products in bfloat16, everything else in single precision.
    #[test]
    #[ignore = "some virtual machines announce AMX and cannot run it: set ONEDNN_MAX_CPU_ISA=AVX2"]
    fn half_precision_learns_nearly_the_same() {
        let text = include_str!("../tests/learning/tiny.json");
        let config: aske_model::LlamaConfig = serde_json::from_str(text).unwrap();
        let start = Weights::random(&config, 3);
        let new = || TorchLearner::new(&config, &start, Options::default(), "cpu").unwrap();
        let (mut full, mut half) = (new(), new());
        half.network = Network::new(&config, &half.layout, Kind::BFloat16, half.device).unwrap();
        let tokens: Vec<u32> = (0..64).map(|at| at * at % 11).collect();
        let batch = Batch { rows: 4, length: 16, tokens, weights: vec![1.0; 64], before: Vec::new() };
        for _ in 0..30 {
            full.step(&batch, 3e-3).unwrap();
            half.step(&batch, 3e-3).unwrap();
        }
        let (full, half) = (full.report().unwrap(), half.report().unwrap());
        assert!(full.loss < 2.0, "{full:?}");
        // Eight bits of precision: a part in 256, and a little for thirty steps of drift.
        assert!((full.loss / half.loss - 1.0).abs() < 0.02, "{full:?} {half:?}");
        assert!((full.gradient_norm / half.gradient_norm - 1.0).abs() < 0.05, "{full:?} {half:?}");
    }
}
