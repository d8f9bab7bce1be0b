//! Products of integers: factorials and binomial coefficients. Not charged to fuel: callers bound the arguments.

use dashu_int::UBig;

/// `n!`, or `n!!` with a step of two.
pub fn factorial(n: u64, step: u64) -> UBig {
    if n == 0 { UBig::ONE } else { product((n - 1) % step + 1, n, step) }
}

/// `n` choose `k`, for k up to n.
pub fn binomial(n: u64, k: u64) -> UBig {
    let k = k.min(n - k);
    product(n - k + 1, n, 1) / factorial(k, 1)
}

/// The product of every `step`-th integer from one to another, by halves so that factors stay of one size.
fn product(from: u64, to: u64, step: u64) -> UBig {
    if from > to {
        return UBig::ONE;
    }
    let count = (to - from) / step;
    if count < 16 {
        return (1..=count).fold(UBig::from(from), |product, i| product * (from + i * step));
    }
    let half = from + count / 2 * step;
    product(from, half, step) * product(half + step, to, step)
}
