//! Improves an order: what comes after some load is forgotten and found anew, many times over. An order read backwards is
//! an order too, with as many loads, so that its beginning is improved as well.

use super::Effort;
use super::bound::Costs;
use super::search::{Load, Search, mixed, ones};

/// Width of the searches that find an end anew.
const NARROW: usize = 12;
/// Loads that are found anew at most.
const END: usize = 30;

/// A short order of all pairs.
pub(super) fn best(sizes: &[u32], rooms: &[u32], costs: &Costs, effort: Effort) -> Vec<Load> {
    let search = |seed: u64, width: usize| Search { sizes, rooms, costs, seed, width };
    let mut best: Vec<Load> = Vec::new();
    for seed in 0..effort.tries.max(1) {
        let search = search(seed, effort.width.max(1));
        let most = if best.is_empty() { usize::MAX } else { best.len() - 1 };
        if let Some(found) = search.run(search.empty(), most) {
            best = found;
        }
    }
    for round in 0..effort.rounds {
        if best.len() <= costs.bound() {
            break;
        }
        let draw = mixed((round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let search = search(draw | 1, NARROW);
        if draw >> 32 & 1 == 1 {
            best = backwards(&search, &best);
        }
        let least = best.len().saturating_sub(END);
        let cut = least + usize::try_from(mixed(draw) % (best.len() - least) as u64).unwrap_or_default();
        let state = best[..cut].iter().fold(search.empty(), |state, load| search.after(&state, *load));
        // As many loads will do: another order of the same length may be the way to a shorter one.
        if let Some(end) = search.run(state, best.len() - cut) {
            best.truncate(cut);
            best.extend(end);
        }
    }
    best
}

/// The same order from its end to its beginning. Loads that meet nobody any more are left out.
fn backwards(search: &Search<'_>, loads: &[Load]) -> Vec<Load> {
    // Who is where during each step.
    let mut state = search.empty();
    let mut during: Vec<Vec<u128>> = Vec::with_capacity(loads.len());
    for load in loads {
        let mut on: Vec<u128> = state.on.iter().map(|on| on & !load.gone).collect();
        on[load.gpu] |= 1 << load.model;
        during.push(on);
        state = search.after(&state, *load);
    }
    let mut back = Vec::with_capacity(loads.len());
    let mut state = search.empty();
    for wanted in during.iter().rev() {
        for (gpu, set) in wanted.iter().enumerate() {
            for model in ones(set & !state.on[gpu]) {
                if state.open[model] == 0 {
                    continue;
                }
                let gone = state.on.iter().zip(wanted).fold(0, |gone, (on, wanted)| gone | on & !wanted);
                let load = Load { gone, model, gpu };
                state = search.after(&state, load);
                back.push(load);
            }
        }
    }
    back
}
