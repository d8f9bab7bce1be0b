//! Outcomes of a run, counted, with their intervals.

use crate::interval::{Interval, mean_interval, wilson};
use aske_record::{GradeLine, Record};
use aske_session::{Grade, Outcome};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// One outcome's share of the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The outcome.
    pub outcome: Outcome,
    /// Sessions with it.
    pub sessions: u64,
    /// Their share.
    pub rate: f64,
    /// Across the samples, as in the paper's figure: Student's t over the samples' rates.
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
    /// The tally of graded records.
    pub fn of(records: &[Record], grades: &[GradeLine]) -> Self {
        let grades: HashMap<&str, &Grade> =
            grades.iter().map(|line| (line.record.as_str(), &line.grade)).collect();
        let mut tally = Self::default();
        for record in records {
            let Record::Session(session) = record;
            if let Some(grade) = grades.get(record.id().as_str()) {
                tally.add(session.sample, grade);
            }
        }
        tally
    }

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

    fn share(&self, outcome: Outcome, total: u64) -> Share {
        let sessions = self.count(outcome);
        let rates: Vec<f64> = self
            .samples
            .values()
            .map(|sample| {
                let all: u64 = sample.values().sum();
                sample.get(&outcome).copied().unwrap_or(0) as f64 / all as f64
            })
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
