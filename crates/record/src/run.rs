//! A run folder, open for writing.

use crate::difference::listed;
use crate::jsonl::{Jsonl, read_lines};
use crate::{CallStore, DrawLine, GradeLine, Index, Manifest, Record, RunError, files};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// The name of the grader of `aske bench`.
pub const STANDARD: &str = "standard";

/// How often a busy lock is retried.
const LOCK_RETRIES: u32 = 10;

/// The file of the draws of adaptive runs.
pub(crate) const DRAWS: &str = "draws.jsonl";

/// A run folder that is open for writing.
pub struct RunDir {
    path: PathBuf,
    /// Held as long as the folder is open.
    _lock: File,
    calls: CallStore,
    lines: Jsonl,
    index: Index,
    /// Read on first use.
    records: OnceLock<Vec<Record>>,
    grades: Vec<GradeLine>,
    grade_lines: Jsonl,
}

/// Reads the draws of a folder.
pub fn read_draws(folder: &Path) -> Result<Vec<DrawLine>, RunError> {
    Ok(read_lines(&folder.join(DRAWS))?.0)
}

impl RunDir {
    /// Opens the folder, or creates it, for a run of this identity.
    pub fn open(path: &Path, manifest: &Manifest) -> Result<Self, RunError> {
        if std::fs::metadata(path).is_ok_and(|found| !found.is_dir()) {
            return Err(RunError::not_a_folder(path));
        }
        std::fs::create_dir_all(path.join("grades")).map_err(RunError::io(path))?;
        let lock = lock(path)?;
        let mut manifest = manifest.clone();
        if let Some(there) = Manifest::read(path)? {
            check_identity(path, &there, &manifest)?;
            manifest.identity.add_missing(&there.identity);
            manifest.planned = manifest.planned.max(there.planned);
        }
        manifest.write(path)?;
        Self::locked(path, lock)
    }

    /// Opens an existing folder of this identity for further work; `run.toml` is not changed.
    pub fn reopen(path: &Path, manifest: &Manifest) -> Result<Self, RunError> {
        let there = Manifest::require(path)?;
        check_identity(path, &there, manifest)?;
        Self::locked(path, lock(path)?)
    }

    fn locked(path: &Path, lock: File) -> Result<Self, RunError> {
        std::fs::create_dir_all(path.join("grades")).map_err(RunError::io(path))?;
        let index = Index::read(path)?;
        let lines = Jsonl::append_to(&path.join("records.jsonl"), index.end)?;
        let (grade_lines, grades) = Jsonl::open(&grades_path(path, STANDARD))?;
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
            calls: CallStore::open(&path.join("calls.sqlite"))?,
            lines,
            index,
            records: OnceLock::new(),
            grades,
            grade_lines,
        })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its replies.
    pub fn calls(&self) -> &CallStore {
        &self.calls
    }

    /// The index of records at the time of opening.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The records at the time of opening, read on first use and kept in memory. For a few of them, or for their names, use
    /// [`RunDir::index`].
    pub fn records(&self) -> Result<&[Record], RunError> {
        if self.records.get().is_none() {
            let _ = self.records.set(self.index.records()?);
        }
        Ok(self.records.get().map_or(&[], Vec::as_slice))
    }

    /// The standard grades at the time of opening.
    pub fn grades(&self) -> &[GradeLine] {
        &self.grades
    }

    /// Opens the grades of another grader, and reads those that are there.
    pub fn other_grades(&self, grader: &str) -> Result<(Jsonl, Vec<GradeLine>), RunError> {
        Jsonl::open(&grades_path(&self.path, grader))
    }

    /// Opens the draws of an adaptive run, and reads those that are there.
    pub fn draws(&self) -> Result<(Jsonl, Vec<DrawLine>), RunError> {
        Jsonl::open(&self.path.join(DRAWS))
    }

    /// Adds a finished record.
    pub fn add_record(&self, record: &Record) -> Result<(), RunError> {
        self.lines.append(record)
    }

    /// Adds a grade of the standard grader.
    pub fn add_grade(&self, grade: &GradeLine) -> Result<(), RunError> {
        self.grade_lines.append(grade)
    }
}

/// Checks that a manifest has the identity of the stored one.
fn check_identity(path: &Path, there: &Manifest, here: &Manifest) -> Result<(), RunError> {
    if there.kind() != here.kind() {
        return Err(RunError::unusable(
            format!("{} holds {}, and this is {}", path.display(), there.kind(), here.kind()),
            "choose another folder with --run",
        ));
    }
    let differences = there.identity.differences(&here.identity);
    if differences.is_empty() {
        return Ok(());
    }
    Err(RunError::unusable(
        format!(
            "{} holds another experiment:{}",
            path.display(),
            listed(&differences, ["in the folder", "now"])
        ),
        "to continue that run, restore these values; for a new one, choose another folder with --run; \
         samples, solvers, addresses, limits, prices and budgets may change",
    ))
}

pub(crate) fn lock(folder: &Path) -> Result<File, RunError> {
    let path = folder.join("lock");
    let file = files::open_with(&path, OpenOptions::new().write(true).create(true).truncate(false))?;
    // A viewer takes the lock for an instant to check whether a run is active.
    let mut tries = 0;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if tries < LOCK_RETRIES => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(RunError::unusable(
                    format!("{} is in use by another aske", folder.display()),
                    "wait for it to end, or choose another folder with --run",
                ));
            }
            Err(TryLockError::Error(error)) => return Err(RunError::io(&path)(error)),
        }
    }
}

/// Reads the grades of a grader.
pub fn read_grades(folder: &Path, grader: &str) -> Result<Vec<GradeLine>, RunError> {
    Ok(read_lines(&grades_path(folder, grader))?.0)
}

/// Reads the records of a run, in the order of the file. Of two records of one name, the later one counts.
pub fn read_records(folder: &Path) -> Result<Vec<Record>, RunError> {
    Manifest::require(folder)?;
    Index::read(folder)?.records()
}

/// The file of a grader's grades.
pub(crate) fn grades_path(folder: &Path, grader: &str) -> PathBuf {
    folder.join("grades").join(format!("{grader}.jsonl"))
}

/// Every grader of a folder, with the file of its grades.
pub(crate) fn graders(folder: &Path) -> Result<BTreeMap<String, PathBuf>, RunError> {
    let grades = folder.join("grades");
    let entries = match std::fs::read_dir(&grades) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(RunError::io(&grades)(error)),
    };
    let mut found = BTreeMap::new();
    for entry in entries {
        let file = entry.map_err(RunError::io(&grades))?.path();
        let name = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if file.extension().is_some_and(|ending| ending == "jsonl") {
            found.insert(name, file);
        }
    }
    Ok(found)
}
