//! Where a training goes on: from the latest checkpoint that is whole and whose next step has all of its rollouts.

use super::checkpoint::{self, Checkpoint, Unusable};
use super::sampler::Stored;
use super::trainer::Material;
use super::{TrainError, Trainer, Watcher};
use crate::{LearnError, Policy};
use aske_diversity::{NoveltyBuffer, NoveltyError};
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a checkpoint was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassedOver {
    /// It is damaged, and was renamed.
    Damaged {
        /// What is wrong.
        reason: String,
        /// Its new name.
        aside: PathBuf,
    },
    /// It ended a shorter training, and the next step's rollouts come from the weights before it.
    Last,
    /// Rollouts of the next step are not in the folder, or not as a whole.
    Lost {
        /// The next step.
        step: u64,
        /// So many.
        missing: usize,
        /// Of so many.
        of: usize,
    },
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged { reason, aside } => {
                write!(f, "it is damaged ({reason}) and is now {}", aside.display())
            }
            Self::Last => f.write_str("it ended a shorter training"),
            Self::Lost { step, missing, of } => {
                write!(
                    f,
                    "{missing} of {of} rollouts of step {step} are not in the folder; they are sampled again"
                )
            }
        }
    }
}

/// Where a training stands.
pub(super) struct Standing {
    /// Steps taken.
    pub(super) step: u64,
    /// What the next step learns from; none after the last step.
    pub(super) material: Option<Material>,
}

impl Trainer<'_> {
    /// Restores the latest checkpoint from which this training can go on exactly as if it had never stopped.
    ///
    /// None where there is none: then it begins again, with the replies that are stored.
    pub(super) fn resume(
        &self,
        policy: &mut dyn Policy,
        buffer: &mut NoveltyBuffer,
        watcher: &dyn Watcher,
    ) -> Result<Option<Standing>, TrainError> {
        for path in checkpoint::latest_first(&self.checkpoints()) {
            let set_aside = |reason: String| {
                let aside = checkpoint::set_aside(&path)?;
                watcher.passed_over(&path, &PassedOver::Damaged { reason, aside });
                Ok::<_, TrainError>(())
            };
            let found = match checkpoint::read(&path) {
                Ok(found) => found,
                Err(Unusable::Damaged(reason)) => {
                    set_aside(reason)?;
                    continue;
                }
                Err(Unusable::Unreadable(error)) => return Err(error),
            };
            let material = match self.material(&found)? {
                Ok(material) => material,
                Err(why) => {
                    watcher.passed_over(&path, &why);
                    continue;
                }
            };
            if let Err(reason) = self.restore(&path, &found, policy, buffer)? {
                set_aside(reason)?;
                continue;
            }
            watcher.resumed(&path);
            return Ok(Some(Standing { step: found.progress.step, material }));
        }
        Ok(None)
    }

    /// What the step after a checkpoint learns from, or why it cannot be had without sampling.
    fn material(&self, found: &Checkpoint) -> Result<Result<Option<Material>, PassedOver>, TrainError> {
        let (step, pending) = (found.progress.step, &found.progress.pending);
        if step > self.plan.steps {
            return Err(TrainError::Longer { taken: step, steps: self.plan.steps });
        }
        if step == self.plan.steps {
            return Ok(Ok(None));
        }
        if pending.is_empty() {
            return Ok(Err(PassedOver::Last));
        }
        let planned = self.course.step(step);
        Ok(match self.sampler.stored(&planned, pending)? {
            Stored::Whole(groups) => {
                let all: usize = planned.iter().map(|group| group.sessions.len()).sum();
                Ok(Some(Material { groups, failures: all.saturating_sub(pending.len()) }))
            }
            Stored::Missing(missing) => Err(PassedOver::Lost { step: step + 1, missing, of: pending.len() }),
        })
    }

    /// Gives policy and buffer what a checkpoint holds, or the reason why it cannot.
    fn restore(
        &self,
        path: &Path,
        found: &Checkpoint,
        policy: &mut dyn Policy,
        buffer: &mut NoveltyBuffer,
    ) -> Result<Result<(), String>, TrainError> {
        let read = match NoveltyBuffer::from_bytes(&found.buffer, &self.embedder) {
            Ok(read) => read,
            Err(NoveltyError::Saved(reason)) => return Ok(Err(reason)),
            Err(error) => return Err(error.into()),
        };
        match policy.restore(path) {
            Ok(()) => {}
            // These are no matter of the files.
            Err(error @ (LearnError::Device(_) | LearnError::Library { library: "libtorch", .. })) => {
                return Err(error.into());
            }
            Err(error) => return Ok(Err(error.to_string())),
        }
        *buffer = read;
        Ok(Ok(()))
    }
}
