//! A lower bound on the number of loads.
//!
//! A pair is first covered when one of its models is loaded while the other is loaded. A load of x covers pairs with
//! models that fit beside it: at most `C - s(x)` of memory and at most `k(x)` models. So every pair costs at least a
//! fraction of a load: a convex combination of `s(y) / (C - s(x))` and `1 / k(x)`, minimised over which of the two is
//! loaded. The costs add up to a bound; the first loads cover fewer pairs, as nothing is loaded yet, which raises it.

/// The cost of a load, in fixed-point numbers.
pub(super) const ONE_LOAD: u64 = 1 << 40;
/// Convex combinations that are tried.
const MIXES: u32 = 20;

/// A lower bound on the cost of each pair.
pub(super) struct PairCosts {
    pairs: Vec<Vec<u64>>,
    bound: usize,
}

impl PairCosts {
    /// The costs with the highest bound.
    pub(super) fn new(sizes: &[u32], capacity: u32) -> Self {
        (0..=MIXES)
            .map(|mix| Self::with_mix(sizes, capacity, mix))
            .max_by_key(|costs| costs.bound)
            .unwrap_or(Self { pairs: Vec::new(), bound: 0 })
    }

    fn with_mix(sizes: &[u32], capacity: u32, mix: u32) -> Self {
        let n = sizes.len();
        let beside: Vec<u64> = (0..n).map(|x| max_beside(sizes, capacity, x)).collect();
        let mix = f64::from(mix) / f64::from(MIXES);
        let cost_of_loading = |x: usize, y: usize| {
            let memory = f64::from(sizes[y]) / f64::from((capacity - sizes[x]).max(1));
            let count = 1.0 / beside[x].max(1) as f64;
            mix * memory + (1.0 - mix) * count
        };
        let mut pairs = vec![vec![0; n]; n];
        let (mut total, mut highest) = (0.0, 0.0_f64);
        for (x, y) in (0..n).flat_map(|x| (0..x).map(move |y| (x, y))) {
            let cost = cost_of_loading(x, y).min(cost_of_loading(y, x));
            total += cost;
            highest = highest.max(cost);
            pairs[x][y] = to_fixed(cost);
            pairs[y][x] = pairs[x][y];
        }
        let idle: f64 = (0..n).map(|before| (1.0 - before as f64 * highest).max(0.0)).sum();
        // Rounding must not raise the bound.
        let bound = to_usize((total + idle - 1e-6).ceil());
        Self { pairs, bound: bound.max(n) }
    }

    pub(super) fn pair(&self, one: usize, other: usize) -> u64 {
        self.pairs[one][other]
    }

    pub(super) fn bound(&self) -> usize {
        self.bound
    }
}

/// The largest number of other models that fit beside this one.
fn max_beside(sizes: &[u32], capacity: u32, x: usize) -> u64 {
    let mut others: Vec<u32> = (0..sizes.len()).filter(|y| *y != x).map(|y| sizes[y]).collect();
    others.sort_unstable();
    let mut left = capacity.saturating_sub(sizes[x]);
    let fits = |size: &&u32| {
        let fits = **size <= left;
        left = left.saturating_sub(**size);
        fits
    };
    others.iter().take_while(fits).count() as u64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
fn to_fixed(cost: f64) -> u64 {
    (cost * ONE_LOAD as f64) as u64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
fn to_usize(number: f64) -> usize {
    number as usize
}
