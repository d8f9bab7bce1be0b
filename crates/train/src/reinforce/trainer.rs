//! The training loop: updates the policy on one step's rollouts while the next step's are sampled.

use super::checkpoint::{self, SavedProgress};
use super::monitor::alerts;
use super::resume::ResumePoint;
use super::sampler::{PolicySource, SampledStep};
use super::{
    CollapseMonitor, MetricsWriter, MonitorReport, PolicyServer, ResumeError, Rollout, RolloutSampler,
    ScoredRollout, StepMetrics, ThresholdAlert, TokenSequence, pack_batches, score_rollouts, token_sequences,
};
use crate::{Batch, LearnError, Objective, Policy, StepStats};
use aske_bench::PairSchedule;
use aske_chat::Hint;
use aske_config::TrainSection;
use aske_diversity::{EmbedError, Embedder, NoveltyBuffer, NoveltyError};
use aske_model::{Halt, ModelError, ProviderError};
use aske_record::RunError;
use aske_session::{Outcome, TurnError};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::{Instant, UNIX_EPOCH};

/// An error that ends training.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The policy failed.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The run folder failed.
    #[error(transparent)]
    Folder(#[from] RunError),
    /// A model gave no reply.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A conversation cannot be tokenized.
    #[error("{}", .0.message)]
    Prompt(ProviderError),
    /// The servers that sample the policy failed.
    #[error("the vLLM servers of the policy: {}", .0.message)]
    Sampler(ProviderError),
    /// Questions cannot be embedded.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// Questions cannot be compared.
    #[error(transparent)]
    Novelty(#[from] NoveltyError),
    /// No rollout of a step finished.
    #[error("step {step}: no rollout finished; the first failure: {failure}")]
    NoRollouts {
        /// The step.
        step: u64,
        /// The first failure.
        failure: String,
    },
    /// The update of a step failed.
    #[error("step {step}: {source}")]
    Step {
        /// The step.
        step: u64,
        /// The cause.
        source: LearnError,
    },
    /// Replies of a finished session cannot be read back.
    #[error("step {step}: the replies of the session {session} are not all in the folder")]
    Incomplete {
        /// The step.
        step: u64,
        /// The session.
        session: String,
    },
    /// The folder holds a longer training.
    #[error("the folder holds a training of {taken} steps, and train.steps is {steps}")]
    FewerSteps {
        /// Steps already taken.
        taken: u64,
        /// Configured steps.
        steps: u64,
    },
    /// The training thread panicked.
    #[error("the training thread panicked")]
    Panicked(#[source] tokio::task::JoinError),
}

impl Hint for TrainError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Learn(error) | Self::Step { source: error, .. } => error.hint(),
            Self::Folder(error) => Hint::hint(error),
            Self::Model(error) => Hint::hint(error),
            Self::Embed(error) => Hint::hint(error),
            Self::Novelty(error) => Hint::hint(error),
            Self::Sampler(_) => {
                Some("is the server up, and does it read the folder of train.vllm.weights_dir?".into())
            }
            Self::Incomplete { .. } => {
                Some("is another program changing calls.sqlite? run the same command again".into())
            }
            Self::FewerSteps { taken, .. } => {
                Some(format!("name another folder with --run, or set --steps to {taken} or more").into())
            }
            _ => None,
        }
    }
}

/// Why training ended.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// All steps are taken.
    Done,
    /// Interrupted; it can be resumed.
    Halted,
    /// Metrics stayed below their minimum for several steps.
    Collapsed(Vec<ThresholdAlert>),
}

/// Observes a training run: progress display, tests.
pub trait TrainObserver: Sync {
    /// A session of this step is finished.
    fn session_finished(&self, _step: u64) {}
    /// A step is finished.
    fn step_finished(&self, _metrics: &StepMetrics) {}
    /// A checkpoint cannot be resumed from; an earlier one is tried.
    fn checkpoint_skipped(&self, _checkpoint: &Path, _reason: &ResumeError) {}
    /// Training resumes from this checkpoint.
    fn resumed(&self, _checkpoint: &Path) {}
    /// A checkpoint was written and checked.
    fn checkpoint_saved(&self, _checkpoint: &Path) {}
}

