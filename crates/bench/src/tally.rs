//! Outcomes of a run, counted, with their intervals.

use crate::interval::{Interval, mean_interval, wilson};
use aske_session::{Grade, Outcome};
use serde::Serialize;
use std::collections::BTreeMap;

/// One outcome's share of the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The outcome.
    pub outcome: Outcome,
    /// Sessions with it.
    pub sessions: u64,
    /// Their share.
    pub rate: f64,
    /// Across the complete samples, as in the paper's figure: Student's t over their rates.
    pub across_samples: Option<Interval>,
    /// Over sessions: Wilson's score interval.
    pub over_sessions: Option<Interval>,
}

/// Counts sessions by sample and outcome.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    samples: BTreeMap<u32, BTreeMap<Outcome, u64>>,
    undecided: u64,
    promoted: u64,
}

impl Tally {
    /// Counts one session.
    pub fn add(&mut self, sample: u32, grade: &Grade) {
        *self.samples.entry(sample).or_default().entry(grade.outcome).or_default() += 1;
        self.undecided += u64::from(grade.undecided);
        self.promoted += u64::from(grade.promoted);
    }

    /// Sessions counted.
    pub fn sessions(&self) -> u64 {
        self.samples.values().flat_map(BTreeMap::values).sum()
    }

    /// Sessions with this outcome.
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.samples.values().filter_map(|sample| sample.get(&outcome)).sum()
    }

    /// Sessions in which a comparison stayed undecided and counted as no match.
    pub fn undecided(&self) -> u64 {
        self.undecided
    }

    /// Sessions in which the equivalence checker promoted an answer.
    pub fn promoted(&self) -> u64 {
        self.promoted
    }

    /// Every outcome's share.
    pub fn shares(&self) -> Vec<Share> {
        let total = self.sessions();
        Outcome::ALL.map(|outcome| self.share(outcome, total)).to_vec()
    }

    /// Samples that cover as many sessions as the fullest one; a sample that has only begun says little.
    fn full_samples(&self) -> impl Iterator<Item = (u64, &BTreeMap<Outcome, u64>)> {
        let sized = || self.samples.values().map(|sample| (sample.values().sum::<u64>(), sample));
        let most = sized().map(|(size, _)| size).max().unwrap_or(0);
        sized().filter(move |(size, _)| *size == most)
    }

    fn share(&self, outcome: Outcome, total: u64) -> Share {
        let sessions = self.count(outcome);
        let rates: Vec<f64> = self
            .full_samples()
            .map(|(size, sample)| sample.get(&outcome).copied().unwrap_or(0) as f64 / size as f64)
            .collect();
        Share {
            outcome,
            sessions,
            rate: if total == 0 { 0.0 } else { sessions as f64 / total as f64 },
            across_samples: mean_interval(&rates),
            over_sessions: wilson(sessions, total),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grade(outcome: Outcome) -> Grade {
        Grade { outcome, right: None, undecided: false, promoted: false }
    }

    #[test]
    fn a_sample_that_has_only_begun_is_left_out_of_the_interval_across_samples() {
        let mut tally = Tally::default();
        for sample in 0..3 {
            for i in 0..10 {
                let calibrated = i < 4 + sample; // 40%, 50%, 60%
                tally.add(sample, &grade(if calibrated { Outcome::Calibrated } else { Outcome::TooEasy }));
            }
        }
        let complete = tally.shares()[0];
        tally.add(3, &grade(Outcome::Calibrated));
        let begun = tally.shares()[0];
        assert_eq!((complete.sessions, begun.sessions), (15, 16));
        assert_eq!(complete.across_samples, begun.across_samples);
        // mean ± t(0.975, 2) · s/√3 = 0.5 ± 4.302653 · 0.1/√3
        assert!((complete.across_samples.unwrap().high - 0.748_413_77).abs() < 1e-6);
    }
}
