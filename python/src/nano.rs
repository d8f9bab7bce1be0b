//! The bundled networks as files.

use aske_nano::{networks, portable_files};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Writes a bundled network as a folder that transformers and vLLM load; returns the folder.
#[pyfunction]
#[pyo3(signature = (name, folder))]
pub(crate) fn export_nano(name: &str, folder: PathBuf) -> PyResult<PathBuf> {
    let files = portable_files(name).map_err(|error| {
        let names = networks().collect::<Vec<_>>().join(", ");
        PyValueError::new_err(format!("{error}\nhint: use one of {names}"))
    })?;
    let write = || {
        std::fs::create_dir_all(&folder)?;
        files.iter().try_for_each(|(file, bytes)| std::fs::write(folder.join(file), bytes))
    };
    write().map_err(|error| PyOSError::new_err(format!("{}: {error}", folder.display())))?;
    Ok(folder)
}
