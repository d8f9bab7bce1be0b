//! The libtorch backend: a checkpoint of transformers that is trained on a GPU, or on the CPU. vLLM samples it.
//!
//! Weights and optimizer state are in single precision. On a GPU, matrices are multiplied in bfloat16; the residual
//! stream and the output head stay in single precision.

mod adamw;
mod block;
mod config;
mod files;
mod gradient;
mod head;
mod lora;
mod network;
mod options;
mod parameter;
mod policy;
mod rope;

use tch::{Device, Tensor, no_grad};

pub use self::options::{Lora, TorchOptions};
pub use self::policy::TorchPolicy;
use crate::LearnError;

/// Whether all values are finite; waits for the device.
fn all_finite(tensor: &Tensor) -> Result<bool, LearnError> {
    Ok(no_grad(|| tensor.f_isfinite()?.f_all()?.f_int64_value(&[]))? != 0)
}

/// Copies a slice to a device.
fn to_device<T: tch::kind::Element>(values: &[T], device: Device) -> Result<Tensor, LearnError> {
    Ok(Tensor::f_from_slice(values)?.f_to_device(device)?)
}

/// Copies a tensor's values to the host; waits for the device.
fn to_vec(tensor: &Tensor) -> Result<Vec<f32>, LearnError> {
    let mut values = vec![0.0; tensor.numel()];
    tensor.f_to_device(Device::Cpu)?.f_contiguous()?.f_copy_data(&mut values, tensor.numel())?;
    Ok(values)
}

/// A size as libtorch counts.
fn as_i64(size: usize) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX)
}

fn parse_device(name: &str) -> Result<Device, LearnError> {
    let unavailable = || LearnError::Device(name.to_owned());
    let index = match (name, name.strip_prefix("cuda:")) {
        ("cpu", _) => return Ok(Device::Cpu),
        ("cuda", _) => 0,
        (_, Some(index)) => index.parse().map_err(|_| unavailable())?,
        _ => return Err(unavailable()),
    };
    let count = usize::try_from(tch::Cuda::device_count()).unwrap_or(0);
    if index < count { Ok(Device::Cuda(index)) } else { Err(unavailable()) }
}
