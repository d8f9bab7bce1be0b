//! The size of a model's weights, from the headers of its safetensors files.

use super::{FolderError, MAX_TEXT, read_text};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The size of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Weights {
    /// Numbers in the files. Those of quantised weights may hold several parameters each.
    pub(crate) parameters: u64,
    /// Bytes in the memory of a server, which loads single precision in 16 bits.
    pub(crate) bytes: u64,
}

const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
/// The endings of weights in other formats, whose size is not read.
const OTHERS: [&str; 4] = ["bin", "pt", "pth", "gguf"];

/// The header of a safetensors file.
#[derive(Deserialize)]
struct Header {
    #[serde(rename = "__metadata__")]
    _metadata: Option<IgnoredAny>,
    #[serde(flatten)]
    tensors: BTreeMap<String, Tensor>,
}

#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    data_offsets: [u64; 2],
}

/// Names the file of every tensor.
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

impl Weights {
    /// The weights of a folder; none if they are in another format.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, FolderError> {
        let files = files(folder)?;
        if files.is_empty() {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let in_other_format = entries
                .map(|entry| entry.path())
                .any(|path| path.extension().is_some_and(|end| OTHERS.iter().any(|other| end == *other)));
            return if in_other_format {
                Ok(None)
            } else {
                Err(error(folder, format!("there are no weights, such as {SINGLE}")))
            };
        }
        let mut all = Self::default();
        for file in files {
            let Self { parameters, bytes } = Self::of_file(&folder.join(file))?;
            (all.parameters, all.bytes) =
                (all.parameters.saturating_add(parameters), all.bytes.saturating_add(bytes));
        }
        Ok(Some(all))
    }

    fn of_file(path: &Path) -> Result<Self, FolderError> {
        let (header, data) = header(path).map_err(|message| error(path, message))?;
        let mut all = Self::default();
        for (name, Tensor { dtype, data_offsets: [begin, end] }) in header.tensors {
            if begin > end || end > data {
                let message = format!("tensor `{name}` ends beyond the file, which may be incomplete");
                return Err(error(path, message));
            }
            let stored = end - begin;
            let (parameters, bytes) = match dtype.as_str() {
                "F64" | "I64" | "U64" => (stored / 8, stored / 4),
                "F32" => (stored / 4, stored / 2),
                "F16" | "BF16" => (stored / 2, stored),
                "I32" | "U32" => (stored / 4, stored),
                _ => (stored, stored),
            };
            // Tensors lie one after another: their sum is bounded by the file unless they overlap.
            (all.parameters, all.bytes) =
                (all.parameters.saturating_add(parameters), all.bytes.saturating_add(bytes));
        }
        Ok(all)
    }
}

fn error(path: &Path, message: String) -> FolderError {
    FolderError { path: path.to_owned(), message }
}

/// The names of the safetensors files that vLLM loads: those of the index, or all.
fn files(folder: &Path) -> Result<BTreeSet<String>, FolderError> {
    let path = folder.join(INDEX);
    if path.exists() {
        let index: Index =
            serde_json::from_slice(&read_text(&path)?).map_err(|cause| error(&path, cause.to_string()))?;
        let files: BTreeSet<String> = index.weight_map.into_values().collect();
        let is_inside = |name: &&String| Path::new(name).file_name().is_some_and(|own| own == name.as_str());
        if let Some(outside) = files.iter().find(|name| !is_inside(name)) {
            return Err(error(&path, format!("`{outside}` is not a file of this folder")));
        }
        return Ok(files);
    }
    let entries = std::fs::read_dir(folder).map_err(|cause| error(folder, cause.to_string()))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let all: BTreeSet<String> = names.filter(|name| name.ends_with(".safetensors")).collect();
    // A second copy of the same weights, in Mistral's own format.
    let own: BTreeSet<String> =
        all.iter().filter(|name| !name.starts_with("consolidated")).cloned().collect();
    Ok(if own.is_empty() { all } else { own })
}

/// The header of a file, and the number of bytes that follow it.
fn header(path: &Path) -> Result<(Header, u64), String> {
    let length = std::fs::metadata(path).map_err(|cause| cause.to_string())?;
    if !length.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut file = File::open(path).map_err(|cause| cause.to_string())?;
    let mut size = [0; 8];
    let not_valid = "not a safetensors file; it may be a placeholder for a download";
    file.read_exact(&mut size).map_err(|_| not_valid.to_owned())?;
    let size = u64::from_le_bytes(size);
    let data = length.len().checked_sub(8).and_then(|rest| rest.checked_sub(size));
    let Some(data) = data.filter(|_| size <= MAX_TEXT) else { return Err(not_valid.to_owned()) };
    let mut text = Vec::new();
    file.take(size).read_to_end(&mut text).map_err(|cause| cause.to_string())?;
    let header = serde_json::from_slice(&text).map_err(|cause| format!("{not_valid}: {cause}"))?;
    Ok((header, data))
}
