//! Experiment trackers, which show the metrics of a training that are also in `metrics.jsonl`.
//!
//! TensorBoard's event file is always written. The other trackers are used through their Python clients, each in a
//! process of its own, so that offline modes and environment variables are the client's. A tracker that fails, hangs
//! or does not keep up is reported once, and never holds up a training: `metrics.jsonl` has every step, and the next start
//! sends what a tracker lacks.

mod client;
mod event_file;
mod scalars;

pub use client::TrackerError;
use client::{Client, ClientCommand, Start};
use event_file::EventFile;
use scalars::scalars;

use crate::reinforce::StepMetrics;
use aske_config::{TrackerKind, TrainSection};
use parking_lot::Mutex;
use serde::Serialize;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

/// The folder of the event file in the folder of a training.
const TENSORBOARD: &str = "tensorboard";
/// The folder that stores which steps each other tracker has.
const TRACKERS: &str = "trackers";

/// Tells the user what happens to a tracker.
pub type Notify = Arc<dyn Fn(&str) + Send + Sync>;

/// A training, as trackers show it.
pub struct TrackedRun {
    /// The folder of the training.
    pub folder: PathBuf,
    /// Its name.
    pub name: String,
    /// The name that it shares with the other seeds of the same command.
    pub group: String,
    /// Every setting, without secrets, as keys and values.
    pub config: Vec<(String, serde_json::Value)>,
}

/// A benchmark value before and after training.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// Its name.
    pub name: String,
    /// Before training.
    pub before: Option<f64>,
    /// After training.
    pub after: Option<f64>,
}

/// How a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrackedStatus {
    /// All steps are taken.
    Finished,
    /// It was interrupted, and can be continued.
    Interrupted,
    /// It collapsed or failed.
    Failed,
}

/// The trackers of one training.
pub struct Trackers {
    events: Mutex<Option<EventFile>>,
    clients: Vec<Client>,
    last_step: AtomicU64,
    notify: Notify,
}

impl Trackers {
    /// Checks that the packages of the configured trackers can be imported and used.
    pub fn check(section: &TrainSection) -> Result<(), TrackerError> {
        clients(section).try_for_each(|kind| ClientCommand::new(kind, section).check())
    }

    /// Starts the trackers of a training whose folder exists. Everything that is in the event file of an earlier start is
    /// expected to be logged again.
    pub fn start(run: &TrackedRun, section: &TrainSection, notify: Notify) -> Self {
        let events = EventFile::create(&run.folder.join(TENSORBOARD), &run.config);
        let start = Start {
            project: section.project.as_deref(),
            name: &run.name,
            group: &run.group,
            config: &run.config,
            steps: section.steps,
        };
        let start_client = |kind| {
            let command = ClientCommand::new(kind, section);
            command.start(&run.folder.join(TRACKERS), &start, Arc::clone(&notify))
        };
        let clients = clients(section).filter_map(start_client).collect();
        let trackers = Self { events: Mutex::new(None), clients, last_step: AtomicU64::new(0), notify };
        trackers.keep(events);
        trackers
    }

    /// Reports a step. Steps are reported in order.
    pub fn log(&self, metrics: &StepMetrics) {
        self.last_step.store(metrics.step, Ordering::Relaxed);
        let scalars = scalars(metrics);
        self.write(|events| events.add(metrics.step, metrics.unix_time_s, &scalars));
        for client in &self.clients {
            client.log(metrics.step, metrics.unix_time_s, &scalars);
        }
    }

    /// Reports the benchmark, and waits for the trackers to finish, for a limited time.
    pub fn finish(self, measured: &[Measurement], status: TrackedStatus) {
        let points = |value: fn(&Measurement) -> Option<f64>| {
            let point = |measurement: &Measurement| {
                Some((format!("benchmark/{}", measurement.name), value(measurement)?))
            };
            measured.iter().filter_map(point).collect::<Vec<_>>()
        };
        let last_step = self.last_step.load(Ordering::Relaxed);
        for (step, points) in [(0, points(|value| value.before)), (last_step, points(|value| value.after))] {
            let points: Vec<(&str, f64)> = points.iter().map(|(tag, value)| (tag.as_str(), *value)).collect();
            if !points.is_empty() {
                self.write(|events| events.add(step, None, &points));
            }
        }
        let when = |when: &str, value: Option<f64>, name: &str| Some((format!("{when}/{name}"), value?));
        let summary = measured.iter().flat_map(|measurement| {
            let Measurement { name, before, after } = measurement;
            [when("before", *before, name), when("after", *after, name)].into_iter().flatten()
        });
        let summary: serde_json::Map<_, _> = summary.map(|(key, value)| (key, value.into())).collect();
        for client in &self.clients {
            client.end(&summary, status);
        }
        for client in self.clients {
            client.wait(status);
        }
    }

    /// Writes to the event file, if there is one.
    fn write(&self, write: impl FnOnce(&mut EventFile) -> io::Result<()>) {
        let file = self.events.lock().take();
        let Some(mut file) = file else { return };
        self.keep(write(&mut file).map(|()| file));
    }

    /// Keeps the event file, or reports why it is written no more.
    fn keep(&self, file: io::Result<EventFile>) {
        match file {
            Ok(file) => *self.events.lock() = Some(file),
            Err(error) => (self.notify)(&format!(
                "tensorboard: {error}; training continues, and the next start writes the event file again"
            )),
        }
    }
}

/// The configured trackers that have a client, each once.
fn clients(section: &TrainSection) -> impl Iterator<Item = TrackerKind> {
    [TrackerKind::Wandb, TrackerKind::Mlflow, TrackerKind::Trackio]
        .into_iter()
        .filter(|kind| section.report_to.contains(kind))
}

/// The time since 1970.
fn now() -> Duration {
    UNIX_EPOCH.elapsed().unwrap_or_default()
}

/// The error of a file in a folder, with its path.
fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
