//! Reading and writing checkpoint files, shared by both backends.

use std::collections::HashMap;
use std::path::Path;

use serde::Serialize;

use crate::LearnError;

/// Weights of a checkpoint.
pub(crate) const WEIGHTS: &str = "model.safetensors";
/// Optimizer state of a checkpoint.
pub(crate) const OPTIMIZER: &str = "optimizer.safetensors";
/// Metadata key of the optimizer state: the number of steps taken.
pub(crate) const STEPS: &str = "steps";

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, LearnError> {
    std::fs::read(path).map_err(|error| LearnError::file(path, error))
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), LearnError> {
    std::fs::write(path, bytes).map_err(|error| LearnError::file(path, error))
}

pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), LearnError> {
    let bytes = serde_json::to_vec_pretty(value).map_err(|error| LearnError::file(path, error))?;
    write(path, &bytes)
}

/// The number of steps in the metadata of an optimizer state.
pub(crate) fn optimizer_steps(metadata: Option<&HashMap<String, String>>) -> Result<u64, LearnError> {
    let steps = metadata.and_then(|metadata| metadata.get(STEPS)?.parse().ok());
    steps.ok_or_else(|| LearnError::Weights("the optimizer state lacks its number of steps".to_owned()))
}
