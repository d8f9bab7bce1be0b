//! The curves of a training, live: sparklines on a terminal, a plain line for each step elsewhere.

use crate::output::{DIM, GOOD, NOTE, note, paint};
use crate::progress::bar;
use aske_config::TrainSection;
use aske_train::reinforce::{Line, PassedOver, Watcher};
use indicatif::{HumanDuration, ProgressBar};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const WIDE: usize = 48;

/// Watches a training and shows it on stderr.
pub(super) struct Curves {
    bar: ProgressBar,
    plain: bool,
    steps: u64,
    rollouts: u64,
    sampled: AtomicU64,
    lines: Mutex<Vec<Line>>,
    /// The latest checkpoint that was found or written whole.
    good: Mutex<Option<PathBuf>>,
}

impl Curves {
    pub(super) fn new(train: &TrainSection) -> Self {
        let (bar, plain) = bar(train.steps, "steps");
        let rollouts = train.groups as u64 * u64::from(train.group_size);
        Self {
            bar,
            plain,
            steps: train.steps,
            rollouts,
            sampled: AtomicU64::new(0),
            lines: Mutex::default(),
            good: Mutex::default(),
        }
    }

    /// Shows the state again and again; ends never, so it runs beside the work.
    pub(super) async fn keep_showing(&self) -> std::convert::Infallible {
        loop {
            tokio::time::sleep(Duration::from_millis(250)).await;
            if !self.plain {
                self.bar.set_message(self.shown());
            }
        }
    }

    /// The latest checkpoint that was found or written whole, since the program started.
    pub(super) fn last_good(&self) -> Option<PathBuf> {
        self.good.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Removes the live lines and leaves the curves.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.plain && !lines.is_empty() {
            note(curves(&lines));
        }
    }

    fn shown(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
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

impl Watcher for Curves {
    fn sampled(&self, _: u64) {
        self.sampled.fetch_add(1, Ordering::Relaxed);
    }

    fn stepped(&self, line: &Line) {
        self.bar.set_position(line.step);
        if self.plain {
            note(step(line));
        }
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line.clone());
    }

    fn passed_over(&self, checkpoint: &Path, why: &PassedOver) {
        self.bar.suspend(|| note(format_args!("passing over {}: {why}", checkpoint.display())));
    }

    fn resumed(&self, checkpoint: &Path) {
        self.kept(checkpoint);
        self.bar.suspend(|| note(format_args!("going on from {}", checkpoint.display())));
    }

    fn kept(&self, checkpoint: &Path) {
        *self.good.lock().unwrap_or_else(PoisonError::into_inner) = Some(checkpoint.to_owned());
    }
}

/// One step as a line.
fn step(line: &Line) -> String {
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    let maybe = |name: &str, share: Option<f64>| share.map(|share| format!(" · {name} {}", percent(share)));
    format!(
        "step {} · reward {:.3} · calibrated {}{} · distinct {} · valid {}{}{} · entropy {:.3} · ratio {:.4} · gradient {:.3} · {:.1} s",
        line.step,
        line.reward,
        percent(line.calibrated),
        maybe("by the fixed check", line.fixed_calibrated).unwrap_or_default(),
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
type Value = fn(&Line) -> Option<f64>;

/// All curves, a line each.
fn curves(lines: &[Line]) -> String {
    let every: [(&str, Value, Option<f64>); 8] = [
        ("calibrated, by itself", |line| Some(line.calibrated), Some(1.0)),
        ("by the fixed check", |line| line.fixed_calibrated, Some(1.0)),
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

/// Values as bars from nought up to the top, or between their own ends; the latest last.
fn sparkline(values: &[f64], top: Option<f64>) -> String {
    let (low, high) = match top {
        Some(top) => (0.0, top),
        None => values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        }),
    };
    let each = values.len().div_ceil(WIDE).max(1);
    let means = values.chunks(each).map(|chunk| chunk.iter().sum::<f64>() / chunk.len() as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place among eight")]
    let bar = |mean: f64| {
        let share = if high > low { (mean - low) / (high - low) } else { 0.5 };
        BARS[((share * 8.0).clamp(0.0, 7.0)) as usize]
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
        assert!(sparkline(&many, None).chars().count() <= super::WIDE);
    }
}
