//! Outcomes, counted, with their intervals.

use crate::{Share, few_pairs};
use aske_session::{Grade, Outcome};
use aske_stats::{Interval, clopper_pearson, clustered, mean_interval};
use std::collections::BTreeMap;

/// Sessions by outcome, in the order of [`Outcome::ALL`].
pub(crate) type Counts = [u64; 5];

/// Seed of the bootstrap: the same evidence gives the same interval.
pub(crate) const SEED: u64 = 20;

/// Counts sessions by pair, sample and outcome.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pairs: BTreeMap<String, Counts>,
    samples: BTreeMap<u32, Counts>,
    undecided: u64,
    promoted: u64,
    folded: u64,
}

impl Tally {
    /// Counts one session.
    pub fn add(&mut self, pair: &str, sample: u32, grade: &Grade) {
        let place = place(grade.outcome);
        match self.pairs.get_mut(pair) {
            Some(counts) => counts[place] += 1,
            None => self.pairs.entry(pair.to_owned()).or_default()[place] += 1,
        }
        self.samples.entry(sample).or_default()[place] += 1;
        self.undecided += u64::from(grade.undecided);
        self.promoted += u64::from(grade.promoted);
        self.folded += u64::from(grade.folded);
    }

    /// Sessions counted.
    pub fn sessions(&self) -> u64 {
        self.samples.values().flatten().sum()
    }

    /// Sessions with this outcome.
    pub fn count(&self, outcome: Outcome) -> u64 {
        self.samples.values().map(|counts| counts[place(outcome)]).sum()
    }

    /// Sessions in which a comparison stayed undecided and counted as no match.
    pub fn undecided(&self) -> u64 {
        self.undecided
    }

    /// Sessions in which the equivalence checker promoted an answer.
    pub fn promoted(&self) -> u64 {
        self.promoted
    }

    /// Sessions in which a match rests on texts that differ in case or white space only.
    pub fn folded(&self) -> u64 {
        self.folded
    }

    /// Pairs counted.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Every outcome's share.
    pub fn shares(&self) -> Vec<Share> {
        Outcome::ALL.map(|outcome| self.share(outcome)).to_vec()
    }

    /// The share of one outcome.
    pub fn share(&self, outcome: Outcome) -> Share {
        let pairs: Vec<&Counts> = self.pairs.values().collect();
        let samples: Vec<&Counts> = self.samples.values().collect();
        let mut share = share_of(&pairs, &samples, outcome);
        share.these_pairs = clopper_pearson(share.sessions, share.of);
        // Nothing is known better of other pairs than of these.
        if let (true, Some(over), Some(these)) =
            (few_pairs(pairs.len()), &mut share.over_pairs, share.these_pairs)
        {
            *over = Interval { low: over.low.min(these.low), high: over.high.max(these.high) };
        }
        share
    }
}

/// The share of hits; 0 of none.
pub fn share(hits: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { hits as f64 / of as f64 }
}

/// The place of an outcome in [`Outcome::ALL`].
pub(crate) fn place(outcome: Outcome) -> usize {
    outcome as usize
}

/// The share of every outcome over groups of sessions that belong together, and over samples if there are any.
pub(crate) fn shares(groups: &[&Counts], samples: &[&Counts]) -> Vec<Share> {
    Outcome::ALL.map(|outcome| share_of(groups, samples, outcome)).to_vec()
}

fn share_of(groups: &[&Counts], samples: &[&Counts], outcome: Outcome) -> Share {
    let total: u64 = groups.iter().copied().flatten().sum();
    let place = place(outcome);
    let sessions: u64 = groups.iter().map(|counts| counts[place]).sum();
    Share {
        outcome,
        sessions,
        of: total,
        rate: share(sessions, total),
        across_samples: across_samples(samples, place),
        over_pairs: over_groups(groups, place),
        these_pairs: None,
    }
}

/// Student's t over the rates of the complete samples: those with as many sessions as the largest one.
fn across_samples(samples: &[&Counts], place: usize) -> Option<Interval> {
    let size = |counts: &Counts| counts.iter().sum::<u64>();
    let most = samples.iter().map(|counts| size(counts)).max()?;
    let full = samples.iter().filter(|counts| size(counts) == most);
    let rates: Vec<f64> = full.map(|counts| counts[place] as f64 / most as f64).collect();
    mean_interval(&rates)
}

fn over_groups(groups: &[&Counts], place: usize) -> Option<Interval> {
    let clusters: Vec<(f64, f64)> =
        groups.iter().map(|counts| (counts[place] as f64, counts.iter().sum::<u64>() as f64)).collect();
    clustered(&clusters, SEED).map(|estimate| estimate.interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grade(outcome: Outcome) -> Grade {
        Grade::new(outcome, None)
    }

    #[test]
    fn a_sample_that_has_only_begun_is_left_out_of_the_interval_across_samples() {
        let mut tally = Tally::default();
        for sample in 0..3 {
            for i in 0..10 {
                let calibrated = i < 4 + sample; // 40%, 50%, 60%
                let outcome = if calibrated { Outcome::Calibrated } else { Outcome::TooEasy };
                tally.add(&format!("a:{i}"), sample, &grade(outcome));
            }
        }
        let complete = tally.shares()[0];
        tally.add("a:0", 3, &grade(Outcome::Calibrated));
        let begun = tally.shares()[0];
        assert_eq!((complete.sessions, begun.sessions), (15, 16));
        assert_eq!(complete.across_samples, begun.across_samples);
        // mean ± t(0.975, 2) · s/√3 = 0.5 ± 4.302653 · 0.1/√3
        assert!((complete.across_samples.unwrap().high - 0.748_413_77).abs() < 1e-6);
    }

    #[test]
    fn one_pair_has_the_interval_of_its_sessions_and_none_over_pairs() {
        let mut tally = Tally::default();
        for sample in 0..10 {
            tally.add("a:b", sample, &grade(Outcome::TooHard));
        }
        let share = tally.shares()[place(Outcome::TooHard)];
        assert_eq!((share.over_pairs, share.these_pairs), (None, clopper_pearson(10, 10)));
        assert!(share.outcome == Outcome::TooHard && (share.rate - 1.0).abs() < 1e-12);
    }
}
