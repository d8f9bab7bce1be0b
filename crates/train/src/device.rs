//! A learner by the name of its device.

use aske_model::LlamaConfig;

use crate::{CpuLearner, LearnError, Options, Reinforce, Weights};

/// A learner that starts from these weights: on the processor (`cpu`), or through libtorch (`cuda`, `cuda:N`) where the
/// program was built for it.
pub fn learner(
    config: &LlamaConfig,
    weights: &Weights,
    options: Options,
    device: &str,
) -> Result<Box<dyn Reinforce + Send>, LearnError> {
    match device {
        "cpu" => Ok(Box::new(CpuLearner::new(config, weights, options)?)),
        #[cfg(feature = "torch")]
        _ => Ok(Box::new(crate::TorchLearner::new(config, weights, options, device)?)),
        #[cfg(not(feature = "torch"))]
        _ => Err(LearnError::Device(device.to_owned())),
    }
}
