//! Beam search: of all partial orders with the same number of loads, keeps those whose uncovered pairs cost least by the
//! bound. The seed breaks ties.
//!
//! The search ends. Every state that is not done has a move (`moves`, `detours`). A move covers a pair, except the first
//! one with nothing loaded and a detour, and after a detour there is a move that covers one. So of three loads in a row
//! at least one covers a pair, and an order has at most three loads per pair.

use super::bound::{ONE_LOAD, PairCosts};
use super::{LoadStep, fit_together};
use std::collections::HashSet;
use std::rc::Rc;

/// Candidates of which all minimal sets are tried at one load: those whose uncovered pairs cost least. If unloading all
/// of them does not free enough, the cheapest are unloaded in any case.
const MAX_CANDIDATES: usize = 8;

/// One load: the set of models to unload, the model to load, and its GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Load {
    unload: u128,
    model: usize,
    gpu: usize,
}

#[derive(Clone)]
struct State {
    /// The models on each GPU.
    on_gpu: Vec<u128>,
    /// For each model, the partners of its uncovered pairs.
    uncovered: Vec<u128>,
    /// The cost of all uncovered pairs.
    remaining: u64,
    history: Option<Rc<History>>,
}

struct History {
    previous: Option<Rc<History>>,
    load: Load,
}

/// A candidate for the next load.
struct Move {
    from: usize,
    load: Load,
    score: u64,
}

pub(super) struct BeamSearch<'a> {
    pub(super) sizes: &'a [u32],
    pub(super) capacities: &'a [u32],
    pub(super) costs: &'a PairCosts,
    pub(super) seed: u64,
    pub(super) width: usize,
}

impl State {
    /// All loaded models.
    fn loaded(&self) -> u128 {
        self.on_gpu.iter().fold(0, |loaded, on| loaded | on)
    }

    fn is_done(&self) -> bool {
        self.uncovered.iter().all(|partners| *partners == 0)
    }
}

