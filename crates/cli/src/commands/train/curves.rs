//! Training curves on stderr: live sparklines on a terminal, one plain line per step elsewhere.

use crate::output::{DIM, GOOD, NOTE, note, paint};
use crate::runs::progress::Bar;
use aske_config::TrainSection;
use aske_train::reinforce::{ResumeError, StepMetrics, TrainObserver};
use aske_train::trackers::Trackers;
use indicatif::HumanDuration;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

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
}

impl<'t> Curves<'t> {
    pub(super) fn new(train: &TrainSection, trackers: &'t Trackers) -> Self {
        let rollouts = train.groups as u64 * u64::from(train.group_size);
        Self {
            bar: Bar::new(train.steps, "steps"),
            steps: train.steps,
            rollouts,
            sampled: AtomicU64::new(0),
            lines: Mutex::default(),
            checkpoint: Mutex::default(),
            trackers,
        }
    }

    /// Updates the display until dropped; runs beside the training.
    pub(super) async fn update_forever(&self) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(Duration::from_millis(250)).await;
            if !self.bar.plain {
                self.bar.set_message(self.message());
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
            note(curves(&lines));
        }
    }

    fn message(&self) -> String {
        let lines = self.lines.lock();
        let sampled = self.sampled.load(Ordering::Relaxed) % self.rollouts.max(1);
        let mut shown = curves(&lines);
        let times: Vec<f64> = lines.iter().rev().take(5).map(|line| line.step_s).collect();
        let each = times.iter().sum::<f64>() / times.len().max(1) as f64;
        let left = self.steps.saturating_sub(lines.last().map_or(0, |line| line.step));
        let left = Duration::try_from_secs_f64(each * left as f64).unwrap_or_default();
        let rest =
            format!("{sampled}/{} rollouts of the next step · {} left", self.rollouts, HumanDuration(left));
        shown.push_str(&paint(DIM, rest));
        shown
    }
}

impl TrainObserver for Curves<'_> {
    fn session_finished(&self, _: u64) {
        self.sampled.fetch_add(1, Ordering::Relaxed);
    }

    fn step_finished(&self, line: &StepMetrics) {
        self.bar.set_position(line.step);
        if self.bar.plain {
            note(step(line));
        }
        self.lines.lock().push(line.clone());
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

/// One step as a line.
fn step(line: &StepMetrics) -> String {
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    let maybe = |name: &str, share: Option<f64>| share.map(|share| format!(" · {name} {}", percent(share)));
    format!(
        "step {} · reward {:.3} · calibrated {}{}{} · distinct {} · valid {}{}{} · entropy {:.3} · ratio {:.4} · gradient {:.3} · {:.1} s",
        line.step,
        line.reward,
        percent(line.calibrated),
        maybe("by the fixed check", line.fixed_calibrated).unwrap_or_default(),
        maybe("bad_cross_check", line.bad_cross_check).unwrap_or_default(),
        percent(line.distinct),
        percent(line.valid),
        maybe("agreement", line.agreement).unwrap_or_default(),
        maybe("truth", line.truth).unwrap_or_default(),
        line.entropy,
        line.ratio,
        line.gradient_norm,
        line.step_s,
    )
}

/// A number of a step.
type Value = fn(&StepMetrics) -> Option<f64>;

/// All curves, a line each.
fn curves(lines: &[StepMetrics]) -> String {
    let every: [(&str, Value, Option<f64>); 9] = [
        ("calibrated, by itself", |line| Some(line.calibrated), Some(1.0)),
        ("by the fixed check", |line| line.fixed_calibrated, Some(1.0)),
        ("bad_cross_check", |line| line.bad_cross_check, Some(1.0)),
        ("reward", |line| Some(line.reward), None),
        ("distinct questions", |line| Some(line.distinct), Some(1.0)),
        ("valid questions", |line| Some(line.valid), Some(1.0)),
        ("agreement with check", |line| line.agreement, Some(1.0)),
        ("agreement with oracle", |line| line.truth, Some(1.0)),
        ("entropy", |line| Some(line.entropy), None),
    ];
    let mut shown = String::new();
    for (at, (name, value, top)) in every.iter().enumerate() {
        let values: Vec<f64> = lines.iter().filter_map(value).collect();
        let Some(last) = values.last() else { continue };
        let style = if at < 2 { GOOD } else { NOTE };
        let now = if top.is_some() { format!("{:5.1}%", 100.0 * last) } else { format!("{last:6.3}") };
        let line = format!("{name:>22} {} {now}\n", paint(style, sparkline(&values, *top)));
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
