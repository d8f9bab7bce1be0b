//! A run folder, open for writing or read whole.

use crate::jsonl::{Jsonl, read_lines};
use crate::{CallStore, DrawLine, GradeLine, Index, Manifest, Record, RunError, files};
use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// The grader that `aske bench` uses itself.
pub const STANDARD: &str = "standard";

/// How often a taken lock is tried again.
const PATIENCE: u32 = 10;

/// The file of sessions chosen by chance.
pub(crate) const DRAWS: &str = "draws.jsonl";

/// A run folder that this process writes to.
pub struct RunDir {
    path: PathBuf,
    /// Held as long as the folder is open.
    _lock: File,
    calls: CallStore,
    lines: Mutex<Jsonl>,
    index: Index,
    /// Read when they are first asked for.
    records: OnceLock<Vec<Record>>,
    grades: Grades,
}

/// The grades of one grader, open for more.
pub struct Grades {
    before: Vec<GradeLine>,
    lines: Mutex<Jsonl>,
}

impl Grades {
    fn open(folder: &Path, grader: &str) -> Result<Self, RunError> {
        let (lines, before) = Jsonl::open(&grades_path(folder, grader))?;
        Ok(Self { before, lines: Mutex::new(lines) })
    }

    /// The grades that were there when they were opened.
    pub fn before(&self) -> &[GradeLine] {
        &self.before
    }

    /// Adds a grade.
    pub fn add(&self, grade: &GradeLine) -> Result<(), RunError> {
        held(&self.lines).append(grade)
    }
}

/// Sessions chosen by chance, open for more.
pub struct Draws {
    before: Vec<DrawLine>,
    lines: Jsonl,
}

impl Draws {
    /// The draws that were there when they were opened.
    pub fn before(&self) -> &[DrawLine] {
        &self.before
    }

    /// Where they are stored.
    pub fn path(&self) -> &Path {
        self.lines.path()
    }

    /// Adds draws.
    pub fn add(&mut self, draws: &[DrawLine]) -> Result<(), RunError> {
        draws.iter().try_for_each(|draw| self.lines.append(draw))
    }
}

/// The sessions of a folder that were chosen by chance.
pub fn read_draws(folder: &Path) -> Result<Vec<DrawLine>, RunError> {
    Ok(read_lines(&folder.join(DRAWS))?.0)
}

