//! The runs: found at startup and while a page follows them, read when a page needs them, the latest few kept in memory.

use crate::catalogue::{self, Found, Root, Stamp};
use crate::flags::Duplicates;
use crate::summary::{Kind, Summary, seconds};
use aske_chat::Hint;
use aske_evidence::{Evidence, Run, SOLVER_LIMITS, checks, evidence};
use aske_http::{ApiError, WorkerError};
use aske_record::{Manifest, RunError};
use bytes::Bytes;
use parking_lot::{Mutex, RwLock, RwLockReadGuard};
use serde::Serialize;
use serde_json::{Value, json};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::spawn_blocking;

/// The minimum time between two searches for runs, and what part of the time they may take.
const SCAN_INTERVAL: Duration = Duration::from_millis(500);
const SCAN_SHARE: u32 = 20;
/// The minimum time between two computations of a run's row or tables, and what part of the time they may take.
const TABLES_INTERVAL: Duration = Duration::from_millis(500);
const TABLES_SHARE: u32 = 5;
/// Bytes of records that are read at once, so that the first sessions of a large run are shown at once.
const FIRST_PART: u64 = 2 << 20;
const PART: u64 = 8 << 20;
/// Runs with more bytes of records are summarized one at a time, to bound memory.
const LARGE: u64 = 32 << 20;
/// The time between two looks for rows to make.
const IDLE: Duration = Duration::from_millis(50);
/// Sessions, samples and other records that are kept in memory besides the run that was used last.
const KEPT_RECORDS: usize = 40_000;

/// The state of an opened run besides its contents.
pub(crate) struct RunStatus {
    pub(crate) duplicates: Duplicates,
    /// All records have been read.
    pub(crate) complete: bool,
    /// The version of the runs in which it last changed.
    pub(crate) version: u64,
}

/// One opened run.
#[derive(Clone, Copy)]
pub(crate) struct LoadedRun<'s> {
    /// Its id, for links.
    pub(crate) id: &'s str,
    pub(crate) run: &'s Run,
    pub(crate) status: &'s RunStatus,
}

/// A run in memory.
struct Opened {
    run: Run,
    status: RunStatus,
    /// What the files were when they were read.
    stamp: Stamp,
    used: Instant,
}

/// What the home page shows of a run.
#[derive(Default)]
struct Shown {
    summary: Summary,
    /// What the files were when the summary was made; `None` if there is none yet.
    stamp: Option<Stamp>,
    /// What the files are.
    seen: Stamp,
    /// Another process is writing to it.
    writing: bool,
    /// Why it cannot be read.
    error: Option<String>,
    /// When the summary was made, and how long that took.
    computed: Option<(Instant, Duration)>,
}

/// A folder that is shown.
pub(crate) struct Entry {
    pub(crate) found: Found,
    shown: RwLock<Shown>,
    opened: RwLock<Option<Opened>>,
    /// Held while the row is made.
    working: Mutex<()>,
    tables: Mutex<Option<CachedTables>>,
    version: AtomicU64,
}

/// All runs, shared by all requests.
pub(crate) struct RunStore {
    roots: Vec<Root>,
    entries: RwLock<Arc<[Arc<Entry>]>>,
    version: AtomicU64,
    scanned: tokio::sync::Mutex<(Instant, Duration)>,
    /// Held while a large run is summarized.
    large: Mutex<()>,
    /// Becomes true when the viewer ends.
    pub(crate) ending: watch::Receiver<bool>,
}

impl Entry {
    fn new(found: Found, version: u64) -> Self {
        let seen = Stamp::of(&found);
        let shown = Shown { seen, writing: is_live(&found), error: found.broken.clone(), ..Shown::default() };
        Self {
            found,
            shown: RwLock::new(shown),
            opened: RwLock::new(None),
            working: Mutex::new(()),
            tables: Mutex::new(None),
            version: AtomicU64::new(version),
        }
    }

    /// The version of the runs in which it last changed.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    /// Whether its row lacks numbers or has old ones.
    fn is_due(&self) -> bool {
        let shown = self.shown.read();
        let changed = shown.stamp.as_ref() != Some(&shown.seen) && self.found.broken.is_none();
        changed
            && shown
                .computed
                .is_none_or(|(at, took)| at.elapsed() >= TABLES_INTERVAL.max(TABLES_SHARE * took))
    }

    /// Whether only some of its records are in memory.
    fn is_incomplete(&self) -> bool {
        let opened = self.opened.try_read();
        opened.is_some_and(|opened| opened.as_ref().is_some_and(|opened| !opened.status.complete))
    }

