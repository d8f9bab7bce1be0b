//! What each step came to: one line of `metrics.jsonl`.

use super::TrainError;
use super::checkpoint::wrong;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file of a training run's metrics.
const FILE: &str = "metrics.jsonl";

/// One step. Shares are of one; what was not measured is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Line {
    /// The step, counted from 1.
    pub step: u64,
    /// Rollouts that were learnt from.
    pub rollouts: usize,
    /// Rollouts that infrastructure kept from finishing; never scored.
    pub failures: usize,
    /// Rollouts left out because they are longer than the trainer takes.
    pub overlong: usize,
    /// Turns of the asker that ran out of tokens.
    pub truncated: usize,
    /// The mean reward.
    pub reward: f64,
    /// Its part for the outcome.
    pub reward_calibration: f64,
    /// Its part for the format.
    pub reward_format: f64,
    /// Its part for diversity.
    pub reward_diversity: f64,
    /// The share of calibrated rollouts, by the policy's own judgement.
    pub calibrated: f64,
    /// The share of too easy ones.
    pub too_easy: f64,
    /// The share of too hard ones.
    pub too_hard: f64,
    /// The share without a final question.
    pub no_question: f64,
    /// The share of calibrated ones by the fixed cross-check solver, of those it was asked about.
    pub fixed_calibrated: Option<f64>,
    /// How often policy and fixed cross-check solver give the same answer to a final question.
    pub agreement: Option<f64>,
    /// How often the policy's answer is the oracle's.
    pub truth: Option<f64>,
    /// Different final questions, as a share of all.
    pub distinct: f64,
    /// The share of rollouts with a question that has an answer.
    pub valid: f64,
    /// How far a question is from its nearest neighbours, before it is gated.
    pub novelty: f64,
    /// The policy's own tokens.
    pub tokens: u64,
    /// All tokens it learnt from.
    pub read: u64,
    /// The loss before the step.
    pub loss: f64,
    /// The gradient's norm before clipping.
    pub gradient_norm: f64,
    /// The learning rate.
    pub rate: f64,
    /// The mean importance ratio.
    pub ratio: f64,
    /// The share of tokens whose ratio was clipped.
    pub clipped: f64,
    /// The mean difference of log-probabilities between sampling and learning, without its sign.
    pub drift: f64,
    /// The mean entropy of the policy's choices.
    pub entropy: f64,
    /// Seconds spent on sampling the next step's rollouts.
    pub sampling_s: f64,
    /// Seconds spent on learning.
    pub learning_s: f64,
    /// Seconds of the whole step.
    pub step_s: f64,
}

/// The metrics of a run, open for more.
pub struct Metrics {
    path: PathBuf,
    file: File,
}

impl Metrics {
    /// Opens the file and keeps the lines of the first steps; later ones will be written again.
    pub fn open(folder: &Path, steps: u64) -> Result<(Self, Vec<Line>), TrainError> {
        let path = folder.join(FILE);
        let mut lines = read_metrics(folder)?;
        lines.retain(|line| line.step <= steps);
        let kept: String =
            lines.iter().filter_map(|line| Some(serde_json::to_string(line).ok()? + "\n")).collect();
        let fresh = folder.join(format!("{FILE}.new"));
        std::fs::write(&fresh, kept).and_then(|()| std::fs::rename(&fresh, &path)).map_err(wrong(&path))?;
        let file = OpenOptions::new().append(true).open(&path).map_err(wrong(&path))?;
        Ok((Self { path, file }, lines))
    }

    /// Adds a step.
    pub fn add(&mut self, line: &Line) -> Result<(), TrainError> {
        let text = serde_json::to_string(line).unwrap_or_default() + "\n";
        self.file.write_all(text.as_bytes()).map_err(wrong(&self.path))
    }
}

/// The metrics of a training run; a torn last line is left out.
pub fn read_metrics(folder: &Path) -> Result<Vec<Line>, TrainError> {
    let path = folder.join(FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().map_while(|line| serde_json::from_str(line).ok()).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(wrong(&path)(error)),
    }
}
