//! The loop: learn from one step's rollouts while the next step's are sampled.

use super::checkpoint::{self, Progress};
use super::resume::Standing;
use super::sampler::Sampled;
use super::watch::alarms;
use super::{
    Alarm, Line, Metrics, PassedOver, Rewarded, Rollout, Row, Sampler, Seen, Watch, batches, rewards, rows,
};
use crate::{Batch, LearnError, Objective, Policy, Reinforced};
use aske_bench::PairSchedule;
use aske_config::TrainSection;
use aske_diversity::{EmbedError, Embedder, NoveltyBuffer, NoveltyError};
use aske_model::{Halt, ModelError, ProviderError};
use aske_record::RunError;
use aske_session::{Outcome, TurnError};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Why training cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The policy cannot learn.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The run folder failed.
    #[error(transparent)]
    Folder(#[from] RunError),
    /// A model gave no reply.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A conversation cannot be read.
    #[error("{}", .0.message)]
    Prompt(ProviderError),
    /// Questions cannot be embedded.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// Questions cannot be compared.
    #[error(transparent)]
    Novelty(#[from] NoveltyError),
    /// Nothing of a step could be sampled.
    #[error("step {step}: no rollout finished; the first failure: {failure}")]
    NoRollouts {
        /// The step.
        step: u64,
        /// Its first failure.
        failure: String,
    },
    /// The policy cannot learn in this step.
    #[error("step {step}: {error}")]
    Step {
        /// The step.
        step: u64,
        /// Why.
        error: LearnError,
    },
    /// Replies of a finished session cannot be read back.
    #[error(
        "step {step}: the replies of the session {session} are not all in the folder\nhint: is another program changing calls.sqlite? run the same command again"
    )]
    Incomplete {
        /// The step.
        step: u64,
        /// The session.
        session: String,
    },
    /// The folder holds a longer training.
    #[error(
        "the folder holds a training of {taken} steps, and train.steps is {steps}\nhint: name another folder with --run, or set --steps to {taken} or more"
    )]
    Longer {
        /// Steps that were taken.
        taken: u64,
        /// Steps asked for.
        steps: u64,
    },
    /// The thread that learns has gone.
    #[error("learning ended without a result")]
    Gone,
}

/// Why training ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// All steps are taken.
    Done,
    /// The user has ended it; it can go on.
    Halted,
    /// The watch saw a collapse for several steps.
    Collapsed(Vec<Alarm>),
}

/// Is told how training comes along.
pub trait Watcher: Sync {
    /// A session of this step is finished.
    fn sampled(&self, _step: u64) {}
    /// A step is taken.
    fn stepped(&self, _line: &Line) {}
    /// A checkpoint cannot be gone on from; an earlier one is tried.
    fn passed_over(&self, _checkpoint: &Path, _why: &PassedOver) {}
    /// Training goes on from this checkpoint.
    fn resumed(&self, _checkpoint: &Path) {}
    /// Every number of this new checkpoint is finite, and all of it is on the disk.
    fn kept(&self, _checkpoint: &Path) {}
}

/// A training run.
pub struct Trainer<'t> {
    /// What to do.
    pub plan: &'t TrainSection,
    /// The loss.
    pub objective: Objective,
    /// Which pairs, when.
    pub course: PairSchedule,
    /// Who runs sessions.
    pub sampler: Sampler<'t>,
    /// Who looks for collapse.
    pub watch: Watch,
    /// Who tells how alike questions are.
    pub embedder: Embedder,
    /// Where metrics and checkpoints go.
    pub folder: PathBuf,
    /// Ends the run early.
    pub halt: &'t Halt,
}

/// What a step learns from.
pub(super) struct Material {
    pub(super) groups: Vec<Vec<Rollout>>,
    pub(super) failures: usize,
}

impl Material {
    fn names(&self) -> Vec<String> {
        self.groups.iter().flatten().map(|rollout| rollout.name.clone()).collect()
    }
}

