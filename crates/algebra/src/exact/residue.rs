//! Comparison modulo primes, for numbers and rational functions too large to expand.

use std::sync::LazyLock;

use num_modular::{ModularInteger, MontgomeryInt};

use super::tower::whole;
use crate::{
    expr::{Bind, Expr, Function, Over, Rational, Symbol},
    fuel::{Fuel, OutOfFuel},
};

/// The largest number whose factorial is multiplied out modulo a prime.
const FACTORIAL: i128 = 1_000_000;
/// The most terms of a sum or product that is written out.
const UNROLLED: i128 = 100_000;

/// The three largest primes p below 2^61 for which p − 1 has no prime factor above `SMOOTH`.
const PRIMES: [u64; 3] = [2_305_843_009_208_739_001, 2_305_843_009_207_463_503, 2_305_843_009_206_617_161];
const SMOOTH: u64 = 1_000;

/// For each prime the chain p − 1, φ(p − 1), φ(φ(p − 1)), …, 2, by which exponents of towers are reduced.
static TOTIENTS: LazyLock<[Vec<u64>; 3]> = LazyLock::new(|| {
    PRIMES.map(|prime| std::iter::successors(Some(prime - 1), |n| (*n > 2).then(|| totient(*n))).collect())
});

/// φ(n), for n without a prime factor above `SMOOTH`.
fn totient(n: u64) -> u64 {
    let (mut rest, mut totient) = (n, n);
    for prime in 2..=SMOOTH {
        if rest.is_multiple_of(prime) {
            totient -= totient / prime;
        }
        while rest.is_multiple_of(prime) {
            rest /= prime;
        }
    }
    totient
}

/// Compares two rational expressions by their residues at pseudo-random points: `Some(false)` is a proof
/// that they differ, `Some(true)` means that they agree at several points modulo several primes, and
/// `None` that one of them is no rational function or has no value at the points.
pub fn residues_agree(a: &Expr, b: &Expr, fuel: &Fuel) -> Result<Option<bool>, OutOfFuel> {
    let mut agreed = 0;
    for seed in 1..=2 * PRIMES.len() {
        let mut point = Point::new(seed, fuel);
        match (point.value(a), point.value(b)) {
            (Ok(a), Ok(b)) if a == b => agreed += 1,
            (Ok(_), Ok(_)) => return Ok(Some(false)),
            (Err(ResidueError::OutOfFuel), _) | (_, Err(ResidueError::OutOfFuel)) => return Err(OutOfFuel),
            (Err(ResidueError::Unsupported), _) | (_, Err(ResidueError::Unsupported)) => return Ok(None),
            // A pole at this point: another one may do.
            (Err(ResidueError::Pole), _) | (_, Err(ResidueError::Pole)) => {}
        }
        if agreed == PRIMES.len() {
            return Ok(Some(true));
        }
    }
    Ok(None)
}

/// Why an expression has no residue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResidueError {
    /// A division by zero at this point.
    Pole,
    /// Not a rational function.
    Unsupported,
    /// The fuel is spent.
    OutOfFuel,
}

impl From<OutOfFuel> for ResidueError {
    fn from(_: OutOfFuel) -> Self {
        Self::OutOfFuel
    }
}

type Residue = MontgomeryInt<u64>;
type Value = Result<Residue, ResidueError>;

/// One prime and the values of all variables modulo it.
struct Point<'p> {
    one: Residue,
    totients: &'static [u64],
    seed: u64,
    fuel: &'p Fuel,
    scope: Vec<(Symbol, i64)>,
    /// The last factorial, to continue from.
    factorial: (u64, Residue),
    depth: u32,
}

impl<'p> Point<'p> {
    fn new(seed: usize, fuel: &'p Fuel) -> Self {
        let at = seed % PRIMES.len();
        let one = Residue::new(1, &PRIMES[at]);
        let (totients, seed) = (&TOTIENTS[at], seed as u64);
        Self { one, totients, seed, fuel, scope: Vec::new(), factorial: (0, one), depth: 0 }
    }

    fn residue(&self, value: u64) -> Residue {
        self.one.convert(value)
    }

    fn value(&mut self, expr: &Expr) -> Value {
        self.fuel.spend(20)?;
        if self.depth > 300 {
            return Err(ResidueError::Unsupported);
        }
        self.depth += 1;
        let out = self.value_inner(expr);
        self.depth -= 1;
        out
    }

