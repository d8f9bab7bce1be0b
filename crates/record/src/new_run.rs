//! Writes a complete run folder at once, for imports and merges.

use crate::calls::Bulk;
use crate::jsonl::Jsonl;
use crate::run::grades_path;
use crate::{GradeLine, Manifest, Record, RunError, STANDARD, StoredCall};
use aske_session::Slot;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

/// A new run folder. It appears under its name only when it is complete, and a crash or an error leaves nothing there.
pub struct NewRun {
    target: PathBuf,
    records: Jsonl,
    grades: BTreeMap<String, Jsonl>,
    calls: Bulk,
    /// The folder while it is incomplete. Last, so that its files are closed before it is removed.
    pub(crate) staging: StagingFolder,
}

/// An incomplete folder; removed on drop unless it was renamed.
pub(crate) struct StagingFolder(pub(crate) PathBuf);

impl Drop for StagingFolder {
    fn drop(&mut self) {
        // Only a folder of this process.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl NewRun {
    /// Begins a folder beside its final path, at which nothing may exist.
    pub fn begin(target: &Path) -> Result<Self, RunError> {
        if target.exists() {
            return Err(RunError::exists(target));
        }
        let staging = StagingFolder(staging_path(target));
        std::fs::create_dir_all(staging.0.join("grades")).map_err(RunError::io(&staging.0))?;
        let (records, _) = Jsonl::open::<Record>(&staging.0.join("records.jsonl"))?;
        let calls = Bulk::open(&staging.0.join("calls.sqlite"))?;
        let mut run = Self { target: target.to_owned(), records, grades: BTreeMap::new(), calls, staging };
        run.grades(STANDARD)?;
        Ok(run)
    }

    fn grades(&mut self, grader: &str) -> Result<&mut Jsonl, RunError> {
        match self.grades.entry(grader.to_owned()) {
            Entry::Occupied(open) => Ok(open.into_mut()),
            Entry::Vacant(place) => {
                let (lines, _) = Jsonl::open::<GradeLine>(&grades_path(&self.staging.0, grader))?;
                Ok(place.insert(lines))
            }
        }
    }

    /// Adds a record.
    pub fn add_record(&self, record: &Record) -> Result<(), RunError> {
        self.records.append(record)
    }

    /// Adds a grade of a grader.
    pub fn add_grade(&mut self, grader: &str, grade: &GradeLine) -> Result<(), RunError> {
        self.grades(grader)?.append(grade)
    }

    /// Adds a line of `records.jsonl` of another run.
    pub(crate) fn add_record_line(&self, line: Vec<u8>) -> Result<(), RunError> {
        self.records.append_line(line)
    }

    /// Adds the replies of a record.
    pub fn add_calls(&self, record: &str, calls: &[(Slot, StoredCall)]) -> Result<(), RunError> {
        self.calls.add(record, calls)
    }

    /// Writes the manifest, and moves the folder to its final path.
    pub fn finish(self, manifest: &Manifest) -> Result<(), RunError> {
        let Self { target, calls, staging, .. } = self;
        calls.close()?;
        manifest.write(&staging.0)?;
        if target.exists() {
            return Err(RunError::exists(&target));
        }
        std::fs::rename(&staging.0, &target).map_err(RunError::io(&target))
    }
}

/// Where a folder is written before it is complete.
fn staging_path(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Identity, Replies, read_grades};
    use aske_chat::{Reply, Usd};
    use aske_session::{Grade, GradingRules, Outcome, Role};
    use std::time::Duration;

    fn call(text: &str) -> StoredCall {
        StoredCall {
            model: "m".into(),
            request: [0; 16],
            reply: Reply::text(text),
            latency: Duration::ZERO,
            attempts: 1,
            cost: Usd(0.0),
        }
    }

    fn calls(turns: u32, text: &str) -> Vec<(Slot, StoredCall)> {
        (1..=turns).map(|turn| (Slot::first(turn, Role::Asker), call(text))).collect()
    }

    #[test]
    fn a_folder_is_there_only_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("run");
        let entries = || std::fs::read_dir(folder.path()).unwrap().count();
        let run = NewRun::begin(&target).unwrap();
        run.add_calls("a:b/0", &calls(1, "lost")).unwrap();
        drop(run);
        assert_eq!(entries(), 0, "nothing is left of a folder that was given up");

        let mut run = NewRun::begin(&target).unwrap();
        run.add_calls("a:b/0", &calls(3000, "kept")).unwrap();
        let grade = Grade::new(Outcome::TooEasy, None);
        let line = GradeLine::new("a:b/0".to_owned(), grade, GradingRules::default());
        run.add_grade("other", &line).unwrap();
        assert!(!target.exists());
        run.finish(&Manifest::new("0", Identity::default(), toml::Table::new())).unwrap();
        assert_eq!(entries(), 1);
        assert_eq!(Replies::open(&target).unwrap().of_record("a:b/0").unwrap().len(), 3000);
        assert_eq!(read_grades(&target, "other").unwrap(), [line]);
        assert!(NewRun::begin(&target).is_err_and(|error| error.to_string().ends_with("exists already")));
    }
}
