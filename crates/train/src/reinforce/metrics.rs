//! Metrics of each step: one line of `metrics.jsonl`.

use super::TrainError;
use super::checkpoint::io_error;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file of a training run's metrics.
const FILE: &str = "metrics.jsonl";

/// The metrics of one step. Fractions are between 0 and 1; what was not measured is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepMetrics {
    /// Step number, starting at 1.
    pub step: u64,
    /// Rollouts used for the update.
    pub rollouts: usize,
    /// Rollouts that failed for infrastructure reasons; never scored.
    pub failures: usize,
    /// Rollouts skipped because they exceed the maximum length.
    pub overlong: usize,
    /// Asker turns that reached the token limit.
    pub truncated: usize,
    /// Mean reward.
    pub reward: f64,
    /// Its outcome component.
    pub reward_calibration: f64,
    /// Its format component.
    pub reward_format: f64,
    /// Its diversity component.
    pub reward_diversity: f64,
    /// Fraction of calibrated rollouts, as judged by the policy itself.
    pub calibrated: f64,
    /// Fraction of too easy ones.
    pub too_easy: f64,
    /// Fraction of too hard ones.
    pub too_hard: f64,
    /// Fraction without a final question.
    pub no_question: f64,
    /// Fraction whose cross-check answer could not be used; `None` in files of earlier versions.
    pub bad_cross_check: Option<f64>,
    /// Fraction of calibrated ones, as judged by the fixed cross-check solver.
    pub fixed_calibrated: Option<f64>,
    /// Agreement between the policy and the fixed cross-check solver on final questions.
    pub agreement: Option<f64>,
    /// Agreement between the policy and the oracle.
    pub truth: Option<f64>,
    /// Fraction of distinct final questions.
    pub distinct: f64,
    /// Fraction of rollouts with an answerable question.
    pub valid: f64,
    /// Mean distance of questions to their nearest neighbours, before gating.
    pub novelty: f64,
    /// Tokens sampled by the policy.
    pub tokens: u64,
    /// All tokens, including prompts.
    pub read: u64,
    /// Loss before the step.
    pub loss: f64,
    /// Gradient norm before clipping.
    pub gradient_norm: f64,
    /// Learning rate.
    pub rate: f64,
    /// Mean importance ratio.
    pub ratio: f64,
    /// Fraction of tokens whose ratio was clipped.
    pub clipped: f64,
    /// Mean absolute difference of log-probabilities between sampling and training.
    pub drift: f64,
    /// Mean entropy of the policy.
    pub entropy: f64,
    /// Seconds spent handing the weights to the sampler.
    pub serving_s: f64,
    /// Seconds spent sampling the next step's rollouts.
    pub sampling_s: f64,
    /// Seconds spent on the update.
    pub learning_s: f64,
    /// Seconds of the whole step.
    pub step_s: f64,
    /// When the step was finished, in seconds since 1970; `None` in files of earlier versions.
    pub unix_time_s: Option<f64>,
}

/// Appends to the metrics of a run.
pub struct MetricsWriter {
    path: PathBuf,
    file: File,
}

impl MetricsWriter {
    /// Opens the file and truncates it to the first `steps` steps, which it returns.
    pub fn open(folder: &Path, steps: u64) -> Result<(Self, Vec<StepMetrics>), TrainError> {
        let path = folder.join(FILE);
        let mut lines = read_lines(&path)?;
        lines.retain(|(_, line)| line.step <= steps);
        // As they are: serde_json does not read every number back exactly.
        let kept: String = lines.iter().flat_map(|(text, _)| [text.as_str(), "\n"]).collect();
        let fresh = folder.join(format!("{FILE}.new"));
        std::fs::write(&fresh, kept)
            .and_then(|()| std::fs::rename(&fresh, &path))
            .map_err(io_error(&path))?;
        let file = OpenOptions::new().append(true).open(&path).map_err(io_error(&path))?;
        Ok((Self { path, file }, lines.into_iter().map(|(_, line)| line).collect()))
    }

    /// Adds a step.
    pub fn append(&mut self, metrics: &StepMetrics) -> Result<(), TrainError> {
        let text = serde_json::to_string(metrics).unwrap_or_default() + "\n";
        self.file.write_all(text.as_bytes()).map_err(io_error(&self.path))
    }
}

/// Reads the metrics of a training run; an incomplete last line is ignored.
pub fn read_metrics(folder: &Path) -> Result<Vec<StepMetrics>, TrainError> {
    Ok(read_lines(&folder.join(FILE))?.into_iter().map(|(_, line)| line).collect())
}

/// The complete lines of a file of metrics, and what they say.
fn read_lines(path: &Path) -> Result<Vec<(String, StepMetrics)>, TrainError> {
    let parse = |line: &str| Some((line.to_owned(), serde_json::from_str(line).ok()?));
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text.lines().map_while(parse).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(io_error(path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_earlier_versions_are_read_and_keep_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let old = r#"{"step":1,"rollouts":4,"calibrated":0.5,"too_easy":0.25,"no_question":0.25}"#;
        std::fs::write(folder.path().join(FILE), format!("{old}\n")).unwrap();
        let (mut writer, earlier) = MetricsWriter::open(folder.path(), 1).unwrap();
        assert_eq!((earlier.len(), earlier[0].calibrated, earlier[0].bad_cross_check), (1, 0.5, None));
        writer
            .append(&StepMetrics { step: 2, bad_cross_check: Some(0.75), ..StepMetrics::default() })
            .unwrap();
        let text = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert_eq!(text.lines().next(), Some(old), "lines are kept as they are");
        let read = read_metrics(folder.path()).unwrap();
        let shares: Vec<Option<f64>> = read.iter().map(|line| line.bad_cross_check).collect();
        assert_eq!(shares, [None, Some(0.75)]);
    }
}