    fn value_inner(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Number(value) | Expr::Decimal(value) => self.number(value),
            Expr::Symbol(name) => Ok(match self.bound_or_number(expr) {
                Some(value) => self.integer(value),
                None => self.residue(self.random(name)),
            }),
            Expr::Sum(parts) => self.fold(parts, 0, |a, b| a + b),
            Expr::Product(parts) => self.fold(parts, 1, |a, b| a * b),
            Expr::Power(base, exponent) => self.power(base, exponent),
            Expr::Call(function, args) => match (function, args.as_slice()) {
                (Function::Factorial, [n]) => match self.exact(n)? {
                    n @ 0..=FACTORIAL => self.factorial(u64::try_from(n).unwrap_or(0)),
                    _ => Err(ResidueError::Unsupported),
                },
                (Function::Binomial, [n, k]) => match (self.exact(n)?, self.exact(k)?) {
                    (n @ 0..=FACTORIAL, k) if k < 0 || k > n => Ok(self.residue(0)),
                    (n @ 0..=FACTORIAL, k) => self.binomial(n, k),
                    _ => Err(ResidueError::Unsupported),
                },
                _ => Err(ResidueError::Unsupported),
            },
            Expr::Bind(bind) => match &bind.over {
                Over::Sum(low, high) => self.unrolled(bind, [low, high], 0),
                Over::Product(low, high) => self.unrolled(bind, [low, high], 1),
                _ => Err(ResidueError::Unsupported),
            },
            Expr::Constant(_) | Expr::Apply(..) => Err(ResidueError::Unsupported),
        }
    }

    /// SplitMix64 over the seed and the letters of the name.
    fn random(&self, name: &str) -> u64 {
        let mix = |mut z: u64| {
            z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        name.bytes().fold(mix(self.seed), |state, byte| mix(state ^ u64::from(byte)))
    }

    fn integer(&self, value: i64) -> Residue {
        let size = self.residue(value.unsigned_abs());
        if value < 0 { -size } else { size }
    }

    fn number(&self, value: &Rational) -> Value {
        if let (Ok(top), true) = (i64::try_from(value.numerator()), value.is_int()) {
            return Ok(self.integer(top));
        }
        self.fuel.spend(2 * super::poly::words(value))?;
        let prime = self.one.modulus();
        let top = self.residue(value.numerator().clone().into_parts().1 % prime);
        let low = self.residue(value.denominator().clone() % prime);
        quotient(if *value < Rational::ZERO { -top } else { top }, low)
    }

    fn fold(&mut self, parts: &[Expr], start: u64, join: impl Fn(Residue, Residue) -> Residue) -> Value {
        let mut out = self.residue(start);
        for part in parts {
            out = join(out, self.value(part)?);
        }
        Ok(out)
    }

    /// A whole power: the exponent modulo p − 1 by Fermat, with care where the base vanishes.
    fn power(&mut self, base: &Expr, exponent: &Expr) -> Value {
        let bound = self.bound_or_number(exponent);
        let exponent = match bound {
            Some(value) => Some(super::tower::ModularInteger {
                residue: value.rem_euclid(self.totients[0].cast_signed()).cast_unsigned(),
                exact: Some(i128::from(value)),
            }),
            None if self.scope.is_empty() => whole(exponent, self.totients, self.fuel, self.depth)?,
            None => None,
        };
        let exponent = exponent.ok_or(ResidueError::Unsupported)?;
        let base = self.value(base)?;
        self.fuel.spend(80)?;
        match exponent.exact {
            _ if !base.is_zero() => Ok(base.pow(&exponent.residue)),
            Some(0) => Ok(self.one),
            Some(e) if e < 0 => Err(ResidueError::Pole),
            _ => Ok(base),
        }
    }

    /// The value of a bound variable or of a short number.
    fn bound_or_number(&self, exponent: &Expr) -> Option<i64> {
        match exponent {
            Expr::Symbol(name) => self.scope.iter().rev().find(|(n, _)| n == name).map(|(_, v)| *v),
            Expr::Number(value) if value.is_int() => i64::try_from(value.numerator()).ok(),
            _ => None,
        }
    }

    /// The short integer an expression stands for.
    fn exact(&self, expr: &Expr) -> Result<i128, ResidueError> {
        if let Some(value) = self.bound_or_number(expr) {
            return Ok(i128::from(value));
        }
        if !self.scope.is_empty() {
            return Err(ResidueError::Unsupported);
        }
        let value = whole(expr, self.totients, self.fuel, self.depth)?;
        value.and_then(|value| value.exact).ok_or(ResidueError::Unsupported)
    }

    fn factorial(&mut self, n: u64) -> Value {
        let (mut at, mut product) = self.factorial;
        if n < at {
            (at, product) = (0, self.one);
        }
        self.fuel.spend(n - at)?;
        let mut factor = self.residue(at);
        for _ in at..n {
            factor += self.one;
            product *= factor;
        }
        self.factorial = (n, product);
        Ok(product)
    }

    fn binomial(&mut self, n: i128, k: i128) -> Value {
        let (low, high) = (k.min(n - k), k.max(n - k));
        let part = |v: i128| u64::try_from(v).unwrap_or(0);
        // In rising order, so that each continues from the one before.
        let (a, b) = (self.factorial(part(low))?, self.factorial(part(high))?);
        let top = self.factorial(part(n))?;
        quotient(top, a * b)
    }

    fn unrolled(&mut self, bind: &Bind, bounds: [&Expr; 2], start: u64) -> Value {
        let (low, high) = (self.exact(bounds[0])?, self.exact(bounds[1])?);
        let (Ok(from), Ok(to), true) = (i64::try_from(low), i64::try_from(high), high - low <= UNROLLED)
        else {
            return Err(ResidueError::Unsupported);
        };
        let mut out = self.residue(start);
        for k in from..=to {
            self.scope.push((bind.variable.clone(), k));
            let value = self.value(&bind.body);
            self.scope.pop();
            out = if start == 0 { out + value? } else { out * value? };
        }
        Ok(out)
    }
}