/// A training run.
pub struct Trainer<'t> {
    /// The configuration.
    pub config: &'t TrainSection,
    /// The objective.
    pub objective: Objective,
    /// Selects the pairs of each step.
    pub schedule: PairSchedule,
    /// Runs sessions.
    pub sampler: RolloutSampler<'t>,
    /// Samples the policy.
    pub server: PolicyServer,
    /// Detects reward hacking.
    pub monitor: CollapseMonitor,
    /// Embeds questions for the diversity term.
    pub embedder: Embedder,
    /// Folder for metrics and checkpoints.
    pub folder: PathBuf,
    /// Interrupts the run.
    pub halt: &'t Halt,
}

/// The rollouts of a step.
pub(super) struct StepRollouts {
    pub(super) groups: Vec<Vec<Rollout>>,
    pub(super) failures: usize,
}

impl StepRollouts {
    fn names(&self) -> Vec<String> {
        self.groups.iter().flatten().map(|rollout| rollout.name.clone()).collect()
    }
}

impl Trainer<'_> {
    /// The folder of checkpoints.
    pub fn checkpoints(&self) -> PathBuf {
        self.folder.join("checkpoints")
    }

    /// Trains from the latest checkpoint, or from scratch, to the last step. Returns the policy.
    pub async fn run(
        &self,
        mut policy: Box<dyn Policy>,
        observer: &dyn TrainObserver,
    ) -> Result<(Box<dyn Policy>, StopReason), TrainError> {
        let mut buffer =
            NoveltyBuffer::new(self.config.buffer_size, self.config.num_neighbors, &self.embedder);
        let finite = policy.check_finite();
        finite.map_err(|_| LearnError::Untrainable("the weights of the model are not finite".to_owned()))?;
        let resumed = self.resume(policy.as_mut(), &mut buffer, observer)?;
        let ResumePoint { mut step, mut rollouts } =
            resumed.unwrap_or(ResumePoint { step: 0, rollouts: None });
        let (mut writer, earlier) = MetricsWriter::open(&self.folder, step)?;
        for metrics in &earlier {
            observer.step_finished(metrics);
        }
        if step == 0 {
            let serving = self.server.serve(policy.as_ref(), 0).await?;
            rollouts = self.sample(0, serving, observer).await?;
        }
        let bad = |metrics: &&StepMetrics| !alerts(metrics, &self.config.watch).is_empty();
        let mut bad_steps = earlier.iter().rev().take_while(bad).count() as u64;
        if let Some(metrics) = earlier.last()
            && self.is_collapse(bad_steps)
        {
            return Ok((policy, StopReason::Collapsed(alerts(metrics, &self.config.watch))));
        }
        while step < self.config.steps {
            // Only if the run was interrupted.
            let Some(current) = rollouts else { return Ok((policy, StopReason::Halted)) };
            let begun = Instant::now();
            let more = step + 1 < self.config.steps;
            let serving = if more { Some(self.server.serve(policy.as_ref(), step).await?) } else { None };
            let serving_s = begun.elapsed().as_secs_f64();
            let mut metrics =
                StepMetrics { step: step + 1, failures: current.failures, ..StepMetrics::default() };
            let batches = self.prepare(&current, policy.as_ref(), &mut buffer, &mut metrics)?;
            let learning_rate = self.learning_rate(step);
            let (loss, abort_grad_norm) = (self.objective.loss, self.config.stop_grad_norm);
            let learn = move || {
                let begun = Instant::now();
                let stats = if batches.is_empty() {
                    Ok(StepStats::default())
                } else {
                    policy.step(&batches, loss, learning_rate, abort_grad_norm)
                };
                // The update can overflow even if loss and gradient are finite.
                let stats = stats.and_then(|stats| policy.check_finite().map(|()| stats));
                (policy, stats, begun.elapsed().as_secs_f64())
            };
            let (sampling, sampled) = tokio::sync::oneshot::channel::<()>();
            let learning = async {
                if self.config.vllm.colocate {
                    // Ends when `sampling` is dropped.
                    let _ = sampled.await;
                }
                tokio::task::spawn_blocking(learn).await.map_err(TrainError::Panicked)
            };
            let next = async {
                let begun = Instant::now();
                let next = match serving {
                    Some(serving) => self.sample(step + 1, serving, observer).await?,
                    None => None,
                };
                drop(sampling);
                Ok::<_, TrainError>((next, begun.elapsed().as_secs_f64()))
            };
            let all: Vec<&Rollout> = current.groups.iter().flatten().collect();
            let judging = async { Ok::<_, TrainError>(self.monitor.judge(&all, self.halt).await) };
            let ((next, sampling_s), report, (returned, stats, learning_s)) =
                futures_util::try_join!(next, judging, learning)?;
            policy = returned;
            let stats = stats.map_err(|source| TrainError::Step { step: step + 1, source })?;
            if more && next.is_none() || self.halt.is_triggered() {
                return Ok((policy, StopReason::Halted));
            }
            fill_update_metrics(&mut metrics, &stats, report?, learning_rate);
            (metrics.serving_s, metrics.sampling_s, metrics.learning_s) = (serving_s, sampling_s, learning_s);
            metrics.step_s = begun.elapsed().as_secs_f64();
            metrics.unix_time_s = UNIX_EPOCH.elapsed().ok().map(|time| time.as_secs_f64());
            step += 1;
            writer.append(&metrics)?;
            observer.step_finished(&metrics);
            rollouts = next;
            if self.saves_checkpoint(step) {
                let pending = rollouts.as_ref().map(StepRollouts::names).unwrap_or_default();
                let (folder, progress) = (self.checkpoints(), SavedProgress { step, pending });
                let bytes = buffer.to_bytes()?;
                let path = checkpoint::write(
                    &folder,
                    &progress,
                    policy.as_ref(),
                    &bytes,
                    self.config.keep_checkpoints,
                )?;
                observer.checkpoint_saved(&path);
            }
            let alerts = alerts(&metrics, &self.config.watch);
            bad_steps = if alerts.is_empty() { 0 } else { bad_steps + 1 };
            if self.is_collapse(bad_steps) {
                return Ok((policy, StopReason::Collapsed(alerts)));
            }
        }
        Ok((policy, StopReason::Done))
    }

    /// Whether this many consecutive bad steps end the run.
    fn is_collapse(&self, bad_steps: u64) -> bool {
        let patience = self.config.watch.patience;
        patience > 0 && bad_steps >= patience
    }

    /// Whether a checkpoint is written after this many steps.
    ///
    /// The one before the last step makes it possible to extend the training: the rollouts of the step after the last are
    /// sampled with its weights.
    fn saves_checkpoint(&self, step: u64) -> bool {
        step.is_multiple_of(self.config.checkpoint_every.max(1)) || step + 1 >= self.config.steps
    }

    /// Learning rate of a step: linear warm-up, then constant.
    fn learning_rate(&self, step: u64) -> f64 {
        let warmup = (step + 1) as f64 / self.config.warmup_steps.max(1) as f64;
        self.config.learning_rate * warmup.min(1.0)
    }

    /// Samples the rollouts of a step with the weights of one update before; `None` if interrupted.
    async fn sample(
        &self,
        step: u64,
        serving: Box<dyn aske_model::Provider>,
        observer: &dyn TrainObserver,
    ) -> Result<Option<StepRollouts>, TrainError> {
        let finished = || observer.session_finished(step + 1);
        let source =
            PolicySource { provider: serving, server: &self.server, version: step.saturating_sub(1) };
        let sampled = self.sampler.sample(&self.schedule.step(step), source, &finished).await?;
        let SampledStep { groups, failures, incomplete, halted } = sampled;
        if halted {
            // Halted by a failure that affects every session, or by the user while calls were being retried.
            let lasting = failures.into_iter().find(|failed| failed.failure.cause.is_lasting());
            return lasting.map_or(Ok(None), |failed| Err(failed.failure.into()));
        }
        if let Some(session) = incomplete.into_iter().next() {
            return Err(TrainError::Incomplete { step: step + 1, session });
        }
        if groups.iter().all(Vec::is_empty) {
            let failure =
                failures.first().map_or_else(|| "none".to_owned(), |failed| failed.failure.to_string());
            return Err(TrainError::NoRollouts { step: step + 1, failure });
        }
        Ok(Some(StepRollouts { groups, failures: failures.len() }))
    }

    /// Computes rewards and batches of a step and adds its questions to the buffer.
    fn prepare(
        &self,
        rollouts: &StepRollouts,
        policy: &dyn Policy,
        buffer: &mut NoveltyBuffer,
        metrics: &mut StepMetrics,
    ) -> Result<Vec<Batch>, TrainError> {
        let novelty = self.novelty(&rollouts.groups, buffer)?;
        let scored = score_rollouts(&rollouts.groups, &novelty, self.objective);
        let mut used: Vec<(Vec<TokenSequence>, f64)> = Vec::new();
        for (rollout, scored) in rollouts.groups.iter().flatten().zip(scored.iter().flatten()) {
            let sequences =
                token_sequences(rollout, |messages| policy.prompt(messages)).map_err(TrainError::Prompt)?;
            let lengths = sequences.iter().map(|sequence| sequence.tokens.len());
            let length = lengths.clone().max().unwrap_or(0);
            if length > self.config.max_train_tokens.min(policy.max_sequence_length()) {
                metrics.overlong += 1;
            } else {
                metrics.read += lengths.sum::<usize>() as u64;
                used.push((sequences, scored.advantage));
            }
        }
        metrics.rollouts = used.len();
        fill_rollout_metrics(metrics, &rollouts.groups, &scored, &novelty);
        if used.iter().all(|(_, advantage)| *advantage == 0.0) {
            return Ok(Vec::new());
        }
        Ok(pack_batches(&used, self.objective, self.config.micro_batch_tokens))
    }

    /// The diversity term of each rollout before gating; zero without a question.
    fn novelty(
        &self,
        groups: &[Vec<Rollout>],
        buffer: &mut NoveltyBuffer,
    ) -> Result<Vec<Vec<f64>>, TrainError> {
        let question = |rollout: &Rollout| rollout.transcript.answers().question.map(str::to_owned);
        let texts: Vec<Option<String>> = groups.iter().flatten().map(question).collect();
        let asked: Vec<&str> = texts.iter().flatten().map(String::as_str).collect();
        let vectors = self.embedder.embed(&asked)?;
        let mut novelties = buffer.novelties(&vectors)?.into_iter();
        buffer.extend(&vectors)?;
        let mut texts = texts.iter();
        let mut one = || match texts.next() {
            Some(Some(_)) => self.config.diversity_coef * novelties.next().unwrap_or(0.0),
            _ => 0.0,
        };
        Ok(groups.iter().map(|group| group.iter().map(|_| one()).collect()).collect())
    }
}

