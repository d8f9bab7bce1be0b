//! Orders the pairs when not all models fit at once, with as few model loads as possible.
//!
//! A pair runs while both its models are loaded, and a load takes minutes: the problem is to cover all pairs with a small
//! buffer. `search` finds an order by beam search, and `bound` is a lower bound.

mod bound;
mod search;

use bound::PairCosts;
use search::BeamSearch;

/// The most models that can be ordered.
pub(crate) const MAX_MODELS: usize = 128;

/// Effort of the search. Limits are counts, not times, so that the result is the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchBudget {
    /// Partial orders kept at each step.
    pub beam_width: usize,
    /// Beam searches, each with its own tie-breaking.
    pub restarts: u64,
}

impl Default for SearchBudget {
    fn default() -> Self {
        Self { beam_width: 64, restarts: 16 }
    }
}

/// One load: models that are unloaded first, and the pairs that can run afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadStep {
    /// Models to unload first.
    pub(crate) unload: Vec<usize>,
    /// The model to load.
    pub(crate) load: usize,
    /// The GPU to load it on.
    pub(crate) gpu: usize,
    /// The pairs that can run now and could not before, the smaller index first.
    pub(crate) pairs: Vec<[usize; 2]>,
}

/// An order that covers all pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadOrder {
    /// The loads.
    pub(crate) steps: Vec<LoadStep>,
    /// A lower bound on the loads of any order.
    pub(crate) bound: usize,
}

/// Why there is no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OrderError {
    /// Two models cannot be loaded together.
    #[error("models {0} and {1} do not fit together")]
    NeverTogether(usize, usize),
    /// There are too many models.
    #[error("more than {MAX_MODELS} models")]
    TooMany,
}

/// Orders all pairs of models of these sizes on GPUs of these capacities.
pub(crate) fn order(
    sizes: &[u32],
    capacities: &[u32],
    budget: SearchBudget,
) -> Result<LoadOrder, OrderError> {
    if sizes.len() > MAX_MODELS {
        return Err(OrderError::TooMany);
    }
    if let Some((one, other)) = never_together(sizes, capacities) {
        return Err(OrderError::NeverTogether(one, other));
    }
    if sizes.is_empty() {
        return Ok(LoadOrder { steps: Vec::new(), bound: 0 });
    }
    if let [_] = sizes {
        let gpu = capacities.iter().position(|capacity| sizes[0] <= *capacity).unwrap_or_default();
        return Ok(LoadOrder {
            steps: vec![LoadStep { unload: Vec::new(), load: 0, gpu, pairs: Vec::new() }],
            bound: 1,
        });
    }
    let costs = PairCosts::new(sizes, capacities.iter().sum());
    let mut steps = Vec::new();
    for seed in 0..budget.restarts.max(1) {
        let search = BeamSearch { sizes, capacities, costs: &costs, seed, width: budget.beam_width.max(1) };
        let max_loads = if seed == 0 { usize::MAX } else { steps.len() - 1 };
        if let Some(shorter) = search.run(max_loads) {
            steps = shorter;
        }
    }
    Ok(LoadOrder { steps, bound: costs.bound() })
}

/// Whether a model of one size on this GPU leaves room for a model of the other size on it or on another GPU.
fn fit_together(one: u32, gpu: usize, other: u32, capacities: &[u32]) -> bool {
    let free =
        |next: usize| if next == gpu { capacities[next].saturating_sub(one) } else { capacities[next] };
    one <= capacities[gpu] && (0..capacities.len()).any(|next| other <= free(next))
}

/// Two models that cannot be loaded at the same time.
fn never_together(sizes: &[u32], capacities: &[u32]) -> Option<(usize, usize)> {
    let largest = capacities.iter().max().copied().unwrap_or_default();
    let fit =
        |one: u32, other: u32| (0..capacities.len()).any(|gpu| fit_together(one, gpu, other, capacities));
    if let [only] = sizes {
        return (*only > largest).then_some((0, 0));
    }
    (0..sizes.len())
        .flat_map(|one| (0..one).map(move |other| (other, one)))
        .find(|(one, other)| !fit(sizes[*one], sizes[*other]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Replays an order: what is loaded always fits, and every pair is asked once, while both are there.
    fn check(sizes: &[u32], rooms: &[u32], order: &LoadOrder) {
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
                let order = order(&sizes, &rooms, SearchBudget::default()).unwrap();
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
        let order = order(&sizes, &[14], SearchBudget::default()).unwrap();
        check(&sizes, &[14], &order);
        assert_eq!((order.steps.len(), order.bound), (5, 5));
    }

    #[test]
    fn models_that_never_meet_are_named() {
        assert_eq!(order(&[1, 6, 5], &[10], SearchBudget::default()), Err(OrderError::NeverTogether(1, 2)));
        assert_eq!(order(&[11], &[10], SearchBudget::default()), Err(OrderError::NeverTogether(0, 0)));
        assert!(order(&[1, 6, 5], &[6, 6], SearchBudget::default()).is_ok());
    }

    #[test]
    fn the_same_input_gives_the_same_order() {
        let sizes: Vec<u32> = (1..=11).map(|i| 100 + i * 37 % 90).collect();
        let again = || order(&sizes, &[500], SearchBudget::default()).unwrap();
        assert_eq!(again(), again());
    }

    #[test]
    fn a_model_in_the_way_is_moved_to_another_gpu() {
        // The search loads model 0 on the first GPU, the only one that holds model 1.
        let (sizes, rooms) = ([3, 8], [10, 3]);
        let order = order(&sizes, &rooms, SearchBudget { beam_width: 1, restarts: 1 }).unwrap();
        check(&sizes, &rooms, &order);
        assert!(order.steps.len() <= 3, "{order:?}");
    }

    #[test]
    fn a_large_model_may_replace_many_small_ones() {
        // To load the last model, 36 of 40 others are unloaded, of which there are too many sets to try them all.
        let mut sizes = vec![20; 40];
        sizes.push(890);
        let order = order(&sizes, &[970], SearchBudget { beam_width: 2, restarts: 1 }).unwrap();
        check(&sizes, &[970], &order);
    }

    #[test]
    fn nothing_to_order_is_no_load() {
        let order = order(&[], &[970], SearchBudget::default()).unwrap();
        assert_eq!((order.steps, order.bound), (Vec::new(), 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn gpus_with_different_memory_end_with_every_pair(
            sizes in prop::collection::vec(1_u32..=90, 2..11),
            mut rooms in prop::collection::vec(1_u32..=90, 0..4),
            largest in 90_u32..=190,
            at in 0_usize..4,
            beam_width in 1_usize..=8,
        ) {
            rooms.insert(at.min(rooms.len()), largest);
            match order(&sizes, &rooms, SearchBudget { beam_width, restarts: 2 }) {
                Ok(found) => check(&sizes, &rooms, &found),
                Err(error) => prop_assert!(matches!(error, OrderError::NeverTogether(..)), "{}", error),
            }
        }

        #[test]
        fn every_pair_is_asked_once_and_nothing_is_too_full(
            sizes in prop::collection::vec(1_u32..=50, 2..11),
            rooms in prop::collection::vec(100_u32..=160, 1..4),
        ) {
            let found = order(&sizes, &rooms, SearchBudget { beam_width: 8, restarts: 2 }).unwrap();
            check(&sizes, &rooms, &found);
        }
    }
}
