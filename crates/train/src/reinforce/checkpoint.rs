//! Training checkpoints, written atomically. A damaged one is renamed and never used.

use super::finite::check_tensor_file;
use super::{ResumeError, TrainError};
use crate::{LearnError, Policy};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const PROGRESS: &str = "progress.json";
const BUFFER: &str = "buffer.safetensors";
/// Prefix of the name of a damaged checkpoint.
const DAMAGED_PREFIX: &str = "damaged-";

/// Progress of a run. The order of pairs and all seeds follow from the step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SavedProgress {
    /// Steps taken.
    pub(super) step: u64,
    /// The rollouts of the next step, which are in the run folder. Empty after the last step.
    pub(super) pending: Vec<String>,
}

/// The contents of a checkpoint, apart from the policy.
pub(super) struct Checkpoint {
    pub(super) progress: SavedProgress,
    pub(super) buffer: Vec<u8>,
}

/// Why a checkpoint cannot be used.
pub(super) enum CheckpointError {
    /// It is damaged, for this reason.
    Damaged(String),
    /// It is intact, but training cannot continue from it.
    Unsuitable(ResumeError),
    /// Training cannot start, for example because the checkpoint cannot be read at the moment.
    Fatal(TrainError),
}

impl From<TrainError> for CheckpointError {
    fn from(error: TrainError) -> Self {
        Self::Fatal(error)
    }
}

/// Converts an I/O error of this file.
pub(super) fn io_error(path: &Path) -> impl Fn(std::io::Error) -> TrainError {
    let path = path.to_owned();
    move |error| LearnError::file(&path, error).into()
}

/// Writes a checkpoint and renames it to its final name once it is synced to disk, replacing one of the same step. Keeps
/// the last `keep` checkpoints.
///
/// After the last step at least two are kept: extending a training needs the one before the last, because the rollouts of
/// the next step come from those weights.
pub(super) fn write(
    folder: &Path,
    progress: &SavedProgress,
    policy: &dyn Policy,
    buffer: &[u8],
    keep: usize,
) -> Result<PathBuf, TrainError> {
    let (draft, replaced) = (folder.join("draft"), folder.join("replaced"));
    let path = folder.join(format!("step-{:06}", progress.step));
    remove(&draft)?;
    std::fs::create_dir_all(&draft).map_err(io_error(&draft))?;
    policy.save_checkpoint(&draft)?;
    let text = serde_json::to_vec(progress).unwrap_or_default();
    std::fs::write(draft.join(BUFFER), buffer).map_err(io_error(&draft))?;
    std::fs::write(draft.join(PROGRESS), text).map_err(io_error(&draft))?;
    for entry in std::fs::read_dir(&draft).map_err(io_error(&draft))? {
        let file = entry.map_err(io_error(&draft))?.path();
        std::fs::File::open(&file).and_then(|file| file.sync_all()).map_err(io_error(&file))?;
    }
    remove(&replaced)?;
    if path.exists() {
        std::fs::rename(&path, &replaced).map_err(io_error(&path))?;
    }
    std::fs::rename(&draft, &path).map_err(io_error(&path))?;
    remove(&replaced)?;
    let keep = if progress.pending.is_empty() { keep.max(2) } else { keep.max(1) };
    let before: Vec<(u64, PathBuf)> =
        steps(folder).into_iter().filter(|(step, _)| *step <= progress.step).collect();
    for (_, old) in &before[..before.len().saturating_sub(keep)] {
        remove(old)?;
    }
    Ok(path)
}

/// Removes a folder if it exists.
fn remove(folder: &Path) -> Result<(), TrainError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io_error(folder)(error)),
        _ => Ok(()),
    }
}

/// The checkpoints of a folder, in order of their step.
fn steps(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<(u64, PathBuf)> =
        entries.filter_map(|entry| Some((step_of(&entry.path())?, entry.path()))).collect();
    all.sort();
    all
}

/// The step in the name of a checkpoint.
fn step_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("step-")?.parse().ok()
}

/// The checkpoints of a folder, latest first.
pub(super) fn latest_first(folder: &Path) -> impl Iterator<Item = PathBuf> {
    steps(folder).into_iter().rev().map(|(_, path)| path)
}

/// Reads a checkpoint and checks all of its tensors.
pub(super) fn read(path: &Path) -> Result<Checkpoint, CheckpointError> {
    let progress: SavedProgress = serde_json::from_slice(&read_file(&path.join(PROGRESS))?)
        .map_err(|error| CheckpointError::Damaged(format!("{PROGRESS}: {error}")))?;
    if step_of(path) != Some(progress.step) {
        return Err(CheckpointError::Damaged(format!("{PROGRESS} is of step {}", progress.step)));
    }
    let unreadable = |error: std::io::Error| CheckpointError::Fatal(io_error(path)(error));
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if file.extension().is_some_and(|extension| extension == "safetensors") {
            check_tensor_file(&file)?;
        }
    }
    Ok(Checkpoint { progress, buffer: read_file(&path.join(BUFFER))? })
}

pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, CheckpointError> {
    std::fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            CheckpointError::Damaged(format!("{} is missing", path.file_name().unwrap_or_default().display()))
        }
        _ => CheckpointError::Fatal(io_error(path)(error)),
    })
}

/// Renames a damaged checkpoint; returns its new path.
pub(super) fn set_aside(path: &Path) -> Result<PathBuf, TrainError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let aside = path.with_file_name(format!("{DAMAGED_PREFIX}{name}"));
    remove(&aside)?;
    std::fs::rename(path, &aside).map_err(io_error(path))?;
    Ok(aside)
}
