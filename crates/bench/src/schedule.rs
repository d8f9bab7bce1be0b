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

/// How the epochs of a [`PairSchedule`] are ordered. Part of what identifies a training: resuming with another order would
/// train on other sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PairOrder {
    /// Each epoch is a random permutation, independent of the one before. A step that ends one epoch and begins the next
    /// may contain a pair twice. The order of trainings that do not name one.
    Shuffled,
    /// Each epoch is a random permutation among those in which no step contains a pair twice, if there are at least as
    /// many pairs as groups per step.
    #[default]
    Distinct,
}

impl PairOrder {
    /// The name in a run folder.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shuffled => "shuffled",
            Self::Distinct => "distinct",
        }
    }

    /// The order with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Shuffled, Self::Distinct].into_iter().find(|order| order.as_str() == name)
    }
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
    order: PairOrder,
}

impl PairSchedule {
    /// A schedule over these pairs with `groups` groups per step and `size` sessions per group.
    pub fn new(pairs: Vec<PairId>, seed: u64, groups: usize, size: u32) -> Self {
        Self { pairs, seed: Seed(seed), groups, size, order: PairOrder::default() }
    }

    /// The same schedule in another order.
    #[must_use]
    pub fn with_order(self, order: PairOrder) -> Self {
        Self { order, ..self }
    }

    /// The groups of a step, counted from 0.
    pub fn step(&self, step: u64) -> Vec<Group> {
        let first = step * self.groups as u64;
        let mut current = None;
        (first..first + self.groups as u64)
            .filter_map(|position| self.group(position, &mut current))
            .collect()
    }

    /// The group at this position of the schedule; `current` is the epoch of the last position and its order.
    fn group(&self, position: u64, current: &mut Option<(u64, Vec<usize>)>) -> Option<Group> {
        let count = self.pairs.len() as u64;
        let epoch = position.checked_div(count)?;
        let order = match current {
            Some((of, order)) if *of == epoch => order,
            _ => &mut current.insert((epoch, self.epoch(epoch))).1,
        };
        let pair = &self.pairs[order[usize::try_from(position % count).ok()?]];
        // A pair comes once per epoch, so the epoch gives its samples.
        let first = u32::try_from(epoch).ok()?.checked_mul(self.size)?;
        let session = |sample| plan_session(self.seed, SessionId { pair: pair.clone(), sample });
        Some(Group { sessions: (first..first + self.size).map(session).collect() })
    }

    /// The order of an epoch, as indices of pairs.
    fn epoch(&self, epoch: u64) -> Vec<usize> {
        let count = self.pairs.len();
        if self.order == PairOrder::Shuffled || count < self.groups {
            return self.shuffled(epoch).1;
        }
        // Each epoch depends on the one before, back to the last that begins with a step.
        let begun = (0..=epoch).rev().find(|epoch| self.begun(*epoch) == 0).unwrap_or(0);
        let mut order: Vec<usize> = Vec::new();
        for epoch in begun..=epoch {
            let (mut rng, mut next) = self.shuffled(epoch);
            let tail = self.begun(epoch);
            if tail > 0 {
                // Uniform among the permutations that begin with pairs outside the step's first part: a stable partition
                // of a shuffle gives a uniform choice of them, and everything behind is shuffled again.
                let taken = &order[count - tail..];
                next.sort_by_key(|pair| taken.contains(pair));
                rng.shuffle(&mut next[self.groups - tail..]);
            }
            order = next;
        }
        order
    }

    /// How many groups of the step in which this epoch begins belong to the epoch before.
    fn begun(&self, epoch: u64) -> usize {
        usize::try_from(u128::from(epoch) * self.pairs.len() as u128 % self.groups.max(1) as u128)
            .unwrap_or(0)
    }

    /// All pairs in an order that follows from the seed and the epoch, and the generator that shuffled them.
    fn shuffled(&self, epoch: u64) -> (fastrand::Rng, Vec<usize>) {
        let mut order: Vec<usize> = (0..self.pairs.len()).collect();
        let mut rng = fastrand::Rng::with_seed(match self.order {
            PairOrder::Shuffled => self.seed.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ epoch,
            PairOrder::Distinct => hashed(self.seed, epoch),
        });
        rng.shuffle(&mut order);
        (rng, order)
    }
}

