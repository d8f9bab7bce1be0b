//! How few loads there can be.
//!
//! A pair is first met when one of its two is loaded while the other is there. What a load of x meets fits beside it:
//! at most `C - s(x)` of memory and at most `k(x)` models. So every pair costs at least a share of a load: a mix of
//! `s(y) / (C - s(x))` and `1 / k(x)`, the cheaper of the two ways round. The shares add up to a bound. The first loads
//! meet less than they could, because nothing is there yet; that adds a little more.

/// A load in the fixed-point numbers of the costs.
pub(super) const LOAD: u64 = 1 << 40;
/// Mixes that are tried.
const MIXES: u32 = 20;

/// What each pair costs at least.
pub(super) struct Costs {
    pairs: Vec<Vec<u64>>,
    bound: usize,
}

impl Costs {
    /// The costs of the mix with the highest bound.
    pub(super) fn new(sizes: &[u32], room: u32) -> Self {
        (0..=MIXES)
            .map(|mix| Self::mixed(sizes, room, mix))
            .max_by_key(|costs| costs.bound)
            .unwrap_or(Self { pairs: Vec::new(), bound: 0 })
    }

    fn mixed(sizes: &[u32], room: u32, mix: u32) -> Self {
        let n = sizes.len();
        let beside: Vec<u64> = (0..n).map(|x| most_beside(sizes, room, x)).collect();
        let mix = f64::from(mix) / f64::from(MIXES);
        let way = |x: usize, y: usize| {
            let memory = f64::from(sizes[y]) / f64::from((room - sizes[x]).max(1));
            let count = 1.0 / beside[x].max(1) as f64;
            mix * memory + (1.0 - mix) * count
        };
        let mut pairs = vec![vec![0; n]; n];
        let (mut total, mut dearest) = (0.0, 0.0_f64);
        for (x, y) in (0..n).flat_map(|x| (0..x).map(move |y| (x, y))) {
            let cost = way(x, y).min(way(y, x));
            total += cost;
            dearest = dearest.max(cost);
            pairs[x][y] = fixed(cost);
            pairs[y][x] = pairs[x][y];
        }
        let idle: f64 = (0..n).map(|before| (1.0 - before as f64 * dearest).max(0.0)).sum();
        // Rounding must never lift the bound.
        let bound = whole((total + idle - 1e-6).ceil());
        Self { pairs, bound: bound.max(n) }
    }

    pub(super) fn pair(&self, one: usize, other: usize) -> u64 {
        self.pairs[one][other]
    }

    pub(super) fn bound(&self) -> usize {
        self.bound
    }
}

/// How many other models fit beside this one.
fn most_beside(sizes: &[u32], room: u32, x: usize) -> u64 {
    let mut others: Vec<u32> = (0..sizes.len()).filter(|y| *y != x).map(|y| sizes[y]).collect();
    others.sort_unstable();
    let mut left = room.saturating_sub(sizes[x]);
    let fits = |size: &&u32| {
        let fits = **size <= left;
        left = left.saturating_sub(**size);
        fits
    };
    others.iter().take_while(fits).count() as u64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
fn fixed(cost: f64) -> u64 {
    (cost * LOAD as f64) as u64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small and not negative")]
fn whole(number: f64) -> usize {
    number as usize
}