impl Trainer<'_> {
    /// Where checkpoints go.
    pub fn checkpoints(&self) -> PathBuf {
        self.folder.join("checkpoints")
    }

    /// Trains from the latest checkpoint, or from the start, to the last step. Gives the policy back.
    pub async fn run(
        &self,
        mut policy: Box<dyn Policy>,
        watcher: &dyn Watcher,
    ) -> Result<(Box<dyn Policy>, Stop), TrainError> {
        let mut buffer = NoveltyBuffer::new(self.plan.buffer_size, self.plan.num_neighbors, &self.embedder);
        policy.check().map_err(|_| {
            LearnError::Start("the weights of the model that should learn are not finite".to_owned())
        })?;
        let resumed = self.resume(policy.as_mut(), &mut buffer, watcher)?;
        let Standing { mut step, mut material } = resumed.unwrap_or(Standing { step: 0, material: None });
        let (mut metrics, before) = Metrics::open(&self.folder, step)?;
        for line in &before {
            watcher.stepped(line);
        }
        if step == 0 {
            material = self.sample(step, policy.as_ref(), watcher).await?;
        }
        let bad = |line: &&Line| !alarms(line, &self.plan.watch).is_empty();
        let mut bad_steps = before.iter().rev().take_while(bad).count() as u64;
        if let Some(line) = before.last()
            && self.is_collapse(bad_steps)
        {
            return Ok((policy, Stop::Collapsed(alarms(line, &self.plan.watch))));
        }
        while step < self.plan.steps {
            // Only where the user has ended the run.
            let Some(current) = material else { return Ok((policy, Stop::Halted)) };
            let begun = Instant::now();
            let more = step + 1 < self.plan.steps;
            let serving = more.then(|| policy.serve()).transpose()?;
            let mut line = Line { step: step + 1, failures: current.failures, ..Line::default() };
            let learnt = self.prepare(&current, policy.as_ref(), &mut buffer, &mut line)?;
            let rate = self.rate(step);
            let (loss, longest) = (self.objective.loss, self.plan.stop_grad_norm);
            let learning = tokio::task::spawn_blocking(move || {
                let begun = Instant::now();
                let done = if learnt.is_empty() {
                    Ok(Reinforced::default())
                } else {
                    policy.learn(&learnt, loss, rate, longest)
                };
                // A step can overflow although its loss and its gradient were finite.
                let done = done.and_then(|done| policy.check().map(|()| done));
                (policy, done, begun.elapsed().as_secs_f64())
            });
            let next = async {
                let begun = Instant::now();
                let next = match serving {
                    Some(serving) => self.sample_with(step + 1, serving, watcher).await?,
                    None => None,
                };
                Ok::<_, TrainError>((next, begun.elapsed().as_secs_f64()))
            };
            let all: Vec<&Rollout> = current.groups.iter().flatten().collect();
            let look = async { Ok::<_, TrainError>(self.watch.look(&all, self.halt).await) };
            let ((next, sampling_s), seen) = futures_util::try_join!(next, look)?;
            let (back, done, learning_s) = learning.await.map_err(|_| TrainError::Gone)?;
            policy = back;
            let done = done.map_err(|error| TrainError::Step { step: step + 1, error })?;
            if more && next.is_none() || self.halt.is_triggered() {
                return Ok((policy, Stop::Halted));
            }
            fill(&mut line, &done, seen?, rate);
            (line.sampling_s, line.learning_s) = (sampling_s, learning_s);
            line.step_s = begun.elapsed().as_secs_f64();
            step += 1;
            metrics.add(&line)?;
            watcher.stepped(&line);
            material = next;
            if self.keeps(step) {
                let pending = material.as_ref().map(Material::names).unwrap_or_default();
                let (folder, progress) = (self.checkpoints(), Progress { step, pending });
                let bytes = buffer.to_bytes()?;
                let path = checkpoint::write(
                    &folder,
                    &progress,
                    policy.as_ref(),
                    &bytes,
                    self.plan.keep_checkpoints,
                )?;
                watcher.kept(&path);
            }
            let seen = alarms(&line, &self.plan.watch);
            bad_steps = if seen.is_empty() { 0 } else { bad_steps + 1 };
            if self.is_collapse(bad_steps) {
                return Ok((policy, Stop::Collapsed(seen)));
            }
        }
        Ok((policy, Stop::Done))
    }

    /// Whether the watch gives up after so many bad steps in a row.
    fn is_collapse(&self, bad_steps: u64) -> bool {
        let patience = self.plan.watch.patience;
        patience > 0 && bad_steps >= patience
    }

    /// Whether a checkpoint follows this many steps.
    ///
    /// The one before the last step is for those who extend the training later: the rollouts of the step after the
    /// last are sampled with its weights.
    fn keeps(&self, step: u64) -> bool {
        step.is_multiple_of(self.plan.checkpoint_every.max(1)) || step + 1 >= self.plan.steps
    }

    /// The learning rate of a step: a linear warm-up, then constant.
    fn rate(&self, step: u64) -> f64 {
        let grown = (step + 1) as f64 / self.plan.warmup_steps.max(1) as f64;
        self.plan.learning_rate * grown.min(1.0)
    }

    async fn sample(
        &self,
        step: u64,
        policy: &dyn Policy,
        watcher: &dyn Watcher,
    ) -> Result<Option<Material>, TrainError> {
        self.sample_with(step, policy.serve()?, watcher).await
    }

    /// The rollouts of a step; none where the run is ending.
    async fn sample_with(
        &self,
        step: u64,
        serving: Box<dyn aske_model::Provider>,
        watcher: &dyn Watcher,
    ) -> Result<Option<Material>, TrainError> {
        let finished = || watcher.sampled(step + 1);
        let sampled = self.sampler.sample(&self.course.step(step), serving, &finished).await?;
        let Sampled { groups, failures, incomplete, halted } = sampled;
        if halted {
            // A failure that every session would meet ends the run; so does the user.
            return failures.into_iter().next().map_or(Ok(None), |failed| Err(failed.failure.into()));
        }
        if let Some(session) = incomplete.into_iter().next() {
            return Err(TrainError::Incomplete { step: step + 1, session });
        }
        if groups.iter().all(Vec::is_empty) {
            let failure =
                failures.first().map_or_else(|| "none".to_owned(), |failed| failed.failure.to_string());
            return Err(TrainError::NoRollouts { step: step + 1, failure });
        }
        Ok(Some(Material { groups, failures: failures.len() }))
    }

    /// Rewards, advantages and rows of a step; the buffer remembers its questions.
    fn prepare(
        &self,
        material: &Material,
        policy: &dyn Policy,
        buffer: &mut NoveltyBuffer,
        line: &mut Line,
    ) -> Result<Vec<Batch>, TrainError> {
        let novelty = self.novelty(&material.groups, buffer)?;
        let rewarded = rewards(&material.groups, &novelty, self.objective);
        let mut learnt: Vec<(Vec<Row>, f64)> = Vec::new();
        for (rollout, rewarded) in material.groups.iter().flatten().zip(rewarded.iter().flatten()) {
            let rows = rows(rollout, |messages| policy.prompt(messages)).map_err(TrainError::Prompt)?;
            let longest = rows.iter().map(|row| row.tokens.len()).max().unwrap_or(0);
            if longest > self.plan.max_train_tokens.min(policy.longest()) {
                line.overlong += 1;
            } else {
                line.read += rows.iter().map(|row| row.tokens.len() as u64).sum::<u64>();
                learnt.push((rows, rewarded.advantage));
            }
        }
        line.rollouts = learnt.len();
        describe(line, &material.groups, &rewarded, &novelty);
        if learnt.iter().all(|(_, advantage)| *advantage == 0.0) {
            return Ok(Vec::new());
        }
        Ok(batches(&learnt, self.objective, self.plan.micro_batch_tokens))
    }

    /// The diversity term of each rollout before it is gated: of nought where there is no question.
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
            Some(Some(_)) => self.plan.diversity_coef * novelties.next().unwrap_or(0.0),
            _ => 0.0,
        };
        Ok(groups.iter().map(|group| group.iter().map(|_| one()).collect()).collect())
    }
}

