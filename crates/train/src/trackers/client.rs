//! A tracker's Python client, in a process of its own that reads lines of JSON.

use super::{Notify, TrackedStatus, now};
use aske_chat::Hint;
use aske_config::{TrackerKind, TrainSection};
use aske_model::redact_text;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// What the process runs.
const SCRIPT: &str = include_str!("client.py");
/// The exit status of a check that does not find the package.
const MISSING: i32 = 3;
/// Steps that wait for a process at most; then it gets no further ones before the next start.
const MAX_WAITING: u64 = 100_000;
/// Bytes that are kept of what a process writes to stderr, and of a line on stdout.
const MAX_TAIL_BYTES: usize = 16 << 10;
/// How often a process that should end is looked at.
const POLL: Duration = Duration::from_millis(20);
/// How long a tracker may take to finish when the user has interrupted the training.
const INTERRUPTED_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the last words of a process that has ended are waited for.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A configured tracker that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrackerError {
    /// The interpreter cannot be started.
    #[error("train.report_to: {tracker} needs Python, and {python} does not start: {source}")]
    Python {
        /// The tracker.
        tracker: &'static str,
        /// The interpreter.
        python: String,
        /// The cause.
        source: io::Error,
    },
    /// The package is not installed.
    #[error("train.report_to: {python} has no package {tracker}")]
    Missing {
        /// The tracker.
        tracker: &'static str,
        /// The interpreter.
        python: String,
    },
    /// The package cannot be used.
    #[error("train.report_to: {tracker} cannot be used: {reason}")]
    Unusable {
        /// The tracker.
        tracker: &'static str,
        /// What it says.
        reason: String,
    },
}

impl Hint for TrackerError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Python { .. } => "name a Python interpreter in train.tracker_python".into(),
            Self::Missing { tracker, python } => format!(
                "`{python} -m pip install {tracker}`, or name another interpreter in train.tracker_python"
            )
            .into(),
            Self::Unusable { tracker, .. } => {
                format!("without {tracker} in train.report_to, the training starts").into()
            }
        })
    }
}

/// How the process of a tracker is started.
pub(super) struct ClientCommand<'c> {
    tracker: &'static str,
    python: &'c str,
    timeout: Duration,
}

/// What a process is told first.
#[derive(Serialize)]
pub(super) struct Start<'s> {
    pub(super) project: Option<&'s str>,
    pub(super) name: &'s str,
    pub(super) group: &'s str,
    #[serde(serialize_with = "as_map")]
    pub(super) config: &'s [(String, Value)],
    pub(super) steps: u64,
}

