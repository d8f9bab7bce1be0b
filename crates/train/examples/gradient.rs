//! The gradient of the loss for every weight of a checkpoint, for comparison with PyTorch.
//!
//! `gradient FOLDER DEVICE BATCH.json OUT.safetensors [half]`; `benches/gradient.py` makes the batch and compares.
#![expect(clippy::print_stdout, reason = "a program that prints what it measures")]

use std::error::Error;
use std::path::PathBuf;

use aske_train::{Batch, Loss, TorchOptions, TorchPolicy, Weight};
use safetensors::tensor::{Dtype, TensorView};
use serde::Deserialize;

/// Rows of one length; tokens without an old log-probability were not sampled by the policy.
#[derive(Deserialize)]
struct Given {
    tokens: Vec<Vec<u32>>,
    before: Vec<Vec<Option<f32>>>,
    weights: Vec<Vec<f32>>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, device, batch, out, rest @ ..] = words.as_slice() else {
        return Err("gradient FOLDER DEVICE BATCH.json OUT.safetensors [half]".into());
    };
    let full_precision = !rest.contains(&"half".to_owned());
    let options = TorchOptions { full_precision, ..TorchOptions::default() };
    let policy = TorchPolicy::from_folder(&PathBuf::from(folder), device, options)?;
    let Given { tokens, before, weights } = serde_json::from_slice(&std::fs::read(batch)?)?;
    let batch = Batch {
        lengths: tokens.iter().map(Vec::len).collect(),
        tokens: tokens.concat(),
        weights: weights.concat(),
        old_logprobs: before.concat().into_iter().map(|before| before.unwrap_or(f32::NAN)).collect(),
    };
    let loss = Loss::Cispo { low: 0.75, high: 3.0 };
    println!("loss {:.6}", policy.evaluate(std::slice::from_ref(&batch), loss)?.loss);
    let gradient = policy.gradient(&[batch], loss)?;
    let bytes: Vec<(&str, &[usize], Vec<u8>)> = gradient
        .iter()
        .map(|Weight { name, shape, data }| {
            (name.as_str(), shape.as_slice(), data.iter().flat_map(|value| value.to_le_bytes()).collect())
        })
        .collect();
    let views = bytes
        .iter()
        .map(|(name, shape, data)| Ok((name, TensorView::new(Dtype::F32, shape.to_vec(), data)?)))
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()?;
    safetensors::serialize_to_file(views, None, &PathBuf::from(out))?;
    Ok(())
}