fn quotient(above: Residue, below: Residue) -> Value {
    below.inv().map(|inverse| above * inverse).ok_or(ResidueError::Pole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By sympy 1.14: `totient(p - 1)` and `totient(totient(p - 1))` of the first prime, and the length of its chain.
    #[test]
    fn chains_of_totients() {
        let chain = &TOTIENTS[0];
        assert_eq!(chain[1..3], [428_898_404_892_672_000, 89_197_696_253_952_000]);
        assert_eq!((chain.len(), chain.last()), (52, Some(&2)));
    }

    fn agree(a: &Expr, b: &Expr) -> Option<bool> {
        residues_agree(a, b, &Fuel::new(5_000_000)).unwrap()
    }

    fn factorial(n: i64) -> Expr {
        Expr::call(Function::Factorial, Expr::int(n))
    }

    #[test]
    fn large_factorials() {
        assert_eq!(agree(&factorial(100_000), &factorial(99_999).times(Expr::int(100_000))), Some(true));
        assert_eq!(agree(&factorial(100_000), &factorial(99_999).times(Expr::int(99_999))), Some(false));
    }

    #[test]
    fn powers_of_sums() {
        let sum = |a, b| Expr::plus(a, b).power(Expr::int(500));
        let (x, y) = (Expr::symbol("x"), Expr::symbol("y"));
        let one = Expr::int(1);
        let left = sum(x.clone(), one.clone());
        let right = sum(one, x).plus(Expr::int(0).times(y.clone()));
        assert_eq!(agree(&left, &right), Some(true));
        assert_eq!(agree(&left, &right.plus(y)), Some(false));
    }

    #[test]
    fn towers() {
        let tower = |top| Expr::int(9).power(Expr::int(9).power(Expr::int(9).power(Expr::int(top))));
        assert_eq!(agree(&tower(9), &tower(9)), Some(true));
        assert_eq!(agree(&tower(9), &tower(8)), Some(false));
        // 9^(9^n) = 3^(2·9^n)
        let other =
            Expr::int(3).power(Expr::int(2).times(Expr::int(9).power(Expr::int(9).power(Expr::int(9)))));
        assert_eq!(agree(&tower(9), &other), Some(true));
    }

    #[test]
    fn foreign_parts_are_not_decided() {
        let pi = Expr::Constant(crate::expr::Constant::Pi);
        assert_eq!(agree(&pi, &pi), None);
        assert_eq!(agree(&Expr::int(1).over(Expr::int(0).times(pi)), &Expr::int(1)), None);
    }
}
