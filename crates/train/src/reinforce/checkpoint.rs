//! Checkpoints: whole or not there. One that is damaged is set aside and never used.

use super::TrainError;
use super::tensors::{Flaw, examine};
use crate::{LearnError, Policy};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const PROGRESS: &str = "progress.json";
const BUFFER: &str = "buffer.safetensors";
/// Goes in front of the name of a checkpoint that is damaged.
const DAMAGED: &str = "damaged-";

/// How far a run is. The order of pairs and every seed follow from the step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Steps taken.
    pub(super) step: u64,
    /// The rollouts that the next step learns from; they are in the run folder. None after the last step.
    pub(super) pending: Vec<String>,
}

/// What a checkpoint holds beside the policy.
pub(super) struct Checkpoint {
    pub(super) progress: Progress,
    pub(super) buffer: Vec<u8>,
}

/// Why a checkpoint cannot be used.
pub(super) enum Unusable {
    /// It is damaged, for this reason.
    Damaged(String),
    /// It cannot be read at the moment; it may be whole.
    Unreadable(TrainError),
}

/// The error of a file.
pub(super) fn wrong(path: &Path) -> impl Fn(std::io::Error) -> TrainError {
    let path = path.to_owned();
    move |error| LearnError::file(&path, &error).into()
}

/// Writes a checkpoint under its final name only when all of it is on the disk; it replaces one of the same step. Of
/// the steps so far, the last `keep` stay.
///
/// After the last step at least two stay: from the last one alone a training cannot be extended, because the rollouts
/// of the next step come from the weights before it.
pub(super) fn write(
    folder: &Path,
    progress: &Progress,
    policy: &dyn Policy,
    buffer: &[u8],
    keep: usize,
) -> Result<PathBuf, TrainError> {
    let (draft, replaced) = (folder.join("draft"), folder.join("replaced"));
    let path = folder.join(format!("step-{:06}", progress.step));
    remove(&draft)?;
    std::fs::create_dir_all(&draft).map_err(wrong(&draft))?;
    policy.keep(&draft)?;
    let text = serde_json::to_vec(progress).unwrap_or_default();
    std::fs::write(draft.join(BUFFER), buffer).map_err(wrong(&draft))?;
    std::fs::write(draft.join(PROGRESS), text).map_err(wrong(&draft))?;
    for entry in std::fs::read_dir(&draft).map_err(wrong(&draft))? {
        let file = entry.map_err(wrong(&draft))?.path();
        std::fs::File::open(&file).and_then(|file| file.sync_all()).map_err(wrong(&file))?;
    }
    remove(&replaced)?;
    if path.exists() {
        std::fs::rename(&path, &replaced).map_err(wrong(&path))?;
    }
    std::fs::rename(&draft, &path).map_err(wrong(&path))?;
    remove(&replaced)?;
    let keep = if progress.pending.is_empty() { keep.max(2) } else { keep.max(1) };
    let before: Vec<(u64, PathBuf)> =
        steps(folder).into_iter().filter(|(step, _)| *step <= progress.step).collect();
    for (_, old) in &before[..before.len().saturating_sub(keep)] {
        remove(old)?;
    }
    Ok(path)
}

/// Removes a folder, where there is one.
fn remove(folder: &Path) -> Result<(), TrainError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(wrong(folder)(error)),
        _ => Ok(()),
    }
}

/// The checkpoints of a folder, the latest last.
fn steps(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<(u64, PathBuf)> =
        entries.filter_map(|entry| Some((step_of(&entry.path())?, entry.path()))).collect();
    all.sort();
    all
}

/// The step that the name of a checkpoint tells.
fn step_of(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("step-")?.parse().ok()
}

/// The checkpoints of a folder, the latest first.
pub(super) fn latest_first(folder: &Path) -> impl Iterator<Item = PathBuf> {
    steps(folder).into_iter().rev().map(|(_, path)| path)
}

/// Reads a checkpoint; all of its tensors are examined.
pub(super) fn read(path: &Path) -> Result<Checkpoint, Unusable> {
    let progress: Progress = serde_json::from_slice(&read_file(&path.join(PROGRESS))?)
        .map_err(|error| Unusable::Damaged(format!("{PROGRESS}: {error}")))?;
    if step_of(path) != Some(progress.step) {
        return Err(Unusable::Damaged(format!("{PROGRESS} is of step {}", progress.step)));
    }
    let unreadable = |error: std::io::Error| Unusable::Unreadable(wrong(path)(error));
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if file.extension().is_some_and(|ending| ending == "safetensors") {
            examine(&file).map_err(|flaw| match flaw {
                Flaw::File(error) => Unusable::Unreadable(wrong(&file)(error)),
                Flaw::Damaged(reason) => Unusable::Damaged(reason),
            })?;
        }
    }
    Ok(Checkpoint { progress, buffer: read_file(&path.join(BUFFER))? })
}

fn read_file(path: &Path) -> Result<Vec<u8>, Unusable> {
    std::fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            Unusable::Damaged(format!("{} is missing", path.file_name().unwrap_or_default().display()))
        }
        _ => Unusable::Unreadable(wrong(path)(error)),
    })
}

/// Renames a damaged checkpoint, so that nothing takes it for a whole one; gives its new name.
pub(super) fn set_aside(path: &Path) -> Result<PathBuf, TrainError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let aside = path.with_file_name(format!("{DAMAGED}{name}"));
    remove(&aside)?;
    std::fs::rename(path, &aside).map_err(wrong(path))?;
    Ok(aside)
}
