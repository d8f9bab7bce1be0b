//! Reads and writes safetensors files as libtorch tensors.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use rayon::prelude::*;
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensors};
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

/// Writes tensors in their own precision, bfloat16 or single, several at a time.
///
/// Copying from a GPU and writing to memory are each limited by one core, and a training step waits for both.
pub(super) fn write_tensors(
    path: &Path,
    tensors: Vec<(String, Tensor)>,
    metadata: &[(&str, String)],
) -> Result<(), LearnError> {
    let metadata = metadata.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let (mut described, mut placed) = (Vec::new(), Vec::new());
    let mut end = 0;
    for (name, tensor) in tensors {
        let (dtype, width) = match tensor.f_kind()? {
            Kind::BFloat16 => (Dtype::BF16, 2),
            Kind::Float => (Dtype::F32, 4),
            other => return Err(LearnError::file(path, format!("tensor `{name}` holds {other:?}"))),
        };
        let shape = tensor.size().into_iter().map(|size| usize::try_from(size).unwrap_or(0)).collect();
        let begin = end;
        end += tensor.numel() * width;
        described.push((name, TensorInfo { dtype, shape, data_offsets: (begin, end) }));
        placed.push((begin..end, tensor));
    }
    let header = Metadata::new(Some(metadata), described).map_err(|error| LearnError::file(path, error))?;
    let mut header = serde_json::to_vec(&header).map_err(|error| LearnError::file(path, error))?;
    // The data begins at a multiple of eight bytes.
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut start = (header.len() as u64).to_le_bytes().to_vec();
    start.extend(header);
    File::create(path)
        .and_then(|file| file.set_len((start.len() + end) as u64))
        .and_then(|()| write_at(path, 0, &start))
        .map_err(|error| LearnError::file(path, error))?;
    placed.into_par_iter().try_for_each(|(range, tensor)| {
        let tensor = tensor.f_to_device(Device::Cpu)?.f_contiguous()?;
        let mut bytes = vec![0; range.len()];
        tensor.f_copy_data_u8(&mut bytes, tensor.numel())?;
        write_at(path, start.len() + range.start, &bytes).map_err(|error| LearnError::file(path, error))
    })
}

/// Writes a part of a file, through a handle of its own: a handle has one position.
fn write_at(path: &Path, offset: usize, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::options().write(true).open(path)?;
    file.seek(SeekFrom::Start(offset as u64))?;
    file.write_all(bytes)
}
