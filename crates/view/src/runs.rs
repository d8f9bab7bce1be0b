//! The runs in memory: read at the start, kept up to date while someone looks.

use crate::flags::Repeated;
use crate::problem::Problem;
use aske_evidence::Run;
use aske_record::RunError;
use bytes::Bytes;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, TryLockError as Poison};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, watch};

/// The least time between two looks at the folders.
const PAUSE: Duration = Duration::from_millis(500);
/// The least time between two looks at who is writing.
const LOCK_PAUSE: Duration = Duration::from_secs(2);

/// What is known about a run besides itself.
pub(crate) struct About {
    pub(crate) repeated: Repeated,
    /// Another process is writing to it.
    pub(crate) writing: bool,
    /// Why it could not be read further.
    pub(crate) trouble: Option<String>,
    /// It could not be read at all; the run is an empty one in its place.
    unread: bool,
}

/// One run.
#[derive(Clone, Copy)]
pub(crate) struct Shelf<'s> {
    pub(crate) run: &'s Run,
    pub(crate) about: &'s About,
}

/// All runs, and the number of times they have changed.
pub(crate) struct Shelves {
    pub(crate) runs: Vec<Run>,
    about: Vec<About>,
    pub(crate) version: u64,
}

impl Shelves {
    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = Shelf<'_>> {
        self.runs.iter().zip(&self.about).map(|(run, about)| Shelf { run, about })
    }

    /// The run in this place.
    pub(crate) fn get(&self, place: usize) -> Result<Shelf<'_>, Problem> {
        let count = self.runs.len();
        let found = self.all().nth(place);
        found.ok_or_else(|| Problem::bad(format!("there is no run {place}: {count} are shown")))
    }
}

struct Looked {
    folders: Instant,
    locks: Instant,
}

/// What all requests share.
pub(crate) struct Runs {
    shelves: RwLock<Shelves>,
    looked: Mutex<Looked>,
    /// The evidence as JSON, and of which version.
    pub(crate) evidence: Mutex<Option<(u64, Bytes)>>,
    /// Becomes true when the viewer ends.
    pub(crate) ending: watch::Receiver<bool>,
}

impl Runs {
    /// Reads all folders.
    pub(crate) fn read(paths: &[PathBuf], ending: watch::Receiver<bool>) -> Result<Self, RunError> {
        let (mut runs, mut about) = (Vec::new(), Vec::new());
        let mut last = None;
        for path in paths {
            match Run::read(path, None) {
                Ok(run) => {
                    about.push(About::of(&run));
                    runs.push(run);
                }
                Err(error) => {
                    runs.push(Run::unread(path));
                    about.push(About::unread(&error));
                    last = Some(error);
                }
            }
        }
        // One that can be read is enough to show; the others say why they cannot be.
        if let Some(error) = last.filter(|_| about.iter().all(|about: &About| about.unread)) {
            return Err(error);
        }
        let now = Instant::now();
        Ok(Self {
            shelves: RwLock::new(Shelves { runs, about, version: 1 }),
            looked: Mutex::new(Looked { folders: now, locks: now }),
            evidence: Mutex::new(None),
            ending,
        })
    }

    /// Answers from the runs, off the thread that serves.
    pub(crate) async fn answer<T: Send + 'static>(
        self: &Arc<Self>,
        answer: impl FnOnce(&Shelves) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let runs = Arc::clone(self);
        tokio::task::spawn_blocking(move || runs.with(answer)).await?
    }

    /// Answers from the runs, on this thread.
    pub(crate) fn with<T>(&self, answer: impl FnOnce(&Shelves) -> Result<T, Problem>) -> Result<T, Problem> {
        answer(&self.shelves.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads what was added to the folders, unless that was done just now; gives the version.
    pub(crate) async fn look(self: &Arc<Self>) -> Result<u64, Problem> {
        let mut looked = self.looked.lock().await;
        let now = Instant::now();
        if now.duration_since(looked.folders) < PAUSE {
            drop(looked);
            return self.answer(|shelves| Ok(shelves.version)).await;
        }
        looked.folders = now;
        let locks = now.duration_since(looked.locks) >= LOCK_PAUSE;
        if locks {
            looked.locks = now;
        }
        let runs = Arc::clone(self);
        let refreshed = tokio::task::spawn_blocking(move || runs.refresh(locks)).await;
        refreshed.map_err(|error| Problem::ours(error.to_string()))
    }

    /// A long reader, such as the evidence, is not disturbed: what is new comes after it. A writer that waited
    /// would keep all other readers waiting too.
    fn refresh(&self, locks: bool) -> u64 {
        let mut shelves = match self.shelves.try_write() {
            Ok(shelves) => shelves,
            Err(Poison::Poisoned(error)) => error.into_inner(),
            Err(Poison::WouldBlock) => {
                return self.shelves.read().unwrap_or_else(PoisonError::into_inner).version;
            }
        };
        let Shelves { runs, about, version } = &mut *shelves;
        let news = runs.iter_mut().zip(about).map(|(run, about)| about.refresh(run, locks));
        *version += u64::from(news.filter(|news| *news).count() > 0);
        *version
    }
}

impl About {
    fn of(run: &Run) -> Self {
        Self { repeated: Repeated::of(run), writing: in_use(&run.path), trouble: None, unread: false }
    }

    fn unread(error: &RunError) -> Self {
        Self { repeated: Repeated::default(), writing: false, trouble: Some(told(error)), unread: true }
    }

    fn refresh(&mut self, run: &mut Run, locks: bool) -> bool {
        let read = if self.unread || is_shorter(run) {
            Run::read(&run.path, None).map(|again| *run = again).map(|()| true)
        } else {
            run.refresh()
        };
        let (grown, trouble) = match read {
            Ok(grown) => (grown, None),
            Err(error) => (false, Some(told(&error))),
        };
        if grown {
            self.unread = false;
            self.repeated = Repeated::of(run);
        }
        let writing = if locks || grown { in_use(&run.path) } else { self.writing };
        let news = grown || writing != self.writing || trouble != self.trouble;
        (self.writing, self.trouble) = (writing, trouble);
        news
    }
}

/// An error in one sentence, with what to do.
fn told(error: &RunError) -> String {
    error.hint().map_or_else(|| error.to_string(), |hint| format!("{error} ({hint})"))
}

/// Whether the file ends before what was read of it: the folder was written anew.
fn is_shorter(run: &Run) -> bool {
    let end = run.sessions.last().map_or(0, |last| last.place.offset + last.place.length as u64);
    std::fs::metadata(run.path.join("records.jsonl")).is_ok_and(|file| file.len() < end)
}

/// Whether another process holds the folder. The lock that finds out is shared and let go at once.
fn in_use(folder: &Path) -> bool {
    let lock = folder.join("lock");
    // A FIFO of this name would keep whoever opens it waiting.
    if !std::fs::metadata(&lock).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let Ok(file) = File::open(lock) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// The folder's name, or its whole path where it has none.
pub(crate) fn name(folder: &Path) -> String {
    let whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let name = whole.file_name().unwrap_or(whole.as_os_str());
    name.to_string_lossy().into_owned()
}
