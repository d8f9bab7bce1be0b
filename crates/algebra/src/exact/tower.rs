//! Exact integers of any size modulo a number: towers of powers by Euler's theorem, iterated.

use std::convert::Infallible;

use dashu_int::IBig;

use crate::{
    expr::{Expr, Rational},
    fuel::{Fuel, OutOfFuel},
    squaring,
};

/// An integer, known modulo something, and exactly where it is short.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModularInteger {
    pub(super) residue: u64,
    /// The number itself; `None` means it is at least 2^64 and positive.
    pub(super) exact: Option<i128>,
}

/// The largest value kept exactly.
const LIMIT: i128 = 1 << 64;

type Join = fn(ModularInteger, ModularInteger, u64) -> Option<ModularInteger>;

/// The integer an expression stands for, modulo the first of a chain of totients (m, φ(m), φ(φ(m)) …).
/// `None` when it is not an integer built from integers by sums, products and powers, or when a huge
/// number may be negative.
pub(super) fn whole(
    expr: &Expr,
    chain: &[u64],
    fuel: &Fuel,
    depth: u32,
) -> Result<Option<ModularInteger>, OutOfFuel> {
    fuel.spend(20)?;
    let Some(&m) = chain.first() else { return Ok(Some(ModularInteger { residue: 0, exact: None })) };
    if depth > 300 {
        return Ok(None);
    }
    let inner = |e: &Expr, chain| whole(e, chain, fuel, depth + 1);
    let folded = |parts: &[Expr], start: u64, join: Join| {
        let mut out = ModularInteger { residue: start % m, exact: Some(i128::from(start)) };
        for part in parts {
            let Some(next) = inner(part, chain)? else { return Ok(None) };
            let Some(joined) = join(out, next, m) else { return Ok(None) };
            out = joined;
        }
        Ok(Some(out))
    };
    Ok(match expr {
        Expr::Number(value) | Expr::Decimal(value) => number(value, m),
        Expr::Sum(parts) => folded(parts, 0, plus)?,
        Expr::Product(parts) => folded(parts, 1, times)?,
        Expr::Power(base, exponent) => {
            let Some(base) = inner(base, chain)? else { return Ok(None) };
            let Some(exponent) = inner(exponent, &chain[1..])? else { return Ok(None) };
            power(base, exponent, m, chain.get(1).copied().unwrap_or(1))
        }
        _ => None,
    })
}

fn reduced(value: i128, m: u64) -> u64 {
    u64::try_from(value.rem_euclid(i128::from(m))).unwrap_or(0)
}

fn number(value: &Rational, m: u64) -> Option<ModularInteger> {
    if !value.is_int() {
        return None;
    }
    let exact = i128::try_from(value.numerator()).ok().filter(|v| v.abs() < LIMIT);
    if exact.is_none() && *value < Rational::ZERO {
        return None;
    }
    let rest = value.numerator() % IBig::from(m);
    let residue = i128::try_from(&rest).map(|r| reduced(r, m)).ok()?;
    Some(ModularInteger { residue, exact })
}

fn plus(left: ModularInteger, right: ModularInteger, m: u64) -> Option<ModularInteger> {
    let residue = reduced(i128::from(left.residue) + i128::from(right.residue), m);
    let exact = match (left.exact, right.exact) {
        (Some(x), Some(y)) => {
            let sum = x + y;
            if sum.abs() < LIMIT {
                Some(sum)
            } else if sum > 0 {
                None
            } else {
                return None;
            }
        }
        // Huge plus something negative could be anything.
        (Some(x), None) | (None, Some(x)) if x < 0 => return None,
        _ => None,
    };
    Some(ModularInteger { residue, exact })
}

fn times(left: ModularInteger, right: ModularInteger, m: u64) -> Option<ModularInteger> {
    let residue = mul(left.residue, right.residue, m);
    let exact = match (left.exact, right.exact) {
        (Some(0), _) | (_, Some(0)) => Some(0),
        (Some(x), Some(y)) => match x.checked_mul(y) {
            Some(product) if product.abs() < LIMIT => Some(product),
            _ if (x < 0) == (y < 0) => None,
            _ => return None,
        },
        (Some(x), None) | (None, Some(x)) if x < 0 => return None,
        _ => None,
    };
    Some(ModularInteger { residue, exact })
}

fn mul(a: u64, b: u64, m: u64) -> u64 {
    u64::try_from(u128::from(a) * u128::from(b) % u128::from(m)).unwrap_or(0)
}

/// a^E ≡ a^{E mod φ(m) + φ(m)} modulo m for every a once E ≥ 64 > log₂ m.
fn power(base: ModularInteger, exponent: ModularInteger, m: u64, totient: u64) -> Option<ModularInteger> {
    let short = match exponent.exact {
        Some(e) if e < 0 => return None,
        Some(e) => u64::try_from(e).ok(),
        None => None,
    };
    let count = match short {
        Some(e) => u128::from(e),
        None => u128::from(exponent.residue) + u128::from(totient) * 64,
    };
    let product = |a: &u64, b: &u64| Ok::<_, Infallible>(mul(*a, *b, m));
    let Ok(residue) = if count == 0 { Ok(1 % m) } else { squaring::power(base.residue, count, product) };
    let exact = match (base.exact, short) {
        (_, Some(0)) | (Some(1), _) => Some(1),
        (Some(0), _) => Some(0),
        (Some(b), Some(e)) => match u32::try_from(e).ok().and_then(|e| b.checked_pow(e)) {
            Some(value) if value.abs() < LIMIT => Some(value),
            _ if b == -1 => Some(if e % 2 == 0 { 1 } else { -1 }),
            _ if b > 1 || e % 2 == 0 => None,
            _ => return None,
        },
        (Some(b), None) if b > 1 => None,
        (None, _) => None,
        _ => return None,
    };
    Some(ModularInteger { residue, exact })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against square-and-multiply with the whole exponent.
    #[test]
    fn towers() {
        let chain = |m: u64| {
            let mut out = vec![m];
            while out[out.len() - 1] > 1 {
                let n = out[out.len() - 1];
                let gcd = |mut a: u64, mut b: u64| {
                    while b != 0 {
                        (a, b) = (b, a % b);
                    }
                    a
                };
                out.push((1..=n).filter(|k| gcd(*k, n) == 1).count() as u64);
            }
            out
        };
        let fuel = Fuel::new(1_000_000);
        for (base, low, high, m) in
            [(7i64, 7i64, 7i64, 1000u64), (6, 3, 9, 1000), (10, 2, 30, 96), (2, 2, 64, 48)]
        {
            let expr = Expr::int(base).power(Expr::int(low).power(Expr::int(high)));
            let got = whole(&expr, &chain(m), &fuel, 0).unwrap().unwrap();
            let exponent = u128::try_from(low).unwrap().pow(u32::try_from(high).unwrap());
            let (mut out, mut square, mut left) = (1u64, base.unsigned_abs() % m, exponent);
            while left > 0 {
                if left & 1 == 1 {
                    out = out * square % m;
                }
                square = square * square % m;
                left >>= 1;
            }
            assert_eq!(got.residue, out, "{base}^{low}^{high} mod {m}");
        }
    }
}
