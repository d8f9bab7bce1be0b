//! Errors of run folders.

use aske_chat::Hint;
use rusqlite::ErrorCode;
use std::borrow::Cow;
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
    /// The store of calls was not written by this program.
    #[error("{}: {what}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A path that should be a file is something else.
    #[error("{} is {what}, not a file", path.display())]
    NotAFile {
        /// Where.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A path that should be a run folder is something else.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// Where.
        path: PathBuf,
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
    /// The draws of an adaptive run cannot be read.
    #[error("{}:{line}: {what}", path.display())]
    Draws {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// `run.toml` cannot be read.
    #[error("{}: {what}", path.display())]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// There is no run in this folder.
    #[error("{} holds no run", path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// Another version of the format.
    #[error("{} was written by aske {written_by} in format {found}; this is format {expected}", path.display())]
    Version {
        /// The folder.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// Ours.
        expected: u32,
        /// The program that wrote it.
        written_by: String,
    },
    /// The folder belongs to another configuration.
    #[error("{} belongs to another configuration:\n{}", path.display(), differences.join("\n"))]
    Configuration {
        /// The folder.
        path: PathBuf,
        /// `key: there → here`, one a line.
        differences: Vec<String>,
    },
    /// Another process is writing to the folder.
    #[error("{} is in use by another aske", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// A stored reply was made for another request.
    #[error("the stored reply for {key} in {} answers another request", path.display())]
    OtherRequest {
        /// The file.
        path: PathBuf,
        /// The call.
        key: String,
    },
    /// There are no grades of this name.
    #[error("{} has no grades of `{name}`{}", path.display(), known(graders))]
    NoGrader {
        /// The folder.
        path: PathBuf,
        /// The grader.
        name: String,
        /// Those that are there.
        graders: Vec<String>,
    },
    /// The draws are from other pairs.
    #[error("{} was drawn from other pairs", path.display())]
    OtherPairs {
        /// The file.
        path: PathBuf,
    },
    /// Two folders hold different records of one name.
    #[error("{record} was finished in both {} and {}, differently", first.display(), second.display())]
    Conflict {
        /// The record.
        record: String,
        /// One folder.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// Grades that were made by two versions of the rules.
    #[error("the grades `{grader}` of {} were made by other rules than those of the first folder", path.display())]
    Rules {
        /// The folder.
        path: PathBuf,
        /// The grader.
        grader: String,
    },
    /// The folder that is to be written is there already.
    #[error("{} exists already", path.display())]
    Exists {
        /// The folder.
        path: PathBuf,
    },
}

impl RunError {
    /// What the system said of this path.
    pub fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
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
            Self::Database { .. } => {
                "calls.sqlite is damaged or was not written by aske; restore it from a copy, or do not use this folder"
            }
            Self::NotAFile { .. } => "a run folder holds plain files only; remove it, or name another folder",
            Self::NotAFolder { .. } => "name a run folder, not a file",
            Self::Line { .. } => {
                "the file was changed by hand or damaged; `aske repair` with this folder sets the line aside and \
                 rebuilds what it can from stored replies"
            }
            Self::Draws { .. } => {
                "the order of draws is part of the estimate and cannot be rebuilt; restore draws.jsonl from a copy"
            }
            Self::Manifest { .. } => "restore run.toml, or choose another folder with --run",
            Self::NoRun { .. } => "name a folder that `aske bench` has written",
            Self::Version { .. } => "use the aske that wrote it, or choose another folder with --run",
            Self::Configuration { .. } => {
                "restore those values, or choose another folder with --run; \
                 samples, solvers, addresses, limits, prices and budgets may change"
            }
            Self::Locked { .. } => "wait for it to end, or choose another folder with --run",
            Self::OtherRequest { .. } => {
                "the run was made with other settings; choose another folder with --run"
            }
            Self::NoGrader { .. } => "`aske regrade --check MODEL` makes grades of that name",
            Self::OtherPairs { .. } => {
                "use the same solvers and --pairs, or choose another folder with --run"
            }
            Self::Conflict { .. } => "run each session in one place only: use --shard",
            Self::Rules { .. } => {
                "run `aske bench --run FOLDER`, or `aske regrade` for other grades, on the folders of the earlier version; \
                 their sessions are graded again from stored replies, and nobody but the equivalence checker is asked"
            }
            Self::Exists { .. } => "name a new folder",
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

fn known(graders: &[String]) -> String {
    if graders.is_empty() { String::new() } else { format!("; there are {}", graders.join(", ")) }
}
