//! A beam search: of all partial orders with the same number of loads, those are kept for which the least is left to do
//! by the bound. Each try leans on another preference among nearly equal ones.

use super::bound::{Costs, LOAD};
use super::{Effort, Step};
use std::collections::HashSet;
use std::rc::Rc;

/// Models that may make room for another at one load; the less they have left to meet, the sooner they are among them.
const LEAVERS: usize = 8;

#[derive(Clone)]
struct State {
    /// Models on each GPU.
    on: Vec<u128>,
    /// Whom each model has still to meet.
    open: Vec<u128>,
    /// What is left to do, by the bound.
    left: u64,
    trail: Option<Rc<Trail>>,
}

struct Trail {
    before: Option<Rc<Trail>>,
    gone: u128,
    load: usize,
    gpu: usize,
}

/// A load that could come next.
struct Move {
    from: usize,
    load: usize,
    gpu: usize,
    gone: u128,
    score: u64,
}

pub(super) fn best(sizes: &[u32], rooms: &[u32], costs: &Costs, effort: Effort) -> Vec<Step> {
    let mut best: Option<Rc<Trail>> = None;
    let mut fewest = usize::MAX;
    for seed in 0..effort.tries.max(1) {
        let search = Search { sizes, rooms, costs, seed, width: effort.width.max(1) };
        if let Some((loads, trail)) = search.run(fewest) {
            (fewest, best) = (loads, Some(trail));
        }
        if fewest <= costs.bound() {
            break;
        }
    }
    steps(sizes.len(), rooms.len(), best.as_ref())
}

struct Search<'a> {
    sizes: &'a [u32],
    rooms: &'a [u32],
    costs: &'a Costs,
    seed: u64,
    width: usize,
}

impl Search<'_> {
    /// The shortest order found with fewer loads than `limit`.
    fn run(&self, limit: usize) -> Option<(usize, Rc<Trail>)> {
        let n = self.sizes.len();
        let all = bits(n);
        let left = (0..n).flat_map(|x| (0..x).map(move |y| (x, y))).map(|(x, y)| self.costs.pair(x, y)).sum();
        let open = (0..n).map(|x| all & !(1 << x)).collect();
        let mut beam = vec![State { on: vec![0; self.rooms.len()], open, left, trail: None }];
        for loads in 1..limit {
            let mut moves = Vec::new();
            for (from, state) in beam.iter().enumerate() {
                self.moves(from, state, &mut moves);
            }
            moves.sort_by_key(|m| (m.score, m.from, m.load, m.gpu, m.gone));
            let mut seen = HashSet::new();
            let mut next = Vec::with_capacity(self.width);
            for m in &moves {
                let state = self.after(&beam[m.from], m);
                if state.open.iter().all(|open| *open == 0) {
                    return state.trail.map(|trail| (loads, trail));
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
        let there = state.on.iter().fold(0, |there, on| there | on);
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
                    moves.push(Move { from, load, gpu, gone, score });
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
        (1_u32..1 << models.len())
            .filter_map(|choice| {
                let chosen = || (0..models.len()).filter(move |i| choice >> i & 1 == 1).map(|i| models[i]);
                let freed: u32 = chosen().map(|model| self.sizes[model]).sum();
                let smallest = chosen().map(|model| self.sizes[model]).min().unwrap_or_default();
                (freed >= over && freed - smallest < over)
                    .then(|| chosen().fold(0, |gone, model| gone | 1_u128 << model))
            })
            .collect()
    }

    /// A small preference by the seed; none in the first try.
    fn lean(&self, load: usize, gone: u128) -> u64 {
        if self.seed == 0 {
            return 0;
        }
        let low = u64::try_from((gone ^ gone >> 64) & u128::from(u64::MAX)).unwrap_or_default();
        let mut mixed = self.seed ^ (load as u64) << 32 ^ low;
        // The finaliser of SplitMix64.
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % (LOAD / 8)
    }

    fn after(&self, state: &State, m: &Move) -> State {
        let mut next = state.clone();
        next.on[m.gpu] &= !m.gone;
        let there = next.on.iter().fold(0, |there, on| there | on);
        let met = next.open[m.load] & there;
        for other in ones(met) {
            next.open[other] &= !(1 << m.load);
            next.left -= self.costs.pair(m.load, other);
        }
        next.open[m.load] &= !met;
        next.on[m.gpu] |= 1 << m.load;
        let before = next.trail.take();
        next.trail = Some(Rc::new(Trail { before, gone: m.gone, load: m.load, gpu: m.gpu }));
        // Who has met everyone only takes room.
        for model in ones(there | 1 << m.load).filter(|model| next.open[*model] == 0).collect::<Vec<_>>() {
            for on in &mut next.on {
                *on &= !(1 << model);
            }
        }
        next
    }
}

/// The trail as steps. Models that have met everyone leave at the next load.
fn steps(models: usize, gpus: usize, trail: Option<&Rc<Trail>>) -> Vec<Step> {
    let mut loads = Vec::new();
    let mut at = trail;
    while let Some(trail) = at {
        loads.push((trail.gone, trail.load, trail.gpu));
        at = trail.before.as_ref();
    }
    loads.reverse();
    let mut open: Vec<u128> = (0..models).map(|x| bits(models) & !(1 << x)).collect();
    let mut on = vec![0_u128; gpus];
    let step = |(gone, load, gpu): (u128, usize, usize)| {
        let there = on.iter().fold(0, |there, on| there | on);
        let done =
            ones(there).filter(|model| open[*model] == 0).fold(0, |done, model| done | 1_u128 << model);
        let gone = gone | done;
        for on in &mut on {
            *on &= !gone;
        }
        let met = open[load] & there & !gone;
        for other in ones(met) {
            open[other] &= !(1 << load);
        }
        open[load] &= !met;
        on[gpu] |= 1 << load;
        let pairs = ones(met).map(|other| [other.min(load), other.max(load)]).collect();
        Step { unload: ones(gone).collect(), load, gpu, pairs }
    };
    loads.into_iter().map(step).collect()
}

/// The first `count` bits.
fn bits(count: usize) -> u128 {
    u128::MAX.checked_shr(128 - u32::try_from(count).unwrap_or(128)).unwrap_or(0)
}

/// The positions of a set's members.
fn ones(mut set: u128) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let at = set.trailing_zeros() as usize;
            set &= set - 1;
            at
        })
    })
}
