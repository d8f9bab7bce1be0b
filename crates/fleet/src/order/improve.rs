//! Local search: repeatedly replaces the end of an order by a new beam search. A reversed order is also an order with as
//! many loads, so its beginning is improved as well.

use super::SearchBudget;
use super::bound::PairCosts;
use super::search::{BeamSearch, Load, iter_ones, splitmix};

/// The beam width of the replacement search.
const BEAM_WIDTH: usize = 12;
/// The most loads that are replaced.
const MAX_REPLACED: usize = 30;

/// The shortest order found.
pub(super) fn best(sizes: &[u32], capacities: &[u32], costs: &PairCosts, budget: SearchBudget) -> Vec<Load> {
    let search = |seed: u64, width: usize| BeamSearch { sizes, capacities, costs, seed, width };
    let mut best: Vec<Load> = Vec::new();
    for seed in 0..budget.restarts.max(1) {
        let search = search(seed, budget.beam_width.max(1));
        let most = if best.is_empty() { usize::MAX } else { best.len() - 1 };
        if let Some(found) = search.run(search.initial_state(), most) {
            best = found;
        }
    }
    for round in 0..budget.improvements {
        if best.len() <= costs.bound() {
            break;
        }
        let draw = splitmix((round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let search = search(draw | 1, BEAM_WIDTH);
        if draw >> 32 & 1 == 1 {
            best = reversed(&search, &best);
        }
        let least = best.len().saturating_sub(MAX_REPLACED);
        let cut = least + usize::try_from(splitmix(draw) % (best.len() - least) as u64).unwrap_or_default();
        let state =
            best[..cut].iter().fold(search.initial_state(), |state, load| search.apply(&state, *load));
        // An order of the same length is accepted too, as it may lead to a shorter one.
        if let Some(end) = search.run(state, best.len() - cut) {
            best.truncate(cut);
            best.extend(end);
        }
    }
    best
}

/// The reversed order, without loads that cover no further pair.
fn reversed(search: &BeamSearch<'_>, loads: &[Load]) -> Vec<Load> {
    // The models on each GPU during each step.
    let mut state = search.initial_state();
    let mut during: Vec<Vec<u128>> = Vec::with_capacity(loads.len());
    for load in loads {
        let mut on: Vec<u128> = state.on_gpu.iter().map(|on| on & !load.unload).collect();
        on[load.gpu] |= 1 << load.model;
        during.push(on);
        state = search.apply(&state, *load);
    }
    let mut reversed = Vec::with_capacity(loads.len());
    let mut state = search.initial_state();
    for target in during.iter().rev() {
        for (gpu, set) in target.iter().enumerate() {
            for model in iter_ones(set & !state.on_gpu[gpu]) {
                if state.uncovered[model] == 0 {
                    continue;
                }
                let unload =
                    state.on_gpu.iter().zip(target).fold(0, |unload, (on, target)| unload | on & !target);
                let load = Load { unload, model, gpu };
                state = search.apply(&state, load);
                reversed.push(load);
            }
        }
    }
    reversed
}
