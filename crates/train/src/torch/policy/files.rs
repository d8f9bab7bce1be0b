//! Tensors to and from safetensors files.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde_json::Value;
use tch::{Device, Kind, Tensor};

use crate::LearnError;
use crate::torch::network::whole;

pub(super) const WEIGHTS: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";

/// Reads a whole file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, LearnError> {
    std::fs::read(path).map_err(|error| LearnError::file(path, &error))
}

/// Reads a JSON file.
pub(super) fn read_json(path: &Path) -> Result<Value, LearnError> {
    serde_json::from_slice(&read(path)?).map_err(|error| LearnError::file(path, &error))
}

/// Writes a whole file.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), LearnError> {
    std::fs::write(path, bytes).map_err(|error| LearnError::file(path, &error))
}

/// All weights of a checkpoint, in one file or in several, on a device, each in its own precision.
pub(super) fn read_weights(folder: &Path, device: Device) -> Result<HashMap<String, Tensor>, LearnError> {
    let index = folder.join(INDEX);
    let names: BTreeSet<String> = if folder.join(WEIGHTS).is_file() || !index.is_file() {
        [WEIGHTS.to_owned()].into()
    } else {
        let map = read_json(&index)?;
        let files = map["weight_map"].as_object().into_iter().flatten();
        files.filter_map(|(_, file)| file.as_str().map(str::to_owned)).collect()
    };
    let mut all = HashMap::new();
    for name in names {
        // A file of anyone: it may name its neighbours and nothing else.
        if name.contains(['/', '\\']) || name.starts_with('.') {
            return Err(LearnError::File { path: index, message: format!("`{name}` is no name of a file") });
        }
        all.extend(read_tensors(&folder.join(name), device)?.0);
    }
    Ok(all)
}

/// Tensors by name, and text by name.
pub(super) type Contents = (HashMap<String, Tensor>, HashMap<String, String>);

/// The tensors of one file on a device, and the text that it carries.
pub(super) fn read_tensors(path: &Path, device: Device) -> Result<Contents, LearnError> {
    let bytes = read(path)?;
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|error| LearnError::file(path, &error))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|error| LearnError::file(path, &error))?;
    let mut all = HashMap::new();
    for (name, view) in file.tensors() {
        let kind = match view.dtype() {
            Dtype::F32 => Kind::Float,
            Dtype::BF16 => Kind::BFloat16,
            Dtype::F16 => Kind::Half,
            other => {
                let message = format!("tensor `{name}` holds {other:?}; only F16, BF16 and F32 are read");
                return Err(LearnError::File { path: path.to_owned(), message });
            }
        };
        let shape: Vec<i64> = view.shape().iter().map(|size| whole(*size)).collect();
        all.insert(name, Tensor::f_from_data_size(view.data(), &shape, kind)?.f_to_device(device)?);
    }
    Ok((all, header.metadata().clone().unwrap_or_default()))
}

/// Writes tensors in bfloat16 or in single precision.
pub(super) fn write_tensors(
    path: &Path,
    tensors: &[(String, Tensor)],
    half: bool,
    text: &[(&str, String)],
) -> Result<(), LearnError> {
    let (kind, dtype) = if half { (Kind::BFloat16, Dtype::BF16) } else { (Kind::Float, Dtype::F32) };
    let mut all = Vec::new();
    for (name, tensor) in tensors {
        let tensor = tensor.f_to_kind(kind)?.f_to_device(Device::Cpu)?.f_contiguous()?;
        let mut bytes = vec![0; tensor.numel() * kind.elt_size_in_bytes()];
        tensor.f_copy_data_u8(&mut bytes, tensor.numel())?;
        let shape = tensor.size().into_iter().map(|size| usize::try_from(size).unwrap_or(0)).collect();
        all.push((name, shape, bytes));
    }
    let mut views = Vec::new();
    for (name, shape, bytes) in &all {
        let shape: &Vec<usize> = shape;
        let view =
            TensorView::new(dtype, shape.clone(), bytes).map_err(|error| LearnError::file(path, &error))?;
        views.push((name.as_str(), view));
    }
    let text: HashMap<String, String> =
        text.iter().map(|(name, text)| ((*name).to_owned(), text.clone())).collect();
    safetensors::serialize_to_file(views, Some(text), path).map_err(|error| LearnError::file(path, &error))
}
