//! The supervised training loop. Batches are prepared on other threads and consumed in order.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use crate::{Batch, LearnError, Loss, LrSchedule, Policy};

/// Batches prefetched by each thread.
const PREFETCH: usize = 4;
/// Steps between two reports.
const REPORT_EVERY: u64 = 100;

/// Progress of a run; means are over the steps since the last report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps taken.
    pub step: u64,
    /// Mean loss, before each step.
    pub loss: f64,
    /// Mean gradient norm, before clipping.
    pub grad_norm: f64,
    /// Learning rate of the last step.
    pub learning_rate: f64,
    /// Tokens per second, including padding.
    pub tokens_per_second: f64,
}

/// Trains on `Σ weight·nll / Σ |weight|` and returns the number of steps taken.
///
/// Batch `i` is `source(i)` whichever of the `threads` prepares it, so a run depends on its other arguments alone. The
/// observer is called every 100 steps and after the last one; it may use the policy and may end the run.
pub fn train<P: Policy + ?Sized>(
    policy: &mut P,
    source: impl Fn(u64) -> Batch + Sync,
    steps: u64,
    schedule: LrSchedule,
    threads: usize,
    mut observer: impl FnMut(Progress, &mut P) -> Result<ControlFlow<()>, LearnError>,
) -> Result<u64, LearnError> {
    let threads = threads.max(1);
    thread::scope(|scope| {
        // Each thread has its own channel and every n-th batch, so the order needs no sorting. The receivers
        // live in this closure: when it returns, senders notice and end.
        let queues: Vec<Receiver<Batch>> = (0..threads as u64)
            .map(|first| {
                let (sender, receiver) = sync_channel(PREFETCH);
                let source = &source;
                scope.spawn(move || produce(source, &sender, (first..steps).step_by(threads)));
                receiver
            })
            .collect();
        let (mut since, mut tokens, mut sums) = (Instant::now(), 0_usize, (0.0, 0.0, 0.0));
        for (step, queue) in (0..steps).zip(queues.iter().cycle()) {
            let batch =
                queue.recv().map_err(|_| LearnError::Batch(format!("batch {step} could not be prepared")))?;
            let learning_rate = schedule.learning_rate(step);
            tokens += batch.size();
            let stats = policy.step(&[batch], Loss::Likelihood, learning_rate, f64::INFINITY)?;
            sums = (sums.0 + 1.0, sums.1 + stats.loss, sums.2 + stats.grad_norm);
            let taken = step + 1;
            if taken.is_multiple_of(REPORT_EVERY) || taken == steps {
                policy.check_finite()?;
                let progress = Progress {
                    step: taken,
                    loss: sums.1 / sums.0,
                    grad_norm: sums.2 / sums.0,
                    learning_rate,
                    tokens_per_second: tokens as f64 / since.elapsed().as_secs_f64().max(1e-9),
                };
                if observer(progress, policy)?.is_break() {
                    return Ok(taken);
                }
                (since, tokens, sums) = (Instant::now(), 0, (0.0, 0.0, 0.0));
            }
        }
        Ok(steps)
    })
}

fn produce(
    source: &(impl Fn(u64) -> Batch + Sync),
    queue: &SyncSender<Batch>,
    indices: impl Iterator<Item = u64>,
) {
    for index in indices {
        if queue.send(source(index)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::path::Path;

    use aske_chat::Message;
    use aske_model::{Provider, ProviderError};

    use super::{REPORT_EVERY, train};
    use crate::{Batch, LearnError, Loss, LrSchedule, Policy, StepStats, Weights};

    /// Records the first token of every batch and every learning rate.
    #[derive(Default)]
    struct Recorder {
        first_tokens: Vec<u32>,
        learning_rates: Vec<f64>,
    }

    impl Policy for Recorder {
        fn step(
            &mut self,
            batches: &[Batch],
            _: Loss,
            learning_rate: f64,
            _: f64,
        ) -> Result<StepStats, LearnError> {
            self.first_tokens.push(batches[0].tokens[0]);
            self.learning_rates.push(learning_rate);
            Ok(StepStats::default())
        }
        fn check_finite(&self) -> Result<(), LearnError> {
            Ok(())
        }
        fn serve(&self, _: u64) -> Result<Box<dyn Provider>, LearnError> {
            unreachable!()
        }
        fn prompt(&self, _: &[Message]) -> Result<Vec<u32>, ProviderError> {
            unreachable!()
        }
        fn weights(&self) -> Result<Weights, LearnError> {
            unreachable!()
        }
        fn export(&self, _: &Path) -> Result<(), LearnError> {
            unreachable!()
        }
        fn save_checkpoint(&self, _: &Path) -> Result<(), LearnError> {
            unreachable!()
        }
        fn load_checkpoint(&mut self, _: &Path) -> Result<(), LearnError> {
            unreachable!()
        }
        fn max_sequence_length(&self) -> usize {
            unreachable!()
        }
    }

    fn one(index: u64) -> Batch {
        // The threads finish out of step, and the order must hold all the same.
        std::thread::sleep(std::time::Duration::from_micros(index * 7919 % 400));
        Batch {
            lengths: vec![1],
            tokens: vec![u32::try_from(index).unwrap()],
            weights: vec![0.0],
            old_logprobs: Vec::new(),
        }
    }

    const SCHEDULE: LrSchedule = LrSchedule { peak: 1.0, floor: 0.0, warmup_steps: 2, steps: 250 };

    #[test]
    fn batches_come_in_order_however_many_threads_make_them() {
        for threads in [1, 2, 3, 7] {
            let mut policy = Recorder::default();
            let mut reports = Vec::new();
            let taken = train(&mut policy, one, 250, SCHEDULE, threads, |progress, _| {
                reports.push(progress.step);
                Ok(ControlFlow::Continue(()))
            });
            assert_eq!(taken.unwrap(), 250);
            assert_eq!(policy.first_tokens, (0..250).collect::<Vec<u32>>());
            let expected: Vec<f64> = (0..250).map(|step| SCHEDULE.learning_rate(step)).collect();
            assert_eq!(policy.learning_rates, expected);
            assert_eq!(reports, [100, 200, 250]);
        }
    }

    #[test]
    fn the_observer_can_end_a_run() {
        let mut policy = Recorder::default();
        let taken = train(&mut policy, one, 1_000_000, SCHEDULE, 2, |_, _| Ok(ControlFlow::Break(())));
        assert_eq!(taken.unwrap(), REPORT_EVERY);
    }
}