    /// Whether the row has all its numbers.
    pub(crate) fn is_ready(&self) -> bool {
        self.shown.read().stamp.is_some() || self.found.broken.is_some()
    }

    /// When it was written last, in seconds.
    pub(crate) fn written(&self) -> Option<f64> {
        self.shown.read().seen.written().and_then(seconds)
    }

    /// When it began, in seconds.
    pub(crate) fn started(&self) -> Option<f64> {
        started(&self.found.path, &self.shown.read().seen)
    }

    /// Calls `read` with the summary, whether another process is writing, and the error.
    pub(crate) fn with_summary<T>(&self, read: impl FnOnce(&Summary, bool, Option<&str>) -> T) -> T {
        let shown = self.shown.read();
        read(&shown.summary, shown.writing, shown.error.as_deref())
    }

    /// The row of the home page as JSON.
    pub(crate) fn row(&self) -> Value {
        let shown = self.shown.read();
        let mut row = json!({
            "id": self.found.id,
            "path": self.found.path.display().to_string(),
            "part_of": self.found.part_of,
            "version": self.version(),
            "state": match () {
                () if shown.error.is_some() => "broken",
                () if shown.stamp.is_some() => "ready",
                () => "reading",
            },
            "writing": shown.writing,
            "started": started(&self.found.path, &shown.seen),
            "written": shown.seen.written().and_then(seconds),
            "trouble": shown.error,
        });
        let mut summary = json!(shown.summary);
        if shown.summary.name.is_empty() {
            summary["name"] = crate::summary::folder_name(&self.found.path).into();
        }
        if let (Some(row), Some(summary)) = (row.as_object_mut(), summary.as_object_mut()) {
            row.append(summary);
        }
        if self.found.training || shown.error.is_some() {
            row["kind"] = json!(if self.found.training { Kind::Training } else { shown.kind() });
        }
        row
    }
}

impl Shown {
    /// The kind, or that of a folder that cannot be read.
    fn kind(&self) -> Kind {
        if self.summary.name.is_empty() { Kind::Unknown } else { self.summary.kind }
    }
}

/// When the run began: when its folder was made, or its first file was written if that was earlier.
fn started(folder: &Path, seen: &Stamp) -> Option<f64> {
    let made = std::fs::metadata(folder).and_then(|found| found.created()).ok();
    made.into_iter().chain(seen.first_written()).min().and_then(seconds)
}

