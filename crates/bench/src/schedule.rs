//! The order in which pairs are asked.

use crate::{PlannedSession, plan_session};
use aske_record::{PairId, SessionId};
use aske_session::Seed;

/// Sessions of one pair that are rewarded against each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its sessions.
    pub sessions: Vec<PlannedSession>,
}

/// Which pairs each step asks: all of them in an order by chance, then all of them in another.
///
/// The seed changes this order and, through the names of the sessions, every sample.
#[derive(Clone, Debug)]
pub struct PairSchedule {
    pairs: Vec<PairId>,
    seed: Seed,
    groups: usize,
    size: u32,
}

impl PairSchedule {
    /// A schedule over these pairs, with so many groups in a step and so many sessions in a group.
    pub fn new(pairs: Vec<PairId>, seed: u64, groups: usize, size: u32) -> Self {
        Self { pairs, seed: Seed(seed), groups, size }
    }

    /// The groups of a step, counted from 0.
    pub fn step(&self, step: u64) -> Vec<Group> {
        let first = step * self.groups as u64;
        (first..first + self.groups as u64).filter_map(|place| self.group(place)).collect()
    }

    /// The group at this place of the schedule.
    fn group(&self, place: u64) -> Option<Group> {
        let count = self.pairs.len() as u64;
        let epoch = place.checked_div(count)?;
        let mut order: Vec<usize> = (0..self.pairs.len()).collect();
        fastrand::Rng::with_seed(self.seed.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ epoch).shuffle(&mut order);
        let pair = &self.pairs[order[usize::try_from(place % count).ok()?]];
        // A pair comes once in an epoch, so the epoch tells its samples apart.
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
