//! Errors of downloads.

use aske_chat::Hint;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// Why a model or dataset could not be downloaded.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    /// The catalogue is invalid.
    #[error("invalid catalogue of models: {0}")]
    Catalogue(String),
    /// The hub's address is not an HTTP URL.
    #[error("HF_ENDPOINT is not an http or https URL")]
    InvalidEndpoint,
    /// There is no folder for the cache.
    #[error("no cache folder: neither ASKE_CACHE nor a home folder is set")]
    NoCacheFolder,
    /// The HTTP client cannot be created.
    #[error("cannot create an HTTP client: {0}")]
    Client(#[source] reqwest::Error),
    /// The server could not be reached, or kept failing.
    #[error("{address}: {reason}")]
    Unreachable {
        /// The URL, without secrets.
        address: String,
        /// The last failure.
        reason: String,
    },
    /// The server denied access.
    #[error("{address}: access denied (status {status})")]
    Forbidden {
        /// The URL, without secrets.
        address: String,
        /// The HTTP status.
        status: u16,
        /// The repository on the hub.
        repo: Option<String>,
    },
    /// The server's response cannot be used.
    #[error("{address}: {reason}")]
    BadResponse {
        /// The URL, without secrets.
        address: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A downloaded file has the wrong checksum.
    #[error("{file} has the wrong checksum: {found}, expected {expected}")]
    Checksum {
        /// The file's name.
        file: String,
        /// The expected checksum.
        expected: String,
        /// The file's checksum.
        found: String,
    },
    /// The hub's file differs from the catalogue's.
    #[error("{file} on the hub differs from the catalogue: its checksum is {found}, expected {expected}")]
    HubFileChanged {
        /// The file's name.
        file: String,
        /// The checksum in the catalogue.
        expected: String,
        /// The checksum on the hub.
        found: String,
    },
    /// The download would not fit on the disk.
    #[error(
        "{}: not enough space: {} MB needed, {} MB free",
        path.display(),
        needed.div_ceil(1_000_000),
        free / 1_000_000
    )]
    InsufficientSpace {
        /// The cache.
        path: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The disk became full.
    #[error("{}: the disk is full", path.display())]
    DiskFull {
        /// The file that was being written.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl PullError {
    /// Wraps an I/O error on this file.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io { path, source },
        }
    }

    /// Adds the repository that was being downloaded.
    pub(crate) fn in_repo(self, name: &str) -> Self {
        match self {
            Self::Forbidden { address, status, .. } => {
                Self::Forbidden { address, status, repo: Some(name.to_owned()) }
            }
            other => other,
        }
    }
}

impl Hint for PullError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Catalogue(_) | Self::Client(_) | Self::BadResponse { .. } => return None,
            Self::InvalidEndpoint => "a hub's address looks like https://example.org".into(),
            Self::NoCacheFolder => "set ASKE_CACHE to a folder".into(),
            Self::Unreachable { .. } => {
                "run the same command to resume; HF_ENDPOINT selects another hub".into()
            }
            Self::Forbidden { repo: Some(repo), .. } => format!(
                "accept the licence at https://huggingface.co/{repo}, and set HF_TOKEN to a token that may read it"
            )
            .into(),
            Self::Forbidden { repo: None, .. } => "set HF_TOKEN to a token that may read it".into(),
            Self::HubFileChanged { .. } => "a newer version of this program may know the new file".into(),
            Self::Checksum { .. } => {
                "the file was removed; pull again, and if the error persists the file on the hub is broken".into()
            }
            Self::InsufficientSpace { .. } => {
                "free some space, or set ASKE_CACHE to a folder on a larger disk".into()
            }
            Self::DiskFull { .. } => {
                "the download was removed; free some space, or set ASKE_CACHE to a folder on a larger disk".into()
            }
            Self::Io { .. } => "ASKE_CACHE sets the cache folder".into(),
        })
    }
}
