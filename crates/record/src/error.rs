//! What can be wrong with a run folder.

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
        /// What the system said.
        source: io::Error,
    },
    /// The store of calls failed.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// What the library said.
        source: rusqlite::Error,
    },
    /// A line cannot be read, and it is not the torn last one.
    #[error("{}:{line}: {what}", path.display())]
    Line {
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
    /// Sessions were chosen by chance among other pairs.
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
    /// Grades that were made by two rules of asking the equivalence checker.
    #[error("the grades `{grader}` of {} were made by another rule of asking the equivalence checker", path.display())]
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

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Io { .. } | Self::Sqlite { .. } => "is the disk full, or the folder not writable?",
            Self::Line { .. } => "the file was changed by hand or damaged; restore it or remove that line",
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
                 their sessions are graded again, and nobody but the checker is asked"
            }
            Self::Exists { .. } => "name a new folder",
        })
    }
}

fn known(graders: &[String]) -> String {
    if graders.is_empty() { String::new() } else { format!("; there are {}", graders.join(", ")) }
}
