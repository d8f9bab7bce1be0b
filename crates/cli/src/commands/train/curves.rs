//! Training curves on stderr: live sparklines on a terminal, one plain line per step elsewhere.

use crate::output::{GOOD, NOTE, note, paint};
use crate::runs::progress::{Bar, PLAIN_EVERY, PriceKnown};
use crate::runs::waiting::{UPDATE_EVERY, WaitingModels};
use crate::runtime::Interrupt;
use aske_bench::ModelRegistry;
use aske_chat::Usd;
use aske_config::TrainSection;
use aske_train::reinforce::{ResumeError, StepMetrics, TrainObserver};
use aske_train::trackers::Trackers;
use indicatif::HumanDuration;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Characters of a sparkline.
const WIDTH: usize = 48;

/// Observes a training, shows its curves and passes them on to the trackers.
pub(super) struct Curves<'t> {
    bar: Bar,
    steps: u64,
    rollouts: u64,
    sampled: AtomicU64,
    lines: Mutex<Vec<StepMetrics>>,
    /// The latest valid checkpoint.
    checkpoint: Mutex<Option<PathBuf>>,
    trackers: &'t Trackers,
    /// Whether to show every metric.
    verbose: bool,
}

impl<'t> Curves<'t> {
    pub(super) fn new(train: &TrainSection, trackers: &'t Trackers, verbose: bool) -> Self {
        let rollouts = train.groups as u64 * u64::from(train.group_size);
        Self {
            bar: Bar::new(train.steps, "steps"),
            steps: train.steps,
            rollouts,
            sampled: AtomicU64::new(0),
            lines: Mutex::default(),
            checkpoint: Mutex::default(),
            trackers,
            verbose,
        }
    }

    /// Updates the display until dropped; runs beside the training. `spent` is the cost so far.
    pub(super) async fn update_forever(
        &self,
        models: &ModelRegistry,
        interrupt: &Interrupt,
        spent: impl Fn() -> Usd,
    ) -> std::convert::Infallible {
        let (price, waiting) = (PriceKnown::of(models), WaitingModels::default());
        let (mut printed, mut steps, mut cost) = (Instant::now(), usize::MAX, Usd::default());
        loop {
            tokio::time::sleep(UPDATE_EVERY).await;
            waiting.update(models, interrupt);
            let finished = self.lines.lock().len();
            if price.is_paid() && steps != finished {
                (steps, cost) = (finished, spent());
            }
            let state = || format!("{} · {}{}", self.state(), price.show(cost), waiting.lines(interrupt));
            if !self.bar.plain {
                let curves = curves(&self.lines.lock(), self.verbose);
                self.bar.set_message(format!("{curves}{}", state()));
            } else if waiting.has_new_reason() || printed.elapsed() >= PLAIN_EVERY {
                printed = Instant::now();
                note(state());
            }
        }
    }

    /// The latest valid checkpoint found or written since the program started.
    pub(super) fn last_checkpoint(&self) -> Option<PathBuf> {
        self.checkpoint.lock().clone()
    }

    /// Removes the bar and prints the final curves.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
        let lines = self.lines.lock();
        if !self.bar.plain && !lines.is_empty() {
            note(curves(&lines, self.verbose));
        }
    }

    /// The step in progress, and the time left.
    fn state(&self) -> String {
        let lines = self.lines.lock();
        let done = lines.last().map_or(0, |line| line.step);
        let sampled = self.sampled.load(Ordering::Relaxed) % self.rollouts.max(1);
        let step = (done + 1).min(self.steps);
        let state =
            format!("step {step} of {}: {sampled}/{} rollouts of the next update", self.steps, self.rollouts);
        format!("{state} · {}", self.time_left(&lines))
    }

    /// By the time of the latest steps.
    fn time_left(&self, lines: &[StepMetrics]) -> String {
        let times: Vec<f64> = lines.iter().rev().take(5).map(|line| line.step_s).collect();
        let Some(last) = lines.last() else { return "time left unknown".to_owned() };
        let each = times.iter().sum::<f64>() / times.len() as f64;
        let left = each * self.steps.saturating_sub(last.step) as f64;
        format!("{} left", HumanDuration(Duration::try_from_secs_f64(left).unwrap_or_default()))
    }
}

