//! The order of pairs where not all models fit at once: as few loads as possible.
//!
//! Two models must be loaded together for their pair to be asked, and loading takes minutes. Which model to load next,
//! and in whose place, is the problem of covering all pairs with a small buffer. `search` looks for a short order, `improve`
//! for a shorter one, and `bound` tells how short none can be.

mod bound;
mod improve;
mod search;

use bound::Costs;

/// Models that a search can hold.
pub(crate) const MOST_MODELS: usize = 128;

/// How hard to look. All numbers count, so that the same input gives the same order on any machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Partial orders that are kept at a time.
    pub width: usize,
    /// Searches, each with a preference of its own.
    pub tries: u64,
    /// Improvements that are tried.
    pub rounds: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { width: 64, tries: 4, rounds: 60 }
    }
}

/// One model is loaded, others make room for it, and some pairs can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Models that make room.
    pub(crate) unload: Vec<usize>,
    /// The model that is loaded.
    pub(crate) load: usize,
    /// The GPU it is loaded on.
    pub(crate) gpu: usize,
    /// The pairs that can be asked now and could not before, the smaller number first.
    pub(crate) pairs: Vec<[usize; 2]>,
}

/// An order of all pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// Its steps, one load each.
    pub(crate) steps: Vec<Step>,
    /// No order has fewer loads than this.
    pub(crate) bound: usize,
}

/// Why there is no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Impossible {
    /// Two models are never loaded together.
    Apart(usize, usize),
    /// There are more models than a search can hold.
    TooMany,
}

/// An order of all pairs of models of these sizes, on GPUs with this much room each.
pub(crate) fn order(sizes: &[u32], rooms: &[u32], effort: Effort) -> Result<Order, Impossible> {
    if sizes.len() > MOST_MODELS {
        return Err(Impossible::TooMany);
    }
    if let Some((one, other)) = apart(sizes, rooms) {
        return Err(Impossible::Apart(one, other));
    }
    if let [_] = sizes {
        let gpu = rooms.iter().position(|room| sizes[0] <= *room).unwrap_or_default();
        return Ok(Order {
            steps: vec![Step { unload: Vec::new(), load: 0, gpu, pairs: Vec::new() }],
            bound: 1,
        });
    }
    let costs = Costs::new(sizes, rooms.iter().sum());
    let loads = improve::best(sizes, rooms, &costs, effort);
    let search = search::Search { sizes, rooms, costs: &costs, seed: 0, width: 1 };
    Ok(Order { steps: search::steps(&search, &loads), bound: costs.bound() })
}

/// Two models that cannot be loaded at the same time.
fn apart(sizes: &[u32], rooms: &[u32]) -> Option<(usize, usize)> {
    let largest = rooms.iter().max().copied().unwrap_or_default();
    let beside = |one: u32, other: u32| {
        rooms.iter().any(|room| one + other <= *room)
            || rooms.iter().enumerate().any(|(at, room)| {
                one <= *room && rooms.iter().enumerate().any(|(next, room)| next != at && other <= *room)
            })
    };
    if let [only] = sizes {
        return (*only > largest).then_some((0, 0));
    }
    (0..sizes.len())
        .flat_map(|one| (0..one).map(move |other| (other, one)))
        .find(|(one, other)| !beside(sizes[*one], sizes[*other]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Replays an order: what is loaded always fits, and every pair is asked once, while both are there.
    fn check(sizes: &[u32], rooms: &[u32], order: &Order) {
        let mut on = vec![BTreeSet::new(); rooms.len()];
        let mut asked = BTreeSet::new();
        for step in &order.steps {
            for model in &step.unload {
                assert!(on.iter_mut().any(|gpu| gpu.remove(model)), "{model} is not there");
            }
            assert!(on.iter().all(|gpu| !gpu.contains(&step.load)), "{} is there already", step.load);
            on[step.gpu].insert(step.load);
            for (gpu, room) in on.iter().zip(rooms) {
                assert!(gpu.iter().map(|model| sizes[*model]).sum::<u32>() <= *room);
            }
            for pair in &step.pairs {
                assert!(pair[0] < pair[1] && asked.insert(*pair), "{pair:?} comes twice");
                assert!(pair.iter().all(|model| on.iter().any(|gpu| gpu.contains(model))));
            }
        }
        assert_eq!(asked.len(), sizes.len() * (sizes.len() - 1) / 2);
        assert!(order.bound <= order.steps.len());
    }

    #[test]
    fn equal_models_by_count_come_near_the_bound() {
        for models in [12, 17] {
            for room in 2..=5 {
                let (sizes, rooms) = (vec![1; models], [room]);
                let order = order(&sizes, &rooms, Effort::default()).unwrap();
                check(&sizes, &rooms, &order);
                // The first loads meet those before them, every later one at most `room - 1` others.
                let (n, m) = (models, room as usize);
                let bound = m + (n * (n - 1) / 2 - m * (m - 1) / 2).div_ceil(m - 1);
                println!("{models} models, room for {room}: {} loads, bound {bound}", order.steps.len());
                assert_eq!(order.bound, bound);
                assert!(order.steps.len() * 10 <= bound * 12, "{} loads, bound {bound}", order.steps.len());
            }
        }
    }

    #[test]
    fn all_at_once_is_one_load_each() {
        let sizes = [3, 1, 4, 1, 5];
        let order = order(&sizes, &[14], Effort::default()).unwrap();
        check(&sizes, &[14], &order);
        assert_eq!((order.steps.len(), order.bound), (5, 5));
    }

    #[test]
    fn models_that_never_meet_are_named() {
        assert_eq!(order(&[1, 6, 5], &[10], Effort::default()), Err(Impossible::Apart(1, 2)));
        assert_eq!(order(&[11], &[10], Effort::default()), Err(Impossible::Apart(0, 0)));
        assert!(order(&[1, 6, 5], &[6, 6], Effort::default()).is_ok());
    }

    #[test]
    fn the_same_input_gives_the_same_order() {
        let sizes: Vec<u32> = (1..=11).map(|i| 100 + i * 37 % 90).collect();
        let again = || order(&sizes, &[500], Effort::default()).unwrap();
        assert_eq!(again(), again());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_pair_is_asked_once_and_nothing_is_too_full(
            sizes in prop::collection::vec(1_u32..=50, 2..11),
            rooms in prop::collection::vec(100_u32..=160, 1..4),
        ) {
            let found = order(&sizes, &rooms, Effort { width: 8, tries: 2, rounds: 8 }).unwrap();
            check(&sizes, &rooms, &found);
        }
    }
}
