//! The one trait behind which every network learns, and what can go wrong there.

use crate::{Batch, Loss, TokenLoss, Weights};

/// A network that can be trained.
pub trait Learner {
    /// Takes one optimiser step at this learning rate, against `Σ weight·nll / Σ |weight|`.
    ///
    /// Does not wait for the device: what came of it is read by [`Learner::report`].
    fn step(&mut self, batch: &Batch, rate: f64) -> Result<(), LearnError>;

    /// Means over the steps since the last report; waits for the device.
    ///
    /// Fails when the loss or the gradient is no longer a number.
    fn report(&mut self) -> Result<Report, LearnError>;

    /// The loss on a batch, with the weights that [`Learner::weights`] would give, without a step.
    fn loss(&mut self, batch: &Batch) -> Result<f64, LearnError>;

    /// The weights so far: their moving average where one is kept, the last ones otherwise.
    fn weights(&self) -> Result<Weights, LearnError>;

    /// Errs when a weight or a number that the optimiser remembers is not finite; waits for the device.
    fn check(&self) -> Result<(), LearnError>;
}

/// A learner that can also be rewarded.
pub trait Reinforce: Learner {
    /// Takes one optimiser step along the gradient of all these batches together.
    ///
    /// Waits for the device. When the loss or the gradient is no longer a number, or the gradient is longer than
    /// `longest`, no step is taken and nothing has changed.
    fn reinforce(
        &mut self,
        batches: &[Batch],
        loss: Loss,
        rate: f64,
        longest: f64,
    ) -> Result<Reinforced, LearnError>;

    /// What the current weights make of these batches, without a step.
    fn score(&mut self, batches: &[Batch], loss: Loss) -> Result<Reinforced, LearnError>;

    /// The gradient of all these batches together, by each weight.
    fn gradient(&mut self, batches: &[Batch], loss: Loss) -> Result<Weights, LearnError>;

    /// What the optimiser remembers.
    fn moments(&self) -> Result<Moments, LearnError>;

    /// Remembers what the optimiser of an earlier learner of this shape did.
    fn remember(&mut self, moments: &Moments) -> Result<(), LearnError>;
}

/// What came of a step from rewards; means are over the policy's own tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reinforced {
    /// The policy's own tokens.
    pub tokens: u64,
    /// The loss, before the step.
    pub loss: f64,
    /// The gradient's norm, before clipping.
    pub gradient_norm: f64,
    /// The mean importance ratio.
    pub ratio: f64,
    /// The share of tokens whose ratio lay outside the bounds.
    pub clipped: f64,
    /// The mean difference of log-probabilities, now and when sampled, without its sign.
    pub drift: f64,
    /// The mean entropy.
    pub entropy: f64,
}

/// The same as sums.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) loss: f64,
    tokens: u64,
    ratio: f64,
    clipped: u64,
    drift: f64,
    entropy: f64,
}

impl Sums {
    pub(crate) fn count(&mut self, token: &TokenLoss, drift: f64, entropy: f64) {
        self.tokens += 1;
        self.loss += token.loss;
        self.ratio += token.ratio;
        self.clipped += u64::from(token.clipped);
        self.drift += drift.abs();
        self.entropy += entropy;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.tokens += other.tokens;
        self.loss += other.loss;
        self.ratio += other.ratio;
        self.clipped += other.clipped;
        self.drift += other.drift;
        self.entropy += other.entropy;
    }

    /// The means, or an error where they or the gradient are no numbers.
    pub(crate) fn told(&self, gradient_norm: f64, longest: f64) -> Result<Reinforced, LearnError> {
        if !self.loss.is_finite() || !gradient_norm.is_finite() {
            return Err(LearnError::Diverged { loss: self.loss, gradient_norm });
        }
        if gradient_norm > longest {
            return Err(LearnError::Exploded { gradient_norm, longest });
        }
        let count = self.tokens.max(1) as f64;
        Ok(Reinforced {
            tokens: self.tokens,
            loss: self.loss,
            gradient_norm,
            ratio: self.ratio / count,
            clipped: self.clipped as f64 / count,
            drift: self.drift / count,
            entropy: self.entropy / count,
        })
    }
}

/// What AdamW remembers of earlier gradients, in the order of all weights in one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    /// Steps taken.
    pub steps: u64,
    /// The running mean.
    pub first: Vec<f32>,
    /// The running mean of squares.
    pub second: Vec<f32>,
}

/// Errs unless all of these numbers are finite.
pub(crate) fn finite(what: Numbers, numbers: &[f32]) -> Result<(), LearnError> {
    what.finite(numbers.iter().all(|number| number.is_finite()))
}

/// Which numbers are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// The weights, and their moving average where one is kept.
    Weights,
    /// What the optimiser remembers.
    Moments,
}