fn held(lines: &Mutex<Jsonl>) -> MutexGuard<'_, Jsonl> {
    lines.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunDir {
    /// Opens the folder, or creates it, for a run of this identity.
    pub fn open(path: &Path, manifest: &Manifest) -> Result<Self, RunError> {
        if std::fs::metadata(path).is_ok_and(|found| !found.is_dir()) {
            return Err(RunError::NotAFolder { path: path.to_owned() });
        }
        std::fs::create_dir_all(path.join("grades")).map_err(RunError::io(path))?;
        let lock = lock(path)?;
        let mut manifest = manifest.clone();
        if let Some(there) = Manifest::read(path)? {
            fits(path, &there, &manifest)?;
            manifest.identity.grow(&there.identity);
            manifest.planned = manifest.planned.max(there.planned);
        }
        manifest.write(path)?;
        Self::locked(path, lock)
    }

    /// Opens a folder that is there, for further work on a run of this identity; `run.toml` stays as it is.
    pub fn reopen(path: &Path, manifest: &Manifest) -> Result<Self, RunError> {
        let there = Manifest::read(path)?.ok_or_else(|| RunError::NoRun { path: path.to_owned() })?;
        fits(path, &there, manifest)?;
        Self::locked(path, lock(path)?)
    }

    fn locked(path: &Path, lock: File) -> Result<Self, RunError> {
        std::fs::create_dir_all(path.join("grades")).map_err(RunError::io(path))?;
        let index = Index::read(path)?;
        let lines = Jsonl::append_to(&path.join("records.jsonl"), index.end())?;
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
            calls: CallStore::open(&path.join("calls.sqlite"))?,
            lines: Mutex::new(lines),
            index,
            records: OnceLock::new(),
            grades: Grades::open(path, STANDARD)?,
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

    /// The names of the records that were there when it was opened.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// The records that were there when it was opened. They are read when they are first asked for, and then kept:
    /// for a few of them, or for their names, use [`RunDir::index`].
    pub fn records(&self) -> Result<&[Record], RunError> {
        if self.records.get().is_none() {
            let _ = self.records.set(self.index.records()?);
        }
        Ok(self.records.get().map_or(&[], Vec::as_slice))
    }

    /// The grades that were there when it was opened.
    pub fn grades(&self) -> &[GradeLine] {
        self.grades.before()
    }

    /// The grades of another grader.
    pub fn other_grades(&self, grader: &str) -> Result<Grades, RunError> {
        Grades::open(&self.path, grader)
    }

    /// The sessions that were chosen by chance, for choosing more.
    pub fn draws(&self) -> Result<Draws, RunError> {
        let (lines, before) = Jsonl::open(&self.path.join(DRAWS))?;
        Ok(Draws { before, lines })
    }

    /// Adds a finished record.
    pub fn add_record(&self, record: &Record) -> Result<(), RunError> {
        held(&self.lines).append(record)
    }

    /// Adds a grade of the run's own grader.
    pub fn add_grade(&self, grade: &GradeLine) -> Result<(), RunError> {
        self.grades.add(grade)
    }
}

/// Refuses a manifest that contradicts the one that is there.
fn fits(path: &Path, there: &Manifest, here: &Manifest) -> Result<(), RunError> {
    let differences = there.identity.differences(&here.identity);
    if differences.is_empty() {
        return Ok(());
    }
    Err(RunError::Configuration { path: path.to_owned(), differences })
}

pub(crate) fn lock(folder: &Path) -> Result<File, RunError> {
    let path = folder.join("lock");
    let file = files::open_with(&path, OpenOptions::new().write(true).create(true).truncate(false))?;
    // A viewer holds the lock for an instant when it looks whether a run is going on.
    let mut tries = 0;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if tries < PATIENCE => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(TryLockError::WouldBlock) => return Err(RunError::Locked { path: folder.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(RunError::io(&path)(error)),
        }
    }
}

/// The grades of a folder's own grader.
pub fn read_grades(folder: &Path) -> Result<Vec<GradeLine>, RunError> {
    Ok(read_lines(&grades_path(folder, STANDARD))?.0)
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

/// All that a run folder holds, but for the replies.
#[derive(Clone, Debug)]
pub struct RunContents {
    /// Where it is.
    pub path: PathBuf,
    /// What the run is.
    pub manifest: Manifest,
    /// Finished records.
    pub records: Vec<Record>,
    /// Grades by grader.
    pub grades: BTreeMap<String, Vec<GradeLine>>,
}

/// Records without those that a later one of the same name takes the place of.
fn latest(records: Vec<Record>) -> Vec<Record> {
    let last: HashMap<String, usize> = records.iter().map(Record::id).zip(0..).collect();
    let kept =
        records.into_iter().enumerate().filter(|(place, record)| last.get(&record.id()) == Some(place));
    kept.map(|(_, record)| record).collect()
}

impl RunContents {
    /// Reads a folder without changing it.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let manifest = Manifest::read(path)?.ok_or_else(|| RunError::NoRun { path: path.to_owned() })?;
        let (records, _) = read_lines(&path.join("records.jsonl"))?;
        let records = latest(records);
        let read = |(name, file): (String, PathBuf)| Ok((name, read_lines(&file)?.0));
        let grades = graders(path)?.into_iter().map(read).collect::<Result<_, RunError>>()?;
        Ok(Self { path: path.to_owned(), manifest, records, grades })
    }

    /// The grades of the run's own grader.
    pub fn own_grades(&self) -> &[GradeLine] {
        self.grades.get(STANDARD).map_or(&[], Vec::as_slice)
    }
}
