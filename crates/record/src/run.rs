//! A run folder, open for writing or read whole.

use crate::jsonl::{Jsonl, read_lines};
use crate::{CallStore, GradeLine, Manifest, Record, RunError};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The grader that `aske bench` uses itself.
pub const STANDARD: &str = "standard";

/// A run folder that this process writes to.
pub struct RunDir {
    path: PathBuf,
    /// Held as long as the folder is open.
    _lock: File,
    calls: CallStore,
    lines: Mutex<Lines>,
    records: Vec<Record>,
    grades: Vec<GradeLine>,
}

struct Lines {
    records: Jsonl,
    grades: Jsonl,
}

impl RunDir {
    /// Opens the folder, or creates it, for a run of this identity.
    pub fn open(path: &Path, manifest: &Manifest) -> Result<Self, RunError> {
        std::fs::create_dir_all(path.join("grades")).map_err(RunError::io(path))?;
        let lock = lock(path)?;
        let mut manifest = manifest.clone();
        if let Some(there) = Manifest::read(path)? {
            let differences = there.identity.differences(&manifest.identity);
            if !differences.is_empty() {
                return Err(RunError::Configuration { path: path.to_owned(), differences });
            }
            manifest.identity.grow(&there.identity);
        }
        manifest.write(path)?;
        let (records_file, records) = Jsonl::open(&path.join("records.jsonl"))?;
        let (grades_file, grades) = Jsonl::open(&grades_path(path, STANDARD))?;
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
            calls: CallStore::open(&path.join("calls.sqlite"))?,
            lines: Mutex::new(Lines { records: records_file, grades: grades_file }),
            records,
            grades,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its replies.
    pub fn calls(&self) -> &CallStore {
        &self.calls
    }

    /// The records that were there when it was opened.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The grades that were there when it was opened.
    pub fn grades(&self) -> &[GradeLine] {
        &self.grades
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a finished record.
    pub fn add_record(&self, record: &Record) -> Result<(), RunError> {
        self.lines().records.append(record)
    }

    /// Adds a grade of the run's own grader.
    pub fn add_grade(&self, grade: &GradeLine) -> Result<(), RunError> {
        self.lines().grades.append(grade)
    }
}

fn lock(folder: &Path) -> Result<File, RunError> {
    let path = folder.join("lock");
    let file = File::create(&path).map_err(RunError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(RunError::Locked { path: folder.to_owned() }),
        Err(TryLockError::Error(error)) => Err(RunError::io(&path)(error)),
    }
}

/// The file of a grader's grades.
pub(crate) fn grades_path(folder: &Path, grader: &str) -> PathBuf {
    folder.join("grades").join(format!("{grader}.jsonl"))
}

/// All that a run folder holds, but for the replies.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Where it is.
    pub path: PathBuf,
    /// What the run is.
    pub manifest: Manifest,
    /// Finished records.
    pub records: Vec<Record>,
    /// Grades by grader.
    pub grades: BTreeMap<String, Vec<GradeLine>>,
}

impl Contents {
    /// Reads a folder without changing it.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let manifest = Manifest::read(path)?.ok_or_else(|| RunError::NoRun { path: path.to_owned() })?;
        let (records, _) = read_lines(&path.join("records.jsonl"))?;
        let mut grades = BTreeMap::new();
        let folder = path.join("grades");
        for entry in std::fs::read_dir(&folder).map_err(RunError::io(&folder))? {
            let file = entry.map_err(RunError::io(&folder))?.path();
            let name = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
            if file.extension().is_some_and(|ending| ending == "jsonl") {
                grades.insert(name, read_lines(&file)?.0);
            }
        }
        Ok(Self { path: path.to_owned(), manifest, records, grades })
    }

    /// The grades of the run's own grader.
    pub fn own_grades(&self) -> &[GradeLine] {
        self.grades.get(STANDARD).map_or(&[], Vec::as_slice)
    }
}
