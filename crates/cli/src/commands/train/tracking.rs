//! The experiment trackers of a training.

use crate::error::{CliError, Exit};
use crate::output::{note, safe_line};
use crate::runtime::until_signal;
use aske_config::{Layers, Settings};
use aske_train::trackers::{Measurement, TrackedRun, TrackedStatus, Trackers};
use std::path::Path;
use std::sync::Arc;
use std::thread;

/// Sections of the configuration that a training does not use.
const UNUSED: [&str; 5] = ["extends", "difficulty", "eval", "sets", "models"];

/// Starts the trackers of the training with a seed, in its folder below `root`.
pub(super) fn start(layers: &Layers, settings: &Settings, root: &Path, folder: &Path, seed: u64) -> Trackers {
    let train = &layers.config().train;
    let absolute = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
    let by_folder = || absolute.file_name().map(|name| name.to_string_lossy().into_owned());
    let group = train.run_name.clone().or_else(by_folder).unwrap_or_else(|| layers.name());
    let used = |key: &str| {
        let (section, rest) = key.split_once('.').unwrap_or((key, ""));
        let model = || {
            settings.models.keys().any(|name| {
                let rest = rest.trim_start_matches('"');
                rest.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(['.', '"']))
            })
        };
        !UNUSED.contains(&section) || section == "models" && model()
    };
    let values = layers.values().into_iter().filter(|(key, ..)| used(key));
    let run = TrackedRun {
        folder: folder.to_owned(),
        name: format!("{group}-seed-{seed}"),
        group,
        config: values.map(|(key, value, _)| (key, serde_json::json!(value))).collect(),
    };
    Trackers::start(&run, train, Arc::new(|text| note(safe_line(text))))
}

/// Reports the benchmark and the end of a training. Ctrl-C stops waiting for the trackers.
pub(super) fn finish(trackers: Trackers, measured: Vec<Measurement>, exit: Exit) -> Result<(), CliError> {
    let status = match exit {
        Exit::Done => TrackedStatus::Finished,
        Exit::Interrupted => TrackedStatus::Interrupted,
        _ => TrackedStatus::Failed,
    };
    let (done, finished) = tokio::sync::oneshot::channel();
    thread::spawn(move || {
        trackers.finish(&measured, status);
        // Without a receiver the user waits no longer.
        let _ = done.send(());
    });
    until_signal(finished).map(drop)
}