impl TrainObserver for Curves<'_> {
    fn session_finished(&self, _: u64) {
        self.sampled.fetch_add(1, Ordering::Relaxed);
    }

    fn step_finished(&self, line: &StepMetrics) {
        self.bar.set_position(line.step);
        let mut lines = self.lines.lock();
        lines.push(line.clone());
        if self.bar.plain {
            let left = self.time_left(&lines);
            note(format_args!("{} · {left}", step(line, self.steps, self.verbose)));
        }
        drop(lines);
        self.trackers.log(line);
    }

    fn checkpoint_skipped(&self, checkpoint: &Path, why: &ResumeError) {
        note(format_args!("skipping {}: {why}", checkpoint.display()));
    }

    fn resumed(&self, checkpoint: &Path) {
        self.checkpoint_saved(checkpoint);
        note(format_args!("resuming from {}", checkpoint.display()));
    }

    fn checkpoint_saved(&self, checkpoint: &Path) {
        *self.checkpoint.lock() = Some(checkpoint.to_owned());
    }
}

/// A number of a step, and the top of its curve if it is a share.
struct Metric {
    name: &'static str,
    value: fn(&StepMetrics) -> Option<f64>,
    top: Option<f64>,
    /// Shown only with -v.
    detail: bool,
}

/// The metrics that are shown.
const METRICS: [Metric; 11] = [
    Metric { name: "reward", value: |line| Some(line.reward), top: None, detail: false },
    Metric { name: "calibrated", value: |line| Some(line.calibrated), top: Some(1.0), detail: false },
    Metric {
        name: "by fixed cross-check",
        value: |line| line.fixed_calibrated,
        top: Some(1.0),
        detail: false,
    },
    Metric { name: "valid questions", value: |line| Some(line.valid), top: Some(1.0), detail: false },
    Metric { name: "distinct questions", value: |line| Some(line.distinct), top: Some(1.0), detail: false },
    Metric { name: "bad_cross_check", value: |line| line.bad_cross_check, top: Some(1.0), detail: true },
    Metric { name: "agrees with check", value: |line| line.agreement, top: Some(1.0), detail: true },
    Metric { name: "agrees with oracle", value: |line| line.truth, top: Some(1.0), detail: true },
    Metric { name: "entropy", value: |line| Some(line.entropy), top: None, detail: true },
    Metric { name: "importance ratio", value: |line| Some(line.ratio), top: None, detail: true },
    Metric { name: "gradient norm", value: |line| Some(line.gradient_norm), top: None, detail: true },
];

/// The metrics that are shown, of every step or with -v.
fn metrics(verbose: bool) -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().filter(move |metric| verbose || !metric.detail)
}

impl Metric {
    fn show(&self, value: f64) -> String {
        if self.top.is_some() { format!("{:.0}%", 100.0 * value) } else { format!("{value:.3}") }
    }
}

/// One step as a line.
fn step(line: &StepMetrics, steps: u64, verbose: bool) -> String {
    let shown = |metric: &Metric| {
        (metric.value)(line).map(|value| format!(" · {} {}", metric.name, metric.show(value)))
    };
    let shown: String = metrics(verbose).filter_map(shown).collect();
    format!("step {} of {steps}{shown} · {:.1} s", line.step, line.step_s)
}

/// All curves, a line each.
fn curves(lines: &[StepMetrics], verbose: bool) -> String {
    let mut shown = String::new();
    for (at, metric) in metrics(verbose).enumerate() {
        let values: Vec<f64> = lines.iter().filter_map(metric.value).collect();
        let Some(last) = values.last() else { continue };
        let style = if at < 3 { GOOD } else { NOTE };
        let curve = paint(style, sparkline(&values, metric.top));
        let line = format!("{:>22} {curve} {}\n", metric.name, metric.show(*last));
        shown.push_str(&line);
    }
    shown
}

/// Values as a sparkline from 0 to `top`, or from their minimum to their maximum.
fn sparkline(values: &[f64], top: Option<f64>) -> String {
    let (low, high) = match top {
        Some(top) => (0.0, top),
        None => values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        }),
    };
    let each = values.len().div_ceil(WIDTH).max(1);
    let means = values.chunks(each).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index below eight")]
    let bar = |mean: f64| {
        let share = if high > low { (mean - low) / (high - low) } else { 0.5 };
        LEVELS[((share * 8.0).clamp(0.0, 7.0)) as usize]
    };
    means.map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::sparkline;

    #[test]
    fn a_sparkline_rises_with_its_values_and_stays_short() {
        assert_eq!(sparkline(&[0.0, 0.49, 1.0], Some(1.0)), "▁▄█");
        assert_eq!(sparkline(&[5.0, 6.0], None), "▁█");
        assert_eq!(sparkline(&[3.0, 3.0], None), "▅▅");
        let many: Vec<f64> = (0..1000).map(f64::from).collect();
        assert!(sparkline(&many, None).chars().count() <= super::WIDTH);
    }
}
