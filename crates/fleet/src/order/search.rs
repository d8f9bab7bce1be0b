//! A beam search: of all partial orders with the same number of loads, those are kept for which the least is left to do
//! by the bound. Each seed leans on another preference among nearly equal ones.

use super::Step;
use super::bound::{Costs, LOAD};
use std::collections::HashSet;
use std::rc::Rc;

/// Models that may make room for another at one load; the less they have left to meet, the sooner they are among them.
const LEAVERS: usize = 8;

/// One load: who makes room, who comes, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) gone: u128,
    pub(super) model: usize,
    pub(super) gpu: usize,
}

#[derive(Clone)]
pub(super) struct State {
    /// Models on each GPU.
    pub(super) on: Vec<u128>,
    /// Whom each model has still to meet.
    pub(super) open: Vec<u128>,
    /// What is left to do, by the bound.
    left: u64,
    trail: Option<Rc<Trail>>,
}

struct Trail {
    before: Option<Rc<Trail>>,
    load: Load,
}

/// A load that could come next.
struct Move {
    from: usize,
    load: Load,
    score: u64,
}

pub(super) struct Search<'a> {
    pub(super) sizes: &'a [u32],
    pub(super) rooms: &'a [u32],
    pub(super) costs: &'a Costs,
    pub(super) seed: u64,
    pub(super) width: usize,
}

impl State {
    /// All models that are loaded.
    pub(super) fn there(&self) -> u128 {
        self.on.iter().fold(0, |there, on| there | on)
    }

    fn is_done(&self) -> bool {
        self.open.iter().all(|open| *open == 0)
    }
}

