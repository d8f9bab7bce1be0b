//! The gradient of the loss by every weight of a checkpoint, for comparison with PyTorch's.
//!
//! `gradient FOLDER DEVICE BATCH.json OUT.safetensors [half]`; `benches/gradient.py` makes the batch and compares.
#![expect(clippy::print_stdout, reason = "a program that prints what it measures")]

use std::error::Error;
use std::path::PathBuf;

use aske_train::{Batch, Loss, Options, TorchOptions, TorchPolicy, Weight};
use safetensors::tensor::{Dtype, TensorView};
use serde::Deserialize;

/// Rows of one length. A token without a likelihood of before is not the policy's own.
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
    let exact = !rest.contains(&"half".to_owned());
    let optimiser = Options { exact, ..Options::default() };
    let options = TorchOptions { optimiser, ..TorchOptions::default() };
    let policy = TorchPolicy::from_folder(&PathBuf::from(folder), device, options)?;
    let Given { tokens, before, weights } = serde_json::from_slice(&std::fs::read(batch)?)?;
    let batch = Batch {
        rows: tokens.len(),
        length: tokens.first().map_or(0, Vec::len),
        tokens: tokens.concat(),
        weights: weights.concat(),
        before: before.concat().into_iter().map(|before| before.unwrap_or(f32::NAN)).collect(),
    };
    let loss = Loss::Cispo { low: 0.75, high: 3.0 };
    println!("loss {:.6}", policy.score(std::slice::from_ref(&batch), loss)?.loss);
    let bytes: Vec<(String, Vec<usize>, Vec<u8>)> = policy
        .gradient(&[batch], loss)?
        .into_iter()
        .map(|Weight { name, shape, data }| {
            (name, shape, data.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>())
        })
        .collect();
    let views = bytes
        .iter()
        .map(|(name, shape, data)| Ok((name, TensorView::new(Dtype::F32, shape.clone(), data)?)))
        .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()?;
    safetensors::serialize_to_file(views, None, &PathBuf::from(out))?;
    Ok(())
}