fn as_map<S: serde::Serializer>(entries: &&[(String, Value)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(entries.iter().map(|(key, value)| (key, value)))
}

impl<'c> ClientCommand<'c> {
    pub(super) fn new(kind: TrackerKind, section: &'c TrainSection) -> Self {
        Self {
            tracker: kind.as_str(),
            python: &section.tracker_python,
            timeout: Duration::from_secs_f64(section.tracker_timeout_s),
        }
    }

    /// Checks that the package can be imported, and that what it needs is configured.
    pub(super) fn check(&self) -> Result<(), TrackerError> {
        let tracker = self.tracker;
        let source = |source| TrackerError::Python { tracker, python: self.python.to_owned(), source };
        let mut process = self.spawn(&["check", tracker]).map_err(source)?;
        drop(process.stdin.take());
        let stderr = OutputTail::listen(process.stderr.take());
        let _unread = OutputTail::listen(process.stdout.take());
        let status = wait(&mut process, self.timeout).map_err(source)?;
        let reason = match status {
            Some(status) if status.success() => return Ok(()),
            Some(status) if status.code() == Some(MISSING) => {
                return Err(TrackerError::Missing { tracker, python: self.python.to_owned() });
            }
            Some(status) => stderr.last_line_or(|| status.to_string()),
            None => format!("its check did not end within {} s", self.timeout.as_secs_f64()),
        };
        Err(TrackerError::Unusable { tracker, reason })
    }

    /// Starts the process of a training; the trackers' folder stores what they have been given.
    pub(super) fn start(&self, folder: &Path, start: &Start<'_>, notify: Notify) -> Option<Client> {
        let state = folder.join(format!("{}.jsonl", self.tracker));
        let spawned = std::fs::create_dir_all(folder)
            .and_then(|()| self.spawn(&["run".as_ref(), self.tracker.as_ref(), state.as_os_str()]));
        let mut process = match spawned {
            Ok(process) => process,
            Err(error) => {
                notify(&format!("{}: {error}; training continues without it", self.tracker));
                return None;
            }
        };
        let stderr = OutputTail::listen(process.stderr.take());
        let (stdin, stdout) = (process.stdin.take()?, process.stdout.take()?);
        let (lines, received) = channel();
        thread::spawn(move || write_lines(stdin, &received));
        let shared = Arc::new(Shared {
            tracker: self.tracker,
            notify,
            timeout: self.timeout,
            stderr,
            process: Mutex::new(process),
            progress: Mutex::default(),
        });
        let listener = Arc::clone(&shared);
        thread::spawn(move || listener.listen(stdout));
        let client = Client { lines: Mutex::new(Some(lines)), shared };
        client.send(&json!(start));
        Some(client)
    }

    /// Starts Python in a process group of its own: Ctrl-C is meant for the training, which ends it.
    fn spawn<A: AsRef<std::ffi::OsStr>>(&self, arguments: &[A]) -> io::Result<Child> {
        let mut command = Command::new(self.python);
        command.args(["-c", SCRIPT]).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn()
    }
}

/// A tracker that is being reported to. Nothing here waits for it but [`Client::wait`].
pub(super) struct Client {
    /// Taken when there is nothing more to say.
    lines: Mutex<Option<Sender<String>>>,
    shared: Arc<Shared>,
}

/// What the threads of a client share.
struct Shared {
    tracker: &'static str,
    notify: Notify,
    timeout: Duration,
    stderr: OutputTail,
    process: Mutex<Child>,
    progress: Mutex<QueueState>,
}

/// How far a process is.
#[derive(Default)]
struct QueueState {
    /// Steps that were sent and not accepted.
    waiting: u64,
    /// Since when the first of them has been waiting.
    since: Option<Instant>,
    /// The end was sent.
    ending: bool,
    /// The process gets no further steps.
    closed: bool,
    /// A failure was reported; it is reported once.
    reported: bool,
}

impl Client {
    /// Sends a step.
    pub(super) fn log(&self, step: u64, time: Option<f64>, scalars: &[(&str, f64)]) {
        if self.shared.accepts_step() {
            let metrics: Map<String, Value> =
                scalars.iter().map(|(tag, value)| ((*tag).to_owned(), json!(value))).collect();
            let time = time.unwrap_or_else(|| now().as_secs_f64());
            self.send(&json!({"step": step, "time": time, "metrics": metrics}));
        }
    }

    /// Sends the end.
    pub(super) fn end(&self, summary: &Map<String, Value>, status: TrackedStatus) {
        self.shared.progress.lock().ending = true;
        self.send(&json!({"status": status, "summary": summary}));
        *self.lines.lock() = None;
    }

    /// Waits until the process has ended; ends it after the time limit.
    pub(super) fn wait(self, status: TrackedStatus) {
        let shared = &self.shared;
        let timeout = match status {
            TrackedStatus::Interrupted => shared.timeout.min(INTERRUPTED_TIMEOUT),
            _ => shared.timeout,
        };
        let ended = wait(&mut shared.process.lock(), timeout);
        match ended {
            Ok(Some(status)) if status.success() => {}
            Ok(Some(status)) => shared.report(&shared.stderr.last_line_or(|| status.to_string())),
            Ok(None) => shared.report(&format!("it did not finish within {} s", timeout.as_secs_f64())),
            Err(error) => shared.report(&error.to_string()),
        }
    }

    fn send(&self, message: &Value) {
        if let Some(lines) = &*self.lines.lock() {
            // Without a receiver the process has ended, which is reported where its output ends.
            let _ = lines.send(format!("{message}\n"));
        }
    }
}

/// A client is dropped without an end message if training failed; its process ends when its input is closed.
impl Drop for Client {
    fn drop(&mut self) {
        self.shared.progress.lock().ending = true;
    }
}

impl Shared {
    /// Counts a step that is about to be sent; `false` if it must not be sent. Reports a process that hangs.
    fn accepts_step(&self) -> bool {
        let mut progress = self.progress.lock();
        if progress.closed {
            return false;
        }
        progress.closed = progress.waiting >= MAX_WAITING;
        let hangs = progress.since.is_some_and(|since| since.elapsed() > self.timeout);
        progress.waiting += 1;
        progress.since.get_or_insert_with(Instant::now);
        let accepts = !progress.closed;
        drop(progress);
        if !accepts {
            self.report(&format!("{MAX_WAITING} steps are waiting for it"));
        } else if hangs {
            self.report(&format!("no answer for {} s", self.timeout.as_secs_f64()));
        }
        accepts
    }

    /// Reads what the process answers until it ends.
    fn listen(&self, stdout: ChildStdout) {
        let mut stdout = BufReader::new(stdout);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = (&mut stdout).take(MAX_TAIL_BYTES as u64).read_until(b'\n', &mut line);
            if read.is_err() || line.is_empty() {
                break;
            }
            // Lines that are not JSON are not ours.
            let answer: Value = serde_json::from_slice(&line).unwrap_or_default();
            if answer["step"].is_u64() {
                let mut progress = self.progress.lock();
                progress.waiting = progress.waiting.saturating_sub(1);
                progress.since = (progress.waiting > 0).then(Instant::now);
            } else if let Some(place) = answer["run"].as_str() {
                (self.notify)(&format!("{}: {}", self.tracker, redacted(place)));
            } else if let Some(reason) = answer["failed"].as_str() {
                self.report(&redacted(reason));
            }
        }
        let ending = {
            let mut progress = self.progress.lock();
            progress.closed = true;
            progress.ending
        };
        if !ending {
            let status = wait(&mut self.process.lock(), EXIT_TIMEOUT);
            let status = || match status {
                Ok(Some(status)) => format!("its process ended with {status}"),
                _ => "its process closed its output".to_owned(),
            };
            self.report(&self.stderr.last_line_or(status));
        }
    }

    /// Tells the user, once, that the tracker fails.
    fn report(&self, reason: &str) {
        let reported = std::mem::replace(&mut self.progress.lock().reported, true);
        if !reported {
            (self.notify)(&format!(
                "{}: {reason}; training continues, and the same command sends later what is missing",
                self.tracker
            ));
        }
    }
}