impl Numbers {
    /// Errs unless they were found to be finite.
    pub(crate) fn finite(self, finite: bool) -> Result<(), LearnError> {
        match self {
            _ if finite => Ok(()),
            Self::Weights => Err(LearnError::NotFinite("some weights are")),
            Self::Moments => Err(LearnError::NotFinite("the optimiser's state is")),
        }
    }
}

/// What came of the steps since the last report.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// How many steps.
    pub steps: u64,
    /// Their mean loss, each before its step.
    pub loss: f64,
    /// Their mean gradient norm, before clipping.
    pub gradient_norm: f64,
}

impl Report {
    /// Means from sums, or an error when they are no numbers.
    pub(crate) fn from_sums(steps: u64, loss: f64, norm: f64) -> Result<Self, LearnError> {
        if !loss.is_finite() || !norm.is_finite() {
            return Err(LearnError::Diverged { loss, gradient_norm: norm });
        }
        let count = steps.max(1) as f64;
        Ok(Self { steps, loss: loss / count, gradient_norm: norm / count })
    }
}

/// How the optimiser works: AdamW with decoupled decay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Memory of the first and of the second moment.
    pub betas: (f64, f64),
    /// Kept out of the root of the second moment.
    pub epsilon: f64,
    /// Decay per step and unit of learning rate, of matrices only.
    pub decay: f64,
    /// The longest gradient; longer ones are shortened to it.
    pub clip: Option<f64>,
    /// Memory of the moving average of the weights, such as 0.999; shorter over the first steps.
    pub average: Option<f64>,
    /// Computes in full precision where half would be quicker (a GPU's bfloat16).
    pub exact: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { betas: (0.9, 0.98), epsilon: 1e-8, decay: 0.01, clip: Some(1.0), average: None, exact: false }
    }
}

impl Options {
    /// How much of the newest weights enters the average at this step, the first being 1.
    ///
    /// The memory grows as `(1 + step) / (10 + step)` up to the one asked for, so that the average does not
    /// remember the random start.
    pub(crate) fn fresh(memory: f64, step: u64) -> f64 {
        let step = step as f64;
        1.0 - memory.min((1.0 + step) / (10.0 + step))
    }
}

impl LearnError {
    /// What went wrong with a file.
    pub(crate) fn file(path: &std::path::Path, error: &dyn std::fmt::Display) -> Self {
        Self::File { path: path.to_owned(), message: error.to_string() }
    }
}

/// Why a network cannot learn.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// The batch does not fit the network or itself.
    #[error("bad batch: {0}")]
    Batch(String),
    /// No loss has this name.
    #[error("no loss is called `{0}`\nhint: `cispo`, `grpo` or `dapo`")]
    Loss(String),
    /// The weights do not fit the network.
    #[error("bad weights: {0}")]
    Weights(String),
    /// The network has a shape that this crate does not know.
    #[error("unknown kind of network: {0}")]
    Network(String),
    /// The loss or its gradient is no longer a number.
    #[error(
        "training diverged: loss {loss}, gradient norm {gradient_norm}\nhint: lower the learning rate and train into a new folder"
    )]
    Diverged {
        /// The summed loss.
        loss: f64,
        /// The summed gradient norm.
        gradient_norm: f64,
    },
    /// An update has left numbers that are not finite: nothing can be learnt from here on.
    #[error(
        "training diverged: after the update {0} not finite\nhint: lower the learning rate and train into a new folder"
    )]
    NotFinite(&'static str),
    /// The model that should learn cannot.
    #[error("{0}\nhint: name a folder with a Llama-style checkpoint, or builtin:nano-asker")]
    Start(String),
    /// A file of a checkpoint cannot be read or written.
    #[error("{}: {message}", path.display())]
    File {
        /// Which.
        path: std::path::PathBuf,
        /// Why.
        message: String,
    },
    /// The gradient has become too long to be trusted.
    #[error(
        "the gradient's norm is {gradient_norm:.3e}, beyond {longest:.3e}: training explodes\nhint: lower the learning rate and train into a new folder"
    )]
    Exploded {
        /// Its norm.
        gradient_norm: f64,
        /// What was allowed.
        longest: f64,
    },
    /// No such device, or it is not usable in this build.
    #[error(
        "device {0} cannot be used\nhint: `cpu`, `cuda` or `cuda:N`; `cuda` needs a libtorch built for it"
    )]
    Device(String),
    /// The library below failed.
    #[error("{library}: {message}")]
    Library {
        /// Which library.
        library: &'static str,
        /// What it said.
        message: String,
    },
}

impl From<candle_core::Error> for LearnError {
    fn from(error: candle_core::Error) -> Self {
        Self::Library { library: "candle", message: error.to_string() }
    }
}

#[cfg(feature = "torch")]
impl From<tch::TchError> for LearnError {
    fn from(error: tch::TchError) -> Self {
        Self::Library { library: "libtorch", message: error.to_string() }
    }
}