/// The seed of an epoch. Hashed, because the generator's first numbers are similar for neighbouring seeds.
fn hashed(seed: Seed, epoch: u64) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.0.to_le_bytes());
    hasher.update(&epoch.to_le_bytes());
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Selection, selected_pairs};
    use aske_config::Layers;
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

    /// The pairs of a step.
    fn pairs_of(schedule: &PairSchedule, step: u64) -> Vec<String> {
        schedule.step(step).iter().map(|group| group.sessions[0].id.pair.to_string()).collect()
    }

    /// The paper's training: 16 distinct pairs of the 66 of its 12 solvers in each of 200 steps.
    #[test]
    fn no_step_of_the_papers_training_has_a_pair_twice() {
        let layers = Layers::load(Some("paper-train"), std::iter::empty(), &[]).unwrap();
        let pairs = selected_pairs(&layers.settings().unwrap(), &Selection::default()).unwrap();
        let train = &layers.config().train;
        assert_eq!((train.steps, train.groups), (200, 16));
        assert_eq!(pairs.len(), 66);
        for seed in 0..20 {
            let schedule = PairSchedule::new(pairs.clone(), seed, train.groups, train.group_size);
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            let mut sessions = HashSet::new();
            for step in 0..200 {
                let of_step = pairs_of(&schedule, step);
                assert_eq!(of_step.iter().collect::<HashSet<_>>().len(), 16, "seed {seed}, step {step}");
                for pair in of_step {
                    *counts.entry(pair).or_default() += 1;
                }
                for planned in schedule.step(step).into_iter().flat_map(|group| group.sessions) {
                    assert!(sessions.insert(planned.id.to_string()), "seed {seed}, step {step}");
                }
                // After every step, no pair is ahead of another by more than one visit.
                let least = if counts.len() < 66 { 0 } else { counts.values().min().copied().unwrap() };
                assert!(counts.values().all(|count| count - least <= 1), "seed {seed}, step {step}");
            }
            // 200 steps of 16 groups are 48 epochs of 66 pairs and 32 groups.
            assert!(counts.values().all(|count| (48..=49).contains(count)), "seed {seed}: {counts:?}");
        }
    }

    /// All numbers of pairs and groups, also fewer pairs than groups, where repetition cannot be avoided.
    #[test]
    fn steps_have_distinct_pairs_whenever_there_are_enough() {
        for solvers in 2..6 {
            let pairs: Vec<PairId> = PairId::all(&["a", "b", "c", "d", "e"][..solvers]).collect();
            for groups in 1..=pairs.len() + 2 {
                let schedule = PairSchedule::new(pairs.clone(), 3, groups, 2);
                let mut all = Vec::new();
                for step in 0..60 {
                    let of_step = pairs_of(&schedule, step);
                    let distinct = of_step.iter().collect::<HashSet<_>>().len();
                    let enough = groups <= pairs.len();
                    assert!(!enough || distinct == groups, "{solvers} {groups} {step}: {of_step:?}");
                    all.extend(of_step);
                }
                for epoch in all.chunks_exact(pairs.len()) {
                    assert_eq!(epoch.iter().collect::<HashSet<_>>().len(), pairs.len());
                }
            }
        }
    }

    /// Every admissible order is equally likely: with 3 pairs and 2 groups, the pair that begins the second epoch is one of
    /// two, and the last two of that epoch come in either order.
    #[test]
    fn the_order_of_an_epoch_is_uniform_among_the_admissible() {
        let pairs: Vec<PairId> = PairId::all(&["a", "b", "c"]).collect();
        let mut seen: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
        for seed in 0..12_000 {
            let schedule = PairSchedule::new(pairs.clone(), seed, 2, 1);
            let (first, second) = (schedule.epoch(0), schedule.epoch(1));
            // The second epoch relative to the first.
            let place = |pair: &usize| first.iter().position(|other| other == pair).unwrap();
            *seen.entry(second.iter().map(place).collect()).or_default() += 1;
        }
        // 4 of the 6 permutations do not begin with the pair that ended the first epoch. The standard deviation of a count
        // is sqrt(12000 * 1/4 * 3/4) = 47; five of them are 237.
        assert_eq!(seen.len(), 4, "{seen:?}");
        assert!(seen.values().all(|count| count.abs_diff(3000) < 237), "{seen:?}");
    }

    /// The sessions of a training of 4 steps by a version that had no other order.
    #[test]
    fn the_shuffled_order_is_that_of_earlier_versions() {
        let pairs: Vec<PairId> = PairId::all(&["nano-40k", "nano-100k", "nano-1m"]).collect();
        let schedule = PairSchedule::new(pairs, 0, 2, 2).with_order(PairOrder::Shuffled);
        let steps = (0..4).map(|step| {
            let mut pairs = pairs_of(&schedule, step);
            pairs.sort();
            pairs.join(" ")
        });
        let expected = [
            "nano-100k:nano-1m nano-1m:nano-40k",
            "nano-100k:nano-40k nano-100k:nano-40k",
            "nano-100k:nano-1m nano-1m:nano-40k",
            "nano-100k:nano-40k nano-1m:nano-40k",
        ];
        assert_eq!(steps.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn orders_have_names() {
        for order in [PairOrder::Shuffled, PairOrder::Distinct] {
            assert_eq!(PairOrder::from_name(order.as_str()), Some(order));
        }
        assert_eq!(PairOrder::from_name("other"), None);
    }
}