/// Means over a step's rollouts.
fn describe(line: &mut Line, groups: &[Vec<Rollout>], rewarded: &[Vec<Rewarded>], novelty: &[Vec<f64>]) {
    let rollouts: Vec<&Rollout> = groups.iter().flatten().collect();
    let count = rollouts.len().max(1) as f64;
    let mean = |value: &dyn Fn(&Rewarded) -> f64| rewarded.iter().flatten().map(value).sum::<f64>() / count;
    line.reward = mean(&|rewarded| rewarded.reward.total());
    line.reward_calibration = mean(&|rewarded| rewarded.reward.calibration);
    line.reward_format = mean(&|rewarded| rewarded.reward.format);
    line.reward_diversity = mean(&|rewarded| rewarded.reward.diversity);
    line.novelty = novelty.iter().flatten().sum::<f64>() / count;
    let share = |outcome: Outcome| {
        rollouts.iter().filter(|rollout| rollout.grade.outcome == outcome).count() as f64 / count
    };
    line.calibrated = share(Outcome::Calibrated);
    line.too_easy = share(Outcome::TooEasy);
    line.too_hard = share(Outcome::TooHard);
    line.no_question = share(Outcome::NoQuestion);
    let turns = rollouts.iter().flat_map(|rollout| &rollout.transcript.turns);
    line.truncated = turns.filter(|turn| turn.trouble == Some(TurnError::Truncated)).count();
}

fn fill(line: &mut Line, done: &Reinforced, seen: Seen, rate: f64) {
    line.tokens = done.tokens;
    line.loss = done.loss;
    line.gradient_norm = done.gradient_norm;
    line.ratio = done.ratio;
    line.clipped = done.clipped;
    line.drift = done.drift;
    line.entropy = done.entropy;
    line.rate = rate;
    line.distinct = seen.distinct;
    line.valid = seen.valid;
    line.agreement = seen.agreement;
    line.fixed_calibrated = seen.fixed_calibrated;
    line.truth = seen.truth;
}