impl Search<'_> {
    /// Nothing is loaded, nobody has met.
    pub(super) fn empty(&self) -> State {
        let n = self.sizes.len();
        let left = (0..n).flat_map(|x| (0..x).map(move |y| (x, y))).map(|(x, y)| self.costs.pair(x, y)).sum();
        let open = (0..n).map(|x| bits(n) & !(1 << x)).collect();
        State { on: vec![0; self.rooms.len()], open, left, trail: None }
    }

    /// The shortest way found from here to the end, with at most so many loads.
    pub(super) fn run(&self, mut from: State, most: usize) -> Option<Vec<Load>> {
        from.trail = None;
        let mut beam = vec![from];
        for _ in 0..most {
            let mut moves = Vec::new();
            for (from, state) in beam.iter().enumerate() {
                self.moves(from, state, &mut moves);
            }
            moves.sort_by_key(|m| (m.score, m.from, m.load.model, m.load.gpu, m.load.gone));
            let mut seen = HashSet::new();
            let mut next = Vec::with_capacity(self.width);
            for m in &moves {
                let state = self.after(&beam[m.from], m.load);
                if state.is_done() {
                    return Some(loads(state.trail.as_ref()));
                }
                if seen.insert((state.on.clone(), state.open.clone())) {
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

    /// Every load that lets at least one pair meet, with every smallest choice of who makes room.
    fn moves(&self, from: usize, state: &State, moves: &mut Vec<Move>) {
        let there = state.there();
        for load in ones(bits(self.sizes.len()) & !there) {
            let open = state.open[load];
            if open == 0 || (there != 0 && open & there == 0) {
                continue;
            }
            for (gpu, room) in self.rooms.iter().enumerate() {
                let full: u32 = ones(state.on[gpu]).map(|model| self.sizes[model]).sum();
                if self.sizes[load] > *room {
                    continue;
                }
                let over = (full + self.sizes[load]).saturating_sub(*room);
                for gone in self.leavers(state, gpu, load, over) {
                    let met = open & there & !gone;
                    if met == 0 && there != 0 {
                        continue;
                    }
                    let gain: u64 = ones(met).map(|other| self.costs.pair(load, other)).sum();
                    let score = state.left - gain + self.lean(load, gone);
                    moves.push(Move { from, load: Load { gone, model: load, gpu }, score });
                }
            }
        }
    }

    /// The sets of models on a GPU that free at least this much, and would not without any one of them.
    fn leavers(&self, state: &State, gpu: usize, load: usize, over: u32) -> Vec<u128> {
        if over == 0 {
            return vec![0];
        }
        let to_do = |model: usize| {
            let open = ones(state.open[model]).map(|other| self.costs.pair(model, other)).sum::<u64>();
            let wanted = state.open[load] >> model & 1;
            (wanted, open)
        };
        let mut models: Vec<usize> = ones(state.on[gpu]).collect();
        models.sort_by_cached_key(|model| to_do(*model));
        // The largest are always among them, so that there is room in the end.
        let (few, rest) = models.split_at(models.len().min(LEAVERS));
        let mut models = few.to_vec();
        let freed = |models: &[usize]| models.iter().map(|model| self.sizes[*model]).sum::<u32>();
        for model in rest {
            if freed(&models) < over {
                models.push(*model);
            }
        }
        // Every choice is a smaller one with one more model.
        let mut choices = vec![(0_u32, u32::MAX, 0_u128)];
        for model in models {
            let size = self.sizes[model];
            for at in 0..choices.len() {
                let (freed, smallest, gone) = choices[at];
                // A choice that frees enough needs nobody else.
                if freed < over {
                    choices.push((freed + size, smallest.min(size), gone | 1 << model));
                }
            }
        }
        let needed = |(freed, smallest, _): &(u32, u32, u128)| *freed >= over && freed - smallest < over;
        choices.into_iter().filter(needed).map(|(_, _, gone)| gone).collect()
    }

    /// A small preference by the seed; none in the first try.
    fn lean(&self, load: usize, gone: u128) -> u64 {
        if self.seed == 0 {
            return 0;
        }
        let low = u64::try_from((gone ^ gone >> 64) & u128::from(u64::MAX)).unwrap_or_default();
        mixed(self.seed ^ (load as u64) << 32 ^ low) % (LOAD / 8)
    }

    pub(super) fn after(&self, state: &State, load: Load) -> State {
        let Load { gone, model, gpu } = load;
        let mut next = state.clone();
        for on in &mut next.on {
            *on &= !gone;
        }
        let there = next.there();
        let met = next.open[model] & there;
        for other in ones(met) {
            next.open[other] &= !(1 << model);
            next.left -= self.costs.pair(model, other);
        }
        next.open[model] &= !met;
        next.on[gpu] |= 1 << model;
        let before = next.trail.take();
        next.trail = Some(Rc::new(Trail { before, load }));
        // Who has met everyone only takes room.
        let done = ones(there | 1 << model)
            .filter(|model| next.open[*model] == 0)
            .fold(0, |done, m| done | 1_u128 << m);
        for on in &mut next.on {
            *on &= !done;
        }
        next
    }
}

/// The loads that led to a state.
fn loads(trail: Option<&Rc<Trail>>) -> Vec<Load> {
    let mut loads: Vec<Load> =
        std::iter::successors(trail, |trail| trail.before.as_ref()).map(|trail| trail.load).collect();
    loads.reverse();
    loads
}

/// The loads as steps. Models that have met everyone leave at the next load.
pub(super) fn steps(search: &Search<'_>, loads: &[Load]) -> Vec<Step> {
    let mut state = search.empty();
    // Who is there in truth: one that has met everyone takes room until the next load.
    let mut there = 0;
    let step = |load: &Load| {
        let gone = there & (load.gone | !state.there());
        there &= !gone;
        let met = state.open[load.model] & there;
        there |= 1 << load.model;
        state = search.after(&state, *load);
        let pairs = ones(met).map(|other| [other.min(load.model), other.max(load.model)]).collect();
        Step { unload: ones(gone).collect(), load: load.model, gpu: load.gpu, pairs }
    };
    loads.iter().map(step).collect()
}

/// The first `count` bits.
pub(super) fn bits(count: usize) -> u128 {
    u128::MAX.checked_shr(128 - u32::try_from(count).unwrap_or(128)).unwrap_or(0)
}

/// The positions of a set's members.
pub(super) fn ones(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let at = set.trailing_zeros() as usize;
            set &= set - 1;
            at
        })
    })
}

/// A number without a pattern, by another: the finaliser of SplitMix64.
pub(super) fn mixed(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
