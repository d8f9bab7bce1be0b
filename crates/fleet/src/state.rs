//! The state file of a running fleet, read by `aske fleet status`, `logs` and `down`.

use crate::error::FleetError;
use crate::process::ProcessIdentity;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// The status of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerStatus {
    /// Waiting for its GPU.
    Queued,
    /// Loading the model.
    Starting,
    /// Serving requests.
    Ready,
    /// Exited, and to be restarted after a pause.
    Waiting,
    /// Failed for good.
    Failed,
}

impl ServerStatus {
    /// The label in `aske fleet status`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Waiting => "restarting",
            Self::Failed => "failed",
        }
    }
}

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerState {
    /// The model's name.
    pub name: String,
    /// The repository on the hub.
    pub hub: String,
    /// The port it listens on.
    pub port: u16,
    /// Its GPUs.
    pub gpus: Vec<usize>,
    /// The leader of its process group.
    pub process: Option<ProcessIdentity>,
    /// Its status.
    #[serde(rename = "condition")]
    pub status: ServerStatus,
    /// The number of restarts.
    pub restarts: u32,
    /// Its log file.
    pub log: PathBuf,
}

/// The state of a running fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetState {
    /// The process that supervises it.
    #[serde(rename = "keeper")]
    pub supervisor: ProcessIdentity,
    /// The value of the environment variable that identifies its processes.
    #[serde(rename = "mark")]
    pub tag: String,
    /// Its servers.
    pub servers: Vec<ServerState>,
}

/// The path of the state file.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join("state.json")
}

impl FleetState {
    /// Reads the state from a fleet's folder; none if no fleet runs from it.
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

    /// Replaces the file atomically.
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
