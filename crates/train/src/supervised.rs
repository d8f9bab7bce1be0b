//! The supervised loop: batches are made on other threads ahead of the learner, and taken in order.

use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use crate::{Batch, LearnError, Learner, Schedule};

/// How batches are made ahead of the learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Supply {
    /// Threads that make batches.
    pub threads: usize,
    /// Batches that each may have ready.
    pub ahead: usize,
    /// Steps between two reports; reading one waits for the device.
    pub report_every: u64,
}

impl Default for Supply {
    fn default() -> Self {
        Self { threads: 2, ahead: 4, report_every: 100 }
    }
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Steps taken.
    pub step: u64,
    /// Mean loss since the last report.
    pub loss: f64,
    /// Mean gradient norm since the last report, before clipping.
    pub gradient_norm: f64,
    /// The learning rate of the last step.
    pub rate: f64,
    /// Tokens learnt from per second since the last report, filling included.
    pub tokens_per_second: f64,
}

/// Trains for this many steps; gives the number taken.
///
/// Batch `i` is `source(i)`, whichever thread makes it, so a run depends on nothing but its arguments. The
/// observer is called every `report_every` steps and after the last one; it may use the learner (to evaluate or
/// to save) and may end the run.
pub fn train<L: Learner + ?Sized>(
    learner: &mut L,
    source: impl Fn(u64) -> Batch + Sync,
    steps: u64,
    schedule: Schedule,
    supply: Supply,
    mut observer: impl FnMut(Progress, &mut L) -> Result<ControlFlow<()>, LearnError>,
) -> Result<u64, LearnError> {
    let threads = supply.threads.max(1);
    thread::scope(|scope| {
        // Each thread has its own channel and every n-th batch, so the order needs no sorting. The receivers
        // live in this closure: when it returns, early or not, a sending thread sees that and ends.
        let queues: Vec<Receiver<Batch>> = (0..threads as u64)
            .map(|first| {
                let (sender, receiver) = sync_channel(supply.ahead.max(1));
                let source = &source;
                scope.spawn(move || produce(source, &sender, (first..steps).step_by(threads)));
                receiver
            })
            .collect();
        let (mut since, mut tokens) = (Instant::now(), 0_usize);
        for (step, queue) in (0..steps).zip(queues.iter().cycle()) {
            let batch =
                queue.recv().map_err(|_| LearnError::Batch(format!("batch {step} could not be made")))?;
            let rate = schedule.rate(step);
            learner.step(&batch, rate)?;
            tokens += batch.size();
            let taken = step + 1;
            if taken.is_multiple_of(supply.report_every.max(1)) || taken == steps {
                let report = learner.report()?;
                learner.check()?;
                let tokens_per_second = tokens as f64 / since.elapsed().as_secs_f64().max(1e-9);
                let (loss, gradient_norm) = (report.loss, report.gradient_norm);
                let progress = Progress { step: taken, loss, gradient_norm, rate, tokens_per_second };
                if observer(progress, learner)?.is_break() {
                    return Ok(taken);
                }
                (since, tokens) = (Instant::now(), 0);
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

    use super::{Supply, train};
    use crate::{Batch, LearnError, Learner, Report, Schedule, Weights};

    /// Remembers the first token of every batch and every rate.
    #[derive(Default)]
    struct Recorder {
        seen: Vec<u32>,
        rates: Vec<f64>,
    }

    impl Learner for Recorder {
        fn step(&mut self, batch: &Batch, rate: f64) -> Result<(), LearnError> {
            self.seen.push(batch.tokens[0]);
            self.rates.push(rate);
            Ok(())
        }
        fn report(&mut self) -> Result<Report, LearnError> {
            Ok(Report::default())
        }
        fn loss(&mut self, _: &Batch) -> Result<f64, LearnError> {
            Ok(0.0)
        }
        fn weights(&self) -> Result<Weights, LearnError> {
            Err(LearnError::Weights("none".to_owned()))
        }
        fn check(&self) -> Result<(), LearnError> {
            Ok(())
        }
    }

    fn one(index: u64) -> Batch {
        // The threads finish out of step, and the order must hold all the same.
        std::thread::sleep(std::time::Duration::from_micros(index * 7919 % 400));
        Batch {
            rows: 1,
            length: 1,
            tokens: vec![u32::try_from(index).unwrap()],
            weights: vec![0.0],
            before: Vec::new(),
        }
    }

    const SCHEDULE: Schedule = Schedule { peak: 1.0, floor: 0.0, warm_up: 2, steps: 50 };

    #[test]
    fn batches_come_in_order_however_many_threads_make_them() {
        for threads in [1, 2, 3, 7] {
            let mut learner = Recorder::default();
            let supply = Supply { threads, ahead: 2, report_every: 20 };
            let mut reports = Vec::new();
            let taken = train(&mut learner, one, 50, SCHEDULE, supply, |progress, _| {
                reports.push(progress.step);
                Ok(ControlFlow::Continue(()))
            });
            assert_eq!(taken.unwrap(), 50);
            assert_eq!(learner.seen, (0..50).collect::<Vec<u32>>());
            assert_eq!(learner.rates, (0..50).map(|step| SCHEDULE.rate(step)).collect::<Vec<f64>>());
            assert_eq!(reports, [20, 40, 50]);
        }
    }

    #[test]
    fn the_observer_can_end_a_run() {
        let mut learner = Recorder::default();
        let supply = Supply { report_every: 5, ..Supply::default() };
        let taken = train(&mut learner, one, 1_000_000, SCHEDULE, supply, |_, _| Ok(ControlFlow::Break(())));
        assert_eq!(taken.unwrap(), 5);
    }
}
