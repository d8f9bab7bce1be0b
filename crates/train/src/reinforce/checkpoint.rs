//! Checkpoints: whole or not there.

use super::TrainError;
use crate::{LearnError, Policy};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const PROGRESS: &str = "progress.json";
const BUFFER: &str = "buffer.safetensors";

/// How far a run is. The order of pairs and every seed follow from the step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Steps taken.
    pub(super) step: u64,
    /// The rollouts that the next step learns from; they are in the run folder.
    pub(super) pending: Vec<String>,
}

/// The error of a file.
pub(super) fn wrong(path: &Path) -> impl Fn(std::io::Error) -> TrainError {
    let path = path.to_owned();
    move |error| LearnError::file(&path, &error).into()
}

/// Writes a checkpoint under its final name only when all of it is on the disk; older ones than the last `keep` go.
pub(super) fn write(
    folder: &Path,
    progress: &Progress,
    policy: &dyn Policy,
    buffer: &[u8],
    keep: usize,
) -> Result<(), TrainError> {
    let draft = folder.join("draft");
    let path = folder.join(format!("step-{:06}", progress.step));
    if path.exists() {
        return Ok(());
    }
    if draft.exists() {
        std::fs::remove_dir_all(&draft).map_err(wrong(&draft))?;
    }
    std::fs::create_dir_all(&draft).map_err(wrong(&draft))?;
    policy.keep(&draft)?;
    let text = serde_json::to_vec(progress).unwrap_or_default();
    std::fs::write(draft.join(BUFFER), buffer).map_err(wrong(&draft))?;
    std::fs::write(draft.join(PROGRESS), text).map_err(wrong(&draft))?;
    for entry in std::fs::read_dir(&draft).map_err(wrong(&draft))? {
        let file = entry.map_err(wrong(&draft))?.path();
        std::fs::File::open(&file).and_then(|file| file.sync_all()).map_err(wrong(&file))?;
    }
    std::fs::rename(&draft, &path).map_err(wrong(&path))?;
    let all = steps(folder);
    for (_, old) in &all[..all.len().saturating_sub(keep.max(1))] {
        std::fs::remove_dir_all(old).map_err(wrong(old))?;
    }
    Ok(())
}

/// The checkpoints of a folder, the latest last.
fn steps(folder: &Path) -> Vec<(u64, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let step = |path: PathBuf| {
        let step = path.file_name()?.to_str()?.strip_prefix("step-")?.parse().ok()?;
        Some((step, path))
    };
    let mut all: Vec<(u64, PathBuf)> = entries.filter_map(|entry| step(entry.path())).collect();
    all.sort();
    all
}

/// The latest checkpoint of a folder.
pub fn latest(folder: &Path) -> Option<PathBuf> {
    steps(folder).pop().map(|(_, path)| path)
}

/// What a checkpoint holds beside the policy: how far it was, and the buffer.
pub(super) fn read(path: &Path) -> Result<(Progress, Vec<u8>), TrainError> {
    let text = std::fs::read(path.join(PROGRESS)).map_err(wrong(&path.join(PROGRESS)))?;
    let progress = serde_json::from_slice(&text)
        .map_err(|error| LearnError::File { path: path.join(PROGRESS), message: error.to_string() })?;
    Ok((progress, std::fs::read(path.join(BUFFER)).map_err(wrong(&path.join(BUFFER)))?))
}