impl BeamSearch<'_> {
    /// The state with nothing loaded and all pairs uncovered.
    fn initial_state(&self) -> State {
        let n = self.sizes.len();
        let remaining =
            (0..n).flat_map(|x| (0..x).map(move |y| (x, y))).map(|(x, y)| self.costs.pair(x, y)).sum();
        let uncovered = (0..n).map(|x| low_bits(n) & !(1 << x)).collect();
        State { on_gpu: vec![0; self.capacities.len()], uncovered, remaining, history: None }
    }

    /// An order with at most `max_loads` loads.
    pub(super) fn run(&self, max_loads: usize) -> Option<Vec<LoadStep>> {
        let mut beam = vec![self.initial_state()];
        for _ in 0..max_loads {
            let mut moves = Vec::new();
            for (from, state) in beam.iter().enumerate() {
                let before = moves.len();
                self.moves(from, state, &mut moves);
                if moves.len() == before {
                    self.detours(from, state, &mut moves);
                }
            }
            moves.sort_by_key(|m| (m.score, m.from, m.load.model, m.load.gpu, m.load.unload));
            let mut seen = HashSet::new();
            let mut next = Vec::with_capacity(self.width);
            for m in &moves {
                let state = self.apply(&beam[m.from], m.load);
                if state.is_done() {
                    return Some(self.steps(&loads(state.history.as_ref())));
                }
                if seen.insert((state.on_gpu.clone(), state.uncovered.clone())) {
                    next.push(state);
                }
                if next.len() == self.width {
                    break;
                }
            }
            beam = next;
        }
        None
    }

    /// All loads that cover at least one pair, with all minimal sets of models to unload.
    fn moves(&self, from: usize, state: &State, moves: &mut Vec<Move>) {
        let loaded = state.loaded();
        for model in iter_ones(low_bits(self.sizes.len()) & !loaded) {
            let partners = state.uncovered[model];
            if partners == 0 || (loaded != 0 && partners & loaded == 0) {
                continue;
            }
            for (gpu, capacity) in self.capacities.iter().enumerate() {
                let used: u32 = iter_ones(state.on_gpu[gpu]).map(|other| self.sizes[other]).sum();
                if self.sizes[model] > *capacity {
                    continue;
                }
                let excess = (used + self.sizes[model]).saturating_sub(*capacity);
                for unload in self.unload_sets(state, gpu, model, excess) {
                    let covered = partners & loaded & !unload;
                    if covered == 0 && loaded != 0 {
                        continue;
                    }
                    let gain: u64 = iter_ones(covered).map(|other| self.costs.pair(model, other)).sum();
                    let score = state.remaining - gain + self.tie_break(model, unload);
                    moves.push(Move { from, load: Load { unload, model, gpu }, score });
                }
            }
        }
    }

    /// Loads after which a pair can be covered, for a state in which no load covers one: a model may be loaded on the only
    /// GPU that holds its partner. Each loads a model on an emptied GPU that leaves room for a partner, and unloads it
    /// first if it is loaded.
    fn detours(&self, from: usize, state: &State, moves: &mut Vec<Move>) {
        for model in iter_ones(low_bits(self.sizes.len())) {
            for gpu in 0..self.capacities.len() {
                let fits = |other| fit_together(self.sizes[model], gpu, self.sizes[other], self.capacities);
                if iter_ones(state.uncovered[model]).any(fits) {
                    let unload = state.on_gpu[gpu] | (state.loaded() & 1 << model);
                    let score = state.remaining + self.tie_break(model, unload);
                    moves.push(Move { from, load: Load { unload, model, gpu }, score });
                }
            }
        }
    }

    /// The minimal sets of models on a GPU whose sizes add up to at least `excess`.
    fn unload_sets(&self, state: &State, gpu: usize, load: usize, excess: u32) -> Vec<u128> {
        if excess == 0 {
            return vec![0];
        }
        let cost_to_unload = |model: usize| {
            let partners = iter_ones(state.uncovered[model]);
            let cost = partners.map(|other| self.costs.pair(model, other)).sum::<u64>();
            let is_partner = state.uncovered[load] >> model & 1;
            (is_partner, cost)
        };
        let mut models: Vec<usize> = iter_ones(state.on_gpu[gpu]).collect();
        models.sort_by_cached_key(|model| cost_to_unload(*model));
        // The first models are unloaded in any case, if that many are needed; the next ones are the candidates.
        let freed = |models: &[usize]| models.iter().map(|model| self.sizes[*model]).sum::<u32>();
        let end = (MAX_CANDIDATES..models.len()).find(|end| freed(&models[..*end]) >= excess);
        let (chosen, _) = models.split_at(end.unwrap_or(models.len()));
        let (always, candidates) = chosen.split_at(chosen.len().saturating_sub(MAX_CANDIDATES));
        let excess = excess.saturating_sub(freed(always));
        let always = always.iter().fold(0_u128, |set, model| set | 1 << model);
        // Every set is a smaller set with one more model.
        let mut sets = vec![(0_u32, u32::MAX, 0_u128)];
        for model in candidates {
            let size = self.sizes[*model];
            for at in 0..sets.len() {
                let (freed, smallest, set) = sets[at];
                // A set that frees enough is not extended.
                if freed < excess {
                    sets.push((freed + size, smallest.min(size), set | 1 << model));
                }
            }
        }
        let is_minimal =
            |(freed, smallest, _): &(u32, u32, u128)| *freed >= excess && freed - smallest < excess;
        sets.into_iter().filter(is_minimal).map(|(_, _, set)| always | set).collect()
    }

    /// A small pseudo-random cost by the seed; 0 for seed 0.
    fn tie_break(&self, model: usize, unload: u128) -> u64 {
        if self.seed == 0 {
            return 0;
        }
        let low = u64::try_from((unload ^ unload >> 64) & u128::from(u64::MAX)).unwrap_or_default();
        splitmix(self.seed ^ (model as u64) << 32 ^ low) % (ONE_LOAD / 8)
    }

    /// The state after a load; models without uncovered pairs are unloaded at once.
    fn apply(&self, state: &State, load: Load) -> State {
        let Load { unload, model, gpu } = load;
        let mut next = state.clone();
        for on in &mut next.on_gpu {
            *on &= !unload;
        }
        let loaded = next.loaded();
        let covered = next.uncovered[model] & loaded;
        for other in iter_ones(covered) {
            next.uncovered[other] &= !(1 << model);
            next.remaining -= self.costs.pair(model, other);
        }
        next.uncovered[model] &= !covered;
        next.on_gpu[gpu] |= 1 << model;
        let previous = next.history.take();
        next.history = Some(Rc::new(History { previous, load }));
        let done = iter_ones(loaded | 1 << model)
            .filter(|model| next.uncovered[*model] == 0)
            .fold(0, |done, m| done | 1_u128 << m);
        for on in &mut next.on_gpu {
            *on &= !done;
        }
        next
    }

    /// The steps of an order. Models without uncovered pairs are unloaded at the next load.
    fn steps(&self, loads: &[Load]) -> Vec<LoadStep> {
        let mut state = self.initial_state();
        // Unlike in `state`, models without uncovered pairs stay loaded until the next load.
        let mut loaded = 0;
        let step = |load: &Load| {
            let unload = loaded & (load.unload | !state.loaded());
            loaded &= !unload;
            let covered = state.uncovered[load.model] & loaded;
            loaded |= 1 << load.model;
            state = self.apply(&state, *load);
            let pairs =
                iter_ones(covered).map(|other| [other.min(load.model), other.max(load.model)]).collect();
            LoadStep { unload: iter_ones(unload).collect(), load: load.model, gpu: load.gpu, pairs }
        };
        loads.iter().map(step).collect()
    }
}

/// The loads that led to a state.
fn loads(history: Option<&Rc<History>>) -> Vec<Load> {
    let mut loads: Vec<Load> = std::iter::successors(history, |history| history.previous.as_ref())
        .map(|history| history.load)
        .collect();
    loads.reverse();
    loads
}

/// A set of the first `count` models.
fn low_bits(count: usize) -> u128 {
    u128::MAX.checked_shr(128 - u32::try_from(count).unwrap_or(128)).unwrap_or(0)
}

/// The members of a set.
fn iter_ones(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let at = set.trailing_zeros() as usize;
            set &= set - 1;
            at
        })
    })
}

/// The finaliser of SplitMix64, which hashes a number.
fn splitmix(number: u64) -> u64 {
    let hash = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}
