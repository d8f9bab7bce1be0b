//! Errors of run folders.

use crate::run::DRAWS;
use aske_chat::Hint;
use rusqlite::ErrorCode;
use std::borrow::Cow;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// A run folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The store of calls failed.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
    /// A line other than an incomplete last one cannot be read.
    #[error("{}:{line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A stored reply was made for another request.
    #[error("the stored reply for {key} in {} answers another request", path.display())]
    OtherRequest {
        /// The file.
        path: PathBuf,
        /// The call.
        key: String,
    },
    /// The folder or one of its files cannot be used for another reason, which no caller distinguishes.
    #[error("{message}")]
    Unusable {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: &'static str,
    },
}

impl RunError {
    /// Converts an I/O error of this path.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    /// An error that no caller distinguishes.
    pub fn unusable(message: impl Into<String>, hint: &'static str) -> Self {
        Self::Unusable { message: message.into(), hint }
    }

    /// A folder without a run.
    pub(crate) fn no_run(path: &Path) -> Self {
        Self::unusable(
            format!("{} holds no run", path.display()),
            "name a folder that `aske bench` has written",
        )
    }

    /// A folder that does not exist.
    pub(crate) fn missing(path: &Path) -> Self {
        Self::unusable(
            format!("{} does not exist", path.display()),
            "name a run folder; `ls runs` shows those of this folder",
        )
    }

    /// A path that should be a run folder is something else.
    pub(crate) fn not_a_folder(path: &Path) -> Self {
        Self::unusable(format!("{} is not a folder", path.display()), "name a run folder, not a file")
    }

    /// The folder that is to be written is there already.
    pub(crate) fn exists(path: &Path) -> Self {
        Self::unusable(format!("{} exists already", path.display()), "name a new folder")
    }

    /// `run.toml` cannot be read or written.
    pub(crate) fn manifest(path: &Path, what: impl Display) -> Self {
        let hint = "restore run.toml, or choose another folder with --run";
        Self::unusable(format!("{}: {what}", path.display()), hint)
    }

    /// The store of calls was not written by this program.
    pub(crate) fn database(path: &Path, what: impl Display) -> Self {
        Self::unusable(
            format!("{}: {what}", path.display()),
            "calls.sqlite is damaged or was not written by aske; restore it from a copy, or do not use this folder",
        )
    }

    /// The draws are from other pairs.
    pub fn other_pairs(path: &Path) -> Self {
        Self::unusable(
            format!("{} was drawn from other pairs", path.display()),
            "use the same solvers and --pairs, or choose another folder with --run",
        )
    }

    pub(crate) fn sqlite(path: &Path) -> impl Fn(rusqlite::Error) -> Self + '_ {
        move |source| Self::Sqlite { path: path.to_owned(), source }
    }
}

impl Hint for RunError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Borrowed(match self {
            Self::Io { source, .. } => io_hint(source),
            Self::Sqlite { source, .. } => sqlite_hint(source),
            Self::Line { path, .. } if path.ends_with(DRAWS) => {
                "the order of draws is part of the estimate and cannot be rebuilt; restore draws.jsonl from a copy"
            }
            Self::Line { .. } => {
                "the file was changed by hand or damaged; `aske repair` with this folder sets the line aside and \
                 rebuilds what it can from stored replies"
            }
            Self::OtherRequest { .. } => {
                "the run was made with other settings; choose another folder with --run"
            }
            Self::Unusable { hint, .. } => hint,
        }))
    }
}

/// What to do about a failed read or write.
pub fn io_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "the disk is full; make room and run again"
        }
        io::ErrorKind::PermissionDenied => "check who may read and write this file and its folder",
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only; choose a folder on another one",
        io::ErrorKind::NotFound => {
            "the file or its folder is missing; check the path, and make the folder first"
        }
        io::ErrorKind::NotADirectory => "a part of the path is a file; name a folder",
        io::ErrorKind::IsADirectory => "this is a folder; name a file",
        io::ErrorKind::InvalidData => "the file is not text in UTF-8; restore it from a copy",
        io::ErrorKind::UnexpectedEof => "the file became shorter while it was read; run the command again",
        _ => "check the disk that holds this path; the system's log may say more",
    }
}

/// What to do about a database that fails.
fn sqlite_hint(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full; make room and run again",
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            "the database is damaged; restore it from a copy, or save what is left with `sqlite3 calls.sqlite .recover`"
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            "check who may read and write this file and its folder"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program is using the database; run the command again when it has ended"
        }
        Some(ErrorCode::SystemIoFailure) => {
            "check the disk that holds this path; the system's log may say more"
        }
        _ => "the database was changed by another program, or is damaged; restore it from a copy",
    }
}