/// Fills in means over a step's rollouts.
fn fill_rollout_metrics(
    metrics: &mut StepMetrics,
    groups: &[Vec<Rollout>],
    scored: &[Vec<ScoredRollout>],
    novelty: &[Vec<f64>],
) {
    let rollouts: Vec<&Rollout> = groups.iter().flatten().collect();
    let count = rollouts.len().max(1) as f64;
    let mean =
        |value: &dyn Fn(&ScoredRollout) -> f64| scored.iter().flatten().map(value).sum::<f64>() / count;
    metrics.reward = mean(&|scored| scored.reward.total());
    metrics.reward_calibration = mean(&|scored| scored.reward.calibration);
    metrics.reward_format = mean(&|scored| scored.reward.format);
    metrics.reward_diversity = mean(&|scored| scored.reward.diversity);
    metrics.novelty = novelty.iter().flatten().sum::<f64>() / count;
    let share = |outcome: Outcome| {
        rollouts.iter().filter(|rollout| rollout.grade.outcome == outcome).count() as f64 / count
    };
    metrics.calibrated = share(Outcome::Calibrated);
    metrics.too_easy = share(Outcome::TooEasy);
    metrics.too_hard = share(Outcome::TooHard);
    metrics.no_question = share(Outcome::NoQuestion);
    metrics.bad_cross_check = Some(share(Outcome::BadCrossCheck));
    let turns = rollouts.iter().flat_map(|rollout| &rollout.transcript.turns);
    metrics.truncated = turns.filter(|turn| turn.error == Some(TurnError::Truncated)).count();
}

fn fill_update_metrics(
    metrics: &mut StepMetrics,
    stats: &StepStats,
    report: MonitorReport,
    learning_rate: f64,
) {
    metrics.tokens = stats.tokens;
    metrics.loss = stats.loss;
    metrics.gradient_norm = stats.grad_norm;
    metrics.ratio = stats.mean_ratio;
    metrics.clipped = stats.clip_fraction;
    metrics.drift = stats.mean_abs_log_ratio;
    metrics.entropy = stats.entropy;
    metrics.rate = learning_rate;
    metrics.distinct = report.distinct;
    metrics.valid = report.valid;
    metrics.agreement = report.agreement;
    metrics.fixed_calibrated = report.fixed_calibrated;
    metrics.truth = report.truth;
}
