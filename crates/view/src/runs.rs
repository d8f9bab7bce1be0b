//! The runs in memory: read at startup, and refreshed while a page follows them.

use crate::flags::Duplicates;
use aske_chat::Hint;
use aske_evidence::Run;
use aske_http::{ApiError, WorkerError};
use aske_record::RunError;
use bytes::Bytes;
use parking_lot::RwLock;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, watch};
use tokio::task::spawn_blocking;

/// The minimum time between two reads of the folders.
const REFRESH_INTERVAL: Duration = Duration::from_millis(500);
/// The minimum time between two checks of the folders' locks.
const LOCK_INTERVAL: Duration = Duration::from_secs(2);

/// The state of a run besides its contents.
pub(crate) struct RunStatus {
    pub(crate) duplicates: Duplicates,
    /// Another process is writing to it.
    pub(crate) writing: bool,
    /// Why new records could not be read.
    pub(crate) error: Option<String>,
    /// It could not be read at all, and the run is an empty placeholder.
    unread: bool,
}

/// One run with its status.
#[derive(Clone, Copy)]
pub(crate) struct LoadedRun<'s> {
    pub(crate) run: &'s Run,
    pub(crate) status: &'s RunStatus,
}

/// All runs.
pub(crate) struct LoadedRuns {
    pub(crate) runs: Vec<Run>,
    status: Vec<RunStatus>,
    /// How often they have changed.
    pub(crate) version: u64,
}

impl LoadedRuns {
    /// All runs with their status.
    pub(crate) fn all(&self) -> impl Iterator<Item = LoadedRun<'_>> {
        self.runs.iter().zip(&self.status).map(|(run, status)| LoadedRun { run, status })
    }

    /// The run with this index.
    pub(crate) fn get(&self, index: usize) -> Result<LoadedRun<'_>, ApiError> {
        let count = self.runs.len();
        let found = self.all().nth(index);
        found.ok_or_else(|| ApiError::bad_request(format!("there is no run {index}: {count} are shown")))
    }
}

/// When the folders and their locks were last read.
struct LastRefresh {
    folders: Instant,
    locks: Instant,
}

/// The runs, shared by all requests.
pub(crate) struct RunStore {
    runs: RwLock<LoadedRuns>,
    last_refresh: Mutex<LastRefresh>,
    /// The evidence as JSON, with the version it was computed from.
    pub(crate) evidence: Mutex<Option<(u64, Bytes)>>,
    /// Becomes true when the viewer ends.
    pub(crate) ending: watch::Receiver<bool>,
}

impl RunStore {
    /// Reads all folders.
    pub(crate) fn read(paths: &[PathBuf], ending: watch::Receiver<bool>) -> Result<Self, RunError> {
        let (mut runs, mut status) = (Vec::new(), Vec::new());
        let mut last_error = None;
        for path in paths {
            match Run::read(path, None) {
                Ok(run) => {
                    status.push(RunStatus::new(&run));
                    runs.push(run);
                }
                Err(error) => {
                    runs.push(Run::unread(path));
                    status.push(RunStatus::unread(&error));
                    last_error = Some(error);
                }
            }
        }
        // One readable run is enough; the others are shown with their errors.
        if let Some(error) = last_error.filter(|_| status.iter().all(|one: &RunStatus| one.unread)) {
            return Err(error);
        }
        let now = Instant::now();
        Ok(Self {
            runs: RwLock::new(LoadedRuns { runs, status, version: 1 }),
            last_refresh: Mutex::new(LastRefresh { folders: now, locks: now }),
            evidence: Mutex::new(None),
            ending,
        })
    }

    /// Runs `read` on the runs, on a blocking thread.
    pub(crate) async fn with_blocking<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&LoadedRuns) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let store = Arc::clone(self);
        spawn_blocking(move || store.with(read)).await.map_err(WorkerError::from)?
    }

    /// Runs `read` on the runs, on this thread.
    pub(crate) fn with<T>(
        &self,
        read: impl FnOnce(&LoadedRuns) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        read(&self.runs.read())
    }

    /// Reads what was added to the folders, unless that was done just now; returns the version.
    pub(crate) async fn refresh_if_due(self: &Arc<Self>) -> Result<u64, ApiError> {
        let mut last = self.last_refresh.lock().await;
        let now = Instant::now();
        if now.duration_since(last.folders) < REFRESH_INTERVAL {
            drop(last);
            return self.with_blocking(|runs| Ok(runs.version)).await;
        }
        last.folders = now;
        let locks = now.duration_since(last.locks) >= LOCK_INTERVAL;
        if locks {
            last.locks = now;
        }
        let store = Arc::clone(self);
        Ok(spawn_blocking(move || store.refresh(locks)).await.map_err(WorkerError::from)?)
    }

    /// Refreshes all runs, unless a long reader such as the evidence is active: a writer that waited for it would block
    /// all other readers.
    fn refresh(&self, locks: bool) -> u64 {
        let Some(mut loaded) = self.runs.try_write() else { return self.runs.read().version };
        let LoadedRuns { runs, status, version } = &mut *loaded;
        let changed = runs.iter_mut().zip(status).map(|(run, status)| status.refresh(run, locks));
        *version += u64::from(changed.filter(|changed| *changed).count() > 0);
        *version
    }
}

impl RunStatus {
    fn new(run: &Run) -> Self {
        Self { duplicates: Duplicates::of(run), writing: in_use(&run.path), error: None, unread: false }
    }

    fn unread(error: &RunError) -> Self {
        let error = Some(describe(error));
        Self { duplicates: Duplicates::default(), writing: false, error, unread: true }
    }

    fn refresh(&mut self, run: &mut Run, locks: bool) -> bool {
        let read = if self.unread || is_shorter(run) {
            Run::read(&run.path, None).map(|again| *run = again).map(|()| true)
        } else {
            run.refresh()
        };
        let (grown, error) = match read {
            Ok(grown) => (grown, None),
            Err(error) => (false, Some(describe(&error))),
        };
        if grown {
            self.unread = false;
            self.duplicates = Duplicates::of(run);
        }
        let writing = if locks || grown { in_use(&run.path) } else { self.writing };
        let changed = grown || writing != self.writing || error != self.error;
        (self.writing, self.error) = (writing, error);
        changed
    }
}

/// An error with its hint, on one line.
fn describe(error: &RunError) -> String {
    Hint::hint(error).map_or_else(|| error.to_string(), |hint| format!("{error} ({hint})"))
}

/// Whether the file is shorter than what was read of it, because the folder was rewritten.
fn is_shorter(run: &Run) -> bool {
    let end = run.sessions.last().map_or(0, |last| last.place.offset + last.place.length as u64);
    std::fs::metadata(run.path.join("records.jsonl")).is_ok_and(|file| file.len() < end)
}

/// Whether another process has locked the folder. The shared lock used for the check is released at once.
fn in_use(folder: &Path) -> bool {
    let lock = folder.join("lock");
    // Opening a FIFO would block.
    if !std::fs::metadata(&lock).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let Ok(file) = File::open(lock) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// The folder's name, or its full path if it has none.
pub(crate) fn name(folder: &Path) -> String {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let name = whole.file_name().unwrap_or(whole.as_os_str());
    name.to_string_lossy().into_owned()
}
