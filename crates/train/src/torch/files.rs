//! Reads and writes safetensors files as libtorch tensors.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use safetensors::{Dtype, SafeTensors, View};
use serde_json::Value;
use tch::{Device, Kind, Tensor};

use super::as_i64;
use crate::LearnError;
use crate::files::{WEIGHTS, read};

const INDEX: &str = "model.safetensors.index.json";

/// Reads a JSON file.
pub(super) fn read_json(path: &Path) -> Result<Value, LearnError> {
    serde_json::from_slice(&read(path)?).map_err(|error| LearnError::file(path, error))
}

/// Reads all weights of a checkpoint, sharded or not, to a device, in their own precision.
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
        // The index is untrusted: it may only name files in the same folder.
        if name.contains(['/', '\\']) || name.starts_with('.') {
            return Err(LearnError::file(&index, format!("`{name}` is not a file name")));
        }
        all.extend(read_tensors(&folder.join(name), device)?.0);
    }
    Ok(all)
}

/// Tensors and metadata by name.
pub(super) type Contents = (HashMap<String, Tensor>, HashMap<String, String>);

/// Reads the tensors and the metadata of one file.
pub(super) fn read_tensors(path: &Path, device: Device) -> Result<Contents, LearnError> {
    let bytes = read(path)?;
    let (_, header) = SafeTensors::read_metadata(&bytes).map_err(|error| LearnError::file(path, error))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|error| LearnError::file(path, error))?;
    let mut all = HashMap::new();
    for (name, view) in file.tensors() {
        let kind = match view.dtype() {
            Dtype::F32 => Kind::Float,
            Dtype::BF16 => Kind::BFloat16,
            Dtype::F16 => Kind::Half,
            other => {
                let message =
                    format!("tensor `{name}` holds {other:?}; only F16, BF16 and F32 are supported");
                return Err(LearnError::file(path, message));
            }
        };
        let shape: Vec<i64> = view.shape().iter().map(|size| as_i64(*size)).collect();
        all.insert(name, Tensor::f_from_data_size(view.data(), &shape, kind)?.f_to_device(device)?);
    }
    Ok((all, header.metadata().clone().unwrap_or_default()))
}

/// Writes tensors in bfloat16 or single precision.
pub(super) fn write_tensors(
    path: &Path,
    tensors: &[(String, Tensor)],
    bf16: bool,
    metadata: &[(&str, String)],
) -> Result<(), LearnError> {
    let failed = RefCell::new(None);
    let views = tensors.iter().map(|(name, tensor)| {
        let shape = tensor.size().into_iter().map(|size| usize::try_from(size).unwrap_or(0)).collect();
        (name.as_str(), HostCopy { tensor, shape, bf16, failed: &failed })
    });
    let metadata: HashMap<String, String> =
        metadata.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    safetensors::serialize_to_file(views, Some(metadata), path)
        .map_err(|error| LearnError::file(path, error))?;
    failed.into_inner().map_or(Ok(()), Err)
}

/// A tensor that is copied to the host when it is written, so that the host holds one at a time.
struct HostCopy<'t> {
    tensor: &'t Tensor,
    shape: Vec<usize>,
    bf16: bool,
    /// The first error: [`View::data`] cannot return one.
    failed: &'t RefCell<Option<LearnError>>,
}

impl HostCopy<'_> {
    fn copy(&self) -> Result<Vec<u8>, LearnError> {
        let kind = if self.bf16 { Kind::BFloat16 } else { Kind::Float };
        let tensor = self.tensor.f_to_kind(kind)?.f_to_device(Device::Cpu)?.f_contiguous()?;
        let mut bytes = vec![0; self.data_len()];
        tensor.f_copy_data_u8(&mut bytes, tensor.numel())?;
        Ok(bytes)
    }
}

impl View for HostCopy<'_> {
    fn dtype(&self) -> Dtype {
        if self.bf16 { Dtype::BF16 } else { Dtype::F32 }
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        let bytes = self.copy().unwrap_or_else(|error| {
            self.failed.borrow_mut().get_or_insert(error);
            vec![0; self.data_len()]
        });
        Cow::Owned(bytes)
    }

    fn data_len(&self) -> usize {
        self.tensor.numel() * if self.bf16 { 2 } else { 4 }
    }
}