impl RunStore {
    /// Finds all runs and begins to read them.
    pub(crate) fn open(paths: &[PathBuf], ending: watch::Receiver<bool>) -> Result<Arc<Self>, RunError> {
        let roots = catalogue::roots(paths);
        let start = Instant::now();
        let found = catalogue::find(&roots);
        if found.is_empty() || matches!(paths, [only] if !only.exists()) {
            // Says why, and what to do.
            Manifest::require(paths.first().map_or(Path::new(""), PathBuf::as_path))?;
        }
        let entries: Vec<Arc<Entry>> =
            found.into_iter().map(|found| Arc::new(Entry::new(found, 1))).collect();
        let store = Arc::new(Self {
            roots,
            entries: RwLock::new(entries.into()),
            version: AtomicU64::new(1),
            scanned: tokio::sync::Mutex::new((Instant::now(), start.elapsed())),
            large: Mutex::new(()),
            ending,
        });
        let threads = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 4);
        for _ in 0..threads {
            let store = Arc::downgrade(&store);
            std::thread::spawn(move || {
                while let Some(store) = store.upgrade() {
                    if *store.ending.borrow() {
                        return;
                    }
                    let (worked, entries) = (store.work(), store.entries().len());
                    drop(store);
                    if !worked {
                        // Less often where it takes longer to find that nothing is to be done.
                        std::thread::sleep(IDLE + IDLE * u32::try_from(entries / 2_000).unwrap_or(u32::MAX));
                    }
                }
            });
        }
        Ok(store)
    }

    /// The id of the run, if the viewer was started with a single one and not with a folder of runs.
    pub(crate) fn alone(&self) -> Option<String> {
        let entries = self.entries();
        let first = entries.first()?;
        catalogue::is_single(&self.roots, &first.found).then(|| first.found.id.clone())
    }

    /// All entries, by given folder and name.
    pub(crate) fn entries(&self) -> Arc<[Arc<Entry>]> {
        Arc::clone(&self.entries.read())
    }

    /// The version of all runs.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Relaxed)
    }

    fn changed(&self, entry: &Entry) {
        let version = self.version.fetch_add(1, Ordering::Relaxed) + 1;
        entry.version.store(version, Ordering::Relaxed);
    }

    /// The run of an id; without an id the first run.
    pub(crate) fn find(&self, id: Option<&str>) -> Result<Arc<Entry>, ApiError> {
        let entries = self.entries();
        let Some(id) = id else {
            return entries.first().cloned().ok_or_else(|| ApiError::not_found("there are no runs"));
        };
        entries.iter().find(|entry| entry.found.id == id).cloned().ok_or_else(|| {
            let named = catalogue::candidates(entries.iter().map(|entry| &entry.found), id);
            let ids: Vec<&str> = named.iter().take(5).map(|found| found.id.as_str()).collect();
            let hint = match ids.as_slice() {
                [] => "start `aske view` with the folder that holds it".to_owned(),
                ids => format!("it could be {}", ids.join(", ")),
            };
            let message = format!("there is no run `{}` below the folders of this viewer", shorten(id));
            ApiError::not_found(message).with_hint(hint)
        })
    }

    /// Searches for runs and changes, unless that was done just now; returns the version.
    pub(crate) async fn refresh_if_due(self: &Arc<Self>) -> Result<u64, ApiError> {
        let Ok(mut scanned) = self.scanned.try_lock() else { return Ok(self.version()) };
        let (at, took) = *scanned;
        if at.elapsed() < SCAN_INTERVAL.max(SCAN_SHARE * took) {
            return Ok(self.version());
        }
        let store = Arc::clone(self);
        let start = Instant::now();
        spawn_blocking(move || store.scan()).await.map_err(WorkerError::from)?;
        *scanned = (Instant::now(), start.elapsed());
        Ok(self.version())
    }

    /// The same, without waiting for it.
    pub(crate) fn refresh_soon(self: &Arc<Self>) {
        let store = Arc::clone(self);
        tokio::spawn(async move { store.refresh_if_due().await });
    }

    fn scan(&self) {
        let before = self.entries();
        let by_id: std::collections::HashMap<&str, &Arc<Entry>> =
            before.iter().map(|entry| (entry.found.id.as_str(), entry)).collect();
        let mut news = false;
        let entries: Vec<Arc<Entry>> = catalogue::find(&self.roots)
            .into_iter()
            .map(|found| match by_id.get(found.id.as_str()) {
                Some(entry) if entry.found == found => Arc::clone(entry),
                _ => {
                    news = true;
                    Arc::new(Entry::new(found, self.version() + 1))
                }
            })
            .collect();
        if news || entries.len() != before.len() {
            *self.entries.write() = entries.clone().into();
            self.version.fetch_add(1, Ordering::Relaxed);
        }
        for entry in &entries {
            self.look(entry);
        }
    }

    /// Notes whether the files of a run have changed.
    fn look(&self, entry: &Entry) {
        let seen = Stamp::of(&entry.found);
        let mut shown = entry.shown.write();
        let changed = seen != shown.seen;
        // The lock of a run that rests is left alone, so that its next writer always gets it.
        let writing = (changed || shown.writing) && is_live(&entry.found);
        if !changed && writing == shown.writing {
            return;
        }
        (shown.seen, shown.writing) = (seen, writing);
        // The row is made later; a page that shows the run reads the new records at once.
        self.changed(entry);
    }

    /// Makes the row of one run that needs it, the one that was written last first; returns whether there was one.
    fn work(&self) -> bool {
        let entries = self.entries();
        // A page has opened a run, whose other records are read now.
        if let Some(entry) = entries.iter().find(|entry| entry.is_incomplete())
            && self.read_part(entry).is_ok()
        {
            return true;
        }
        let mut due: Vec<&Arc<Entry>> = entries.iter().filter(|entry| entry.is_due()).collect();
        due.sort_by(|one, two| {
            two.written().partial_cmp(&one.written()).unwrap_or(std::cmp::Ordering::Equal)
        });
        // Each thread takes another one.
        for entry in due {
            let large = std::fs::metadata(entry.found.path.join("records.jsonl"))
                .is_ok_and(|file| file.len() > LARGE);
            let one = large.then(|| self.large.try_lock());
            if matches!(one, Some(None)) {
                continue;
            }
            if let Some(_working) = entry.working.try_lock() {
                self.summarize(entry);
                return true;
            }
        }
        false
    }

    /// Makes the row of a run.
    fn summarize(&self, entry: &Entry) {
        if !entry.is_due() {
            return;
        }
        let (start, stamp) = (Instant::now(), Stamp::of(&entry.found));
        let made = self.summary(entry);
        let mut shown = entry.shown.write();
        match made {
            Ok(summary) => (shown.summary, shown.error) = (summary, None),
            Err(error) => shown.error = Some(error),
        }
        (shown.stamp, shown.seen) = (Some(stamp.clone()), stamp);
        shown.computed = Some((Instant::now(), start.elapsed()));
        // Before anybody sees the row, so that its version is never older.
        self.changed(entry);
        drop(shown);
        self.evict();
    }

    fn summary(&self, entry: &Entry) -> Result<Summary, String> {
        if entry.found.training {
            return Ok(Summary::of_training(&entry.found));
        }
        if !entry.is_ready() {
            // The configuration is shown before the records are read.
            let manifest = Manifest::require(&entry.found.path).map_err(|error| describe(&error))?;
            entry.shown.write().summary = Summary::of_manifest(&entry.found, &manifest);
        }
        self.read_all(entry).map_err(|error| describe(&error))?;
        let opened = entry.opened.read();
        let Some(opened) = opened.as_ref() else { return Err("the folder is no longer there".to_owned()) };
        Ok(Summary::of_run(&entry.found, &opened.run))
    }

    /// Reads a run as far as it is written.
    fn read_all(&self, entry: &Entry) -> Result<(), RunError> {
        while !self.read_part(entry)? {}
        Ok(())
    }

    /// Reads the next part of a run; returns whether it is complete.
    fn read_part(&self, entry: &Entry) -> Result<bool, RunError> {
        let mut slot = entry.opened.write();
        let path = &entry.found.path;
        let stamp = Stamp::of(&entry.found);
        let fresh =
            slot.as_ref().is_none_or(|opened| !opened.stamp.same_manifest(&stamp) || is_shorter(&opened.run));
        if fresh {
            *slot = Some(Opened {
                run: Run::open(path)?,
                status: RunStatus { duplicates: Duplicates::default(), complete: false, version: 0 },
                stamp: Stamp::default(),
                used: Instant::now(),
            });
        }
        let Some(opened) = slot.as_mut() else { return Ok(true) };
        opened.used = Instant::now();
        if opened.status.complete && opened.stamp.same_records(&stamp) {
            return Ok(true);
        }
        let grown = opened.run.refresh_some(if fresh { FIRST_PART } else { PART });
        let grown = match grown {
            Ok(grown) => grown,
            Err(error) => {
                *slot = None;
                return Err(error);
            }
        };
        let complete = !grown;
        // Not after every part: that would take quadratic time.
        if grown && (fresh || is_at_end(&opened.run)) {
            opened.status.duplicates = Duplicates::of(&opened.run);
        }
        if grown || fresh || complete != opened.status.complete {
            self.changed(entry);
            opened.status.version = entry.version();
        }
        opened.stamp = stamp;
        opened.status.complete = complete;
        Ok(complete)
    }

    /// Closes the runs that were not used lately.
    fn evict(&self) {
        let entries = self.entries();
        let size = |entry: &&Arc<Entry>| {
            let opened = entry.opened.try_read()?;
            let opened = opened.as_ref()?;
            let run = &opened.run;
            let panels = run.baselines.len() + run.audits.len() + run.difficulties.len();
            Some((opened.used, run.sessions.len() + run.evals.len() + 10 * panels + 100))
        };
        let mut open: Vec<_> = entries.iter().filter_map(|entry| Some((size(&entry)?, entry))).collect();
        open.sort_by_key(|((used, _), _)| std::cmp::Reverse(*used));
        let mut kept = 0;
        for ((_, size), entry) in open.into_iter().skip(1) {
            kept += size;
            if kept > KEPT_RECORDS {
                if let Some(mut opened) = entry.opened.try_write() {
                    *opened = None;
                }
                if let Some(mut tables) = entry.tables.try_lock() {
                    *tables = None;
                }
            }
        }
    }

    /// Opens a run: with `whole` all of its records, else at least the first.
    fn opened<'e>(
        &self,
        entry: &'e Entry,
        whole: bool,
    ) -> Result<RwLockReadGuard<'e, Option<Opened>>, ApiError> {
        let not_read = |error: &RunError| ApiError::not_found(describe(error));
        if let Some(reason) = &entry.found.broken {
            return Err(ApiError::not_found(reason.clone()));
        }
        if entry.found.training {
            let hint = format!("open one of its parts, such as {}/seed-0", entry.found.id);
            return Err(ApiError::bad_request("a training holds no sessions of its own").with_hint(hint));
        }
        for _ in 0..3 {
            if whole {
                self.read_all(entry).map_err(|error| not_read(&error))?;
            } else if entry.opened.read().as_ref().is_none_or(|opened| opened.status.complete) {
                self.read_part(entry).map_err(|error| not_read(&error))?;
            }
            let opened = entry.opened.read();
            self.evict();
            // Another request may have closed it in between.
            if opened.is_some() {
                return Ok(opened);
            }
        }
        Err(ApiError::internal("too many runs are open at once"))
    }

    /// Calls `read` with a run: with all of its records if `whole`, else at least with the first.
    pub(crate) fn with_run<T>(
        &self,
        entry: &Entry,
        whole: bool,
        read: impl FnOnce(LoadedRun<'_>) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let opened = self.opened(entry, whole)?;
        read(loaded(entry, opened.as_ref())?)
    }

    /// Calls `read` with several runs, each with all of its records.
    pub(crate) fn with_runs<T>(
        &self,
        entries: &[Arc<Entry>],
        read: impl FnOnce(&[LoadedRun<'_>]) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        // The same run twice must not be locked twice.
        let mut locked: Vec<(&Arc<Entry>, RwLockReadGuard<'_, Option<Opened>>)> = Vec::new();
        for entry in entries {
            if !locked.iter().any(|(there, _)| Arc::ptr_eq(there, entry)) {
                locked.push((entry, self.opened(entry, true)?));
            }
        }
        let mut runs: Vec<LoadedRun<'_>> = Vec::new();
        for entry in entries {
            let found = locked.iter().find(|(there, _)| Arc::ptr_eq(there, entry));
            runs.push(loaded(entry, found.and_then(|(_, opened)| opened.as_ref()))?);
        }
        read(&runs)
    }

    /// The tables of a run as JSON, computed once for each version.
    pub(crate) fn tables(&self, entry: &Entry) -> Result<Bytes, ApiError> {
        // Locked while it is computed, so that concurrent requests wait for the same result.
        let mut tables = entry.tables.lock();
        let opened = self.opened(entry, true)?;
        let loaded = loaded(entry, opened.as_ref())?;
        if let Some(cached) = tables.as_ref() {
            let throttled = cached.computed.elapsed() < TABLES_SHARE * cached.took;
            if cached.version == loaded.status.version || throttled {
                return Ok(cached.json.clone());
            }
        }
        let start = Instant::now();
        let json = to_bytes(&evidence(&[loaded.run]));
        let (version, computed) = (loaded.status.version, Instant::now());
        *tables = Some(CachedTables { version, computed, took: start.elapsed(), json: json.clone() });
        Ok(json)
    }
}

/// The tables of a run as JSON.
struct CachedTables {
    /// The version of the run that they were computed from.
    version: u64,
    computed: Instant,
    took: Duration,
    json: Bytes,
}

/// The tables of one run, with its validity checks and their limits.
#[derive(Serialize)]
struct Tables<'e> {
    #[serde(flatten)]
    evidence: &'e Evidence,
    checks: Vec<Value>,
    solver_limits: [f64; 2],
}

fn to_bytes(evidence: &Evidence) -> Bytes {
    let checks = evidence.runs.iter().flat_map(checks).map(|check| {
        json!({
            "check": check.name,
            "meaning": check.meaning,
            "hits": check.hits,
            "of": check.of,
            "share": check.share(),
            "limits": check.limits,
            "severity": check.severity(),
            "examples": check.examples,
        })
    });
    let tables = Tables { evidence, checks: checks.collect(), solver_limits: SOLVER_LIMITS };
    serde_json::to_vec(&tables).map(Bytes::from).unwrap_or_default()
}

fn loaded<'o>(entry: &'o Entry, opened: Option<&'o Opened>) -> Result<LoadedRun<'o>, ApiError> {
    let opened = opened.ok_or_else(|| ApiError::internal("the run is not open"))?;
    Ok(LoadedRun { id: &entry.found.id, run: &opened.run, status: &opened.status })
}

fn shorten(text: &str) -> String {
    text.chars().take(80).collect()
}

/// An error with its hint, on one line.
fn describe(error: &RunError) -> String {
    Hint::hint(error).map_or_else(|| error.to_string(), |hint| format!("{error} ({hint})"))
}

/// Whether the file is shorter than what was read of it, because the folder was rewritten.
fn is_shorter(run: &Run) -> bool {
    std::fs::metadata(run.path.join("records.jsonl"))
        .map_or(run.read_to() > 0, |file| file.len() < run.read_to())
}

/// Whether all lines have been read.
fn is_at_end(run: &Run) -> bool {
    std::fs::metadata(run.path.join("records.jsonl")).map_or(true, |file| file.len() <= run.read_to())
}

/// Whether another process is writing to a run, or to a part of a training.
fn is_live(found: &Found) -> bool {
    in_use(&found.path) || found.training && catalogue::folders(&found.path).iter().any(|part| in_use(part))
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
