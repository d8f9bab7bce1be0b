//! The order of pairs in training.

use crate::{PlannedSession, plan_session};
use aske_record::{PairId, SessionId};
use aske_session::Seed;

/// The sessions of one pair whose rewards are compared, as in GRPO.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its sessions.
    pub sessions: Vec<PlannedSession>,
}

/// The pairs of each step: all of them in random order, then all of them in another.
///
/// The seed determines the order and, through the session names, every sample.
#[derive(Clone, Debug)]
pub struct PairSchedule {
    pairs: Vec<PairId>,
    seed: Seed,
    groups: usize,
    size: u32,
}

impl PairSchedule {
    /// A schedule over these pairs with `groups` groups per step and `size` sessions per group.
    pub fn new(pairs: Vec<PairId>, seed: u64, groups: usize, size: u32) -> Self {
        Self { pairs, seed: Seed(seed), groups, size }
    }

    /// The groups of a step, counted from 0.
    pub fn step(&self, step: u64) -> Vec<Group> {
        let first = step * self.groups as u64;
        (first..first + self.groups as u64).filter_map(|position| self.group(position)).collect()
    }

    /// The group at this position of the schedule.
    fn group(&self, position: u64) -> Option<Group> {
        let count = self.pairs.len() as u64;
        let epoch = position.checked_div(count)?;
        let mut order: Vec<usize> = (0..self.pairs.len()).collect();
        fastrand::Rng::with_seed(self.seed.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ epoch).shuffle(&mut order);
        let pair = &self.pairs[order[usize::try_from(position % count).ok()?]];
        // A pair comes once per epoch, so the epoch gives its samples.
        let first = u32::try_from(epoch).ok()?.checked_mul(self.size)?;
        let session = |sample| plan_session(self.seed, SessionId { pair: pair.clone(), sample });
        Some(Group { sessions: (first..first + self.size).map(session).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, HashSet};

    fn pairs() -> Vec<PairId> {
        PairId::all(&["a", "b", "c", "d"]).collect()
    }

    #[test]
    fn every_pair_comes_once_in_an_epoch_and_every_session_once_at_all() {
        let schedule = PairSchedule::new(pairs(), 7, 4, 3);
        let mut seen = HashSet::new();
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for step in 0..9 {
            let groups = schedule.step(step);
            assert_eq!(groups.len(), 4);
            for group in groups {
                *counts.entry(group.sessions[0].id.pair.to_string()).or_default() += 1;
                assert!(group.sessions.iter().all(|session| seen.insert(session.id.to_string())));
            }
        }
        // 9 steps of 4 groups are 6 epochs of 6 pairs.
        assert!(counts.len() == 6 && counts.values().all(|count| *count == 6), "{counts:?}");
    }

    #[test]
    fn the_seed_changes_the_order_and_nothing_else_does() {
        let order = |seed| PairSchedule::new(pairs(), seed, 6, 2).step(0);
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
