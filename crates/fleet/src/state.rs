//! What runs, in a file, so that another process can ask and end it.

use crate::error::FleetError;
use crate::process::Identity;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// How a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// It waits for its GPU.
    Queued,
    /// It loads.
    Starting,
    /// It answers.
    Ready,
    /// It has ended and is started again after a while.
    Waiting,
    /// It is given up.
    Failed,
}

impl Condition {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Waiting => "restarting",
            Self::Failed => "failed",
        }
    }
}

/// A server that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerState {
    /// The model's name.
    pub name: String,
    /// Its name on the hub.
    pub hub: String,
    /// Where it listens.
    pub port: u16,
    /// Its GPUs.
    pub gpus: Vec<usize>,
    /// The leader of its processes.
    pub process: Option<Identity>,
    /// How it is.
    pub condition: Condition,
    /// How often it was started again.
    pub restarts: u32,
    /// Its log.
    pub log: PathBuf,
}

/// A fleet that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// The process that keeps it.
    pub keeper: Identity,
    /// Marks its processes.
    pub mark: String,
    /// Its servers.
    pub servers: Vec<ServerState>,
}

/// The file in a fleet's folder.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join("state.json")
}

impl State {
    /// What runs from this folder; nothing where no fleet does.
    pub fn read(folder: &Path) -> Result<Option<Self>, FleetError> {
        let path = path(folder);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(FleetError::File { path, source }),
        };
        serde_json::from_slice(&text).map(Some).map_err(|error| FleetError::File {
            path,
            source: io::Error::new(io::ErrorKind::InvalidData, error),
        })
    }

    /// Replaces the file in one piece.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), FleetError> {
        let (path, fresh) = (path(folder), folder.join("state.json.new"));
        let write = || {
            std::fs::create_dir_all(folder)?;
            std::fs::write(&fresh, serde_json::to_vec_pretty(self)?)?;
            std::fs::rename(&fresh, &path)
        };
        write().map_err(|source| FleetError::File { path: path.clone(), source })
    }

    pub(crate) fn remove(folder: &Path) {
        let _ = std::fs::remove_file(path(folder));
    }
}