/// The end of what a process has written.
struct OutputTail {
    text: Arc<Mutex<VecDeque<u8>>>,
    closed: Mutex<Receiver<()>>,
}

impl OutputTail {
    fn listen(output: Option<impl Read + Send + 'static>) -> Self {
        let text = Arc::new(Mutex::new(VecDeque::new()));
        let (close, closed) = channel::<()>();
        let kept = Arc::clone(&text);
        thread::spawn(move || {
            let Some(mut output) = output else { return };
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = output.read(&mut buffer) {
                let mut kept = kept.lock();
                kept.extend(&buffer[..read]);
                let excess = kept.len().saturating_sub(MAX_TAIL_BYTES);
                kept.drain(..excess);
            }
            drop(close);
        });
        Self { text, closed: Mutex::new(closed) }
    }

    /// The last line that says something, once the process has ended; a child of it may keep stderr open.
    fn last_line_or(&self, otherwise: impl FnOnce() -> String) -> String {
        let _ = self.closed.lock().recv_timeout(EXIT_TIMEOUT);
        let bytes: Vec<u8> = self.text.lock().iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty());
        last.map_or_else(otherwise, redacted)
    }
}

/// Writes lines to a process until there are no more, or it has ended.
fn write_lines(mut stdin: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        if stdin.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

/// Waits for a process, and ends it after the time limit; `None` if it had to be ended.
fn wait(process: &mut Child, timeout: Duration) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(Some(status));
        }
        if begun.elapsed() >= timeout {
            process.kill()?;
            process.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// A line of a process on one line of limited length, without keys and passwords.
fn redacted(text: &str) -> String {
    const LONGEST: usize = 600;
    let mut text = text.to_owned();
    for (name, value) in std::env::vars_os() {
        let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) else { continue };
        // Not those of `TOKENIZERS_PARALLELISM`.
        let secret =
            name.to_uppercase().split('_').any(|word| ["KEY", "TOKEN", "SECRET", "PASSWORD"].contains(&word));
        if secret && value.len() >= 4 {
            text = text.replace(&value, "***");
        }
    }
    let text = redact_text(&text).split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
