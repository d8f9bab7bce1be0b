//! Factorials, binomials, floor and ceiling, gcd and lcm, max and min.

use dashu_int::{IBig, UBig, ops::Gcd};

use super::{
    exponent::Q,
    field::{Field, FormError, Res},
    kernel::{Kernel, PI},
    poly::{Mono, Poly},
};
use crate::{
    expr::{Function, Rational},
    integer,
};

/// The largest number whose factorial is multiplied out.
const FACTORIAL: i64 = 2_000;
/// The most factors a shifted factorial or a binomial is multiplied out to.
const SHIFT: i64 = 40;

impl Field<'_> {
    /// p!, with integer shifts taken out: (n+1)! = (n+1)·n!.
    pub(super) fn factorial(&mut self, p: &Poly) -> Res<Poly> {
        if let Some(n) = p.as_int() {
            if n < 0 {
                return Err(FormError::Undefined);
            }
            if n <= FACTORIAL {
                self.pay_product(n)?;
                return Ok(Poly::constant(integer::factorial(n.unsigned_abs(), 1).into()));
            }
            return self.atom(Kernel::Call(Function::Factorial, vec![p.clone()]));
        }
        let p = self.simplified(p)?;
        let constant = p.0.iter().find(|(m, _)| m.is_one()).map_or(Rational::ZERO, |(_, c)| c.clone());
        let half = p.as_rational().is_some_and(|v| *v.denominator() == UBig::from(2u8));
        let Ok(shift) = i64::try_from(constant.floor()) else {
            return self.atom(Kernel::Call(Function::Factorial, vec![p]));
        };
        if shift.abs() > SHIFT {
            return self.atom(Kernel::Call(Function::Factorial, vec![p]));
        }
        let base = p.minus(&Poly::int(shift));
        let mut out = if half {
            // (1/2)! = √π/2
            Poly::term(Mono::of(PI, Q::HALF), Rational::ONE / Rational::from(2))
        } else {
            self.atom(Kernel::Call(Function::Factorial, vec![base.clone()]))?
        };
        for j in 1..=shift {
            out = self.times(&out, &base.plus(&Poly::int(j)))?;
        }
        for j in shift + 1..=0 {
            let inverse = self.invert(&base.plus(&Poly::int(j)))?;
            out = self.times(&out, &inverse)?;
        }
        Ok(out)
    }

    /// Pays for the product of this many integers.
    fn pay_product(&self, count: i64) -> Res<()> {
        let count = count.unsigned_abs();
        Ok(self.fuel.spend(8 + count * u64::from(count.max(1).ilog2() + 1) / 2)?)
    }

    pub(super) fn double_factorial(&mut self, p: &Poly) -> Res<Poly> {
        match p.as_int() {
            Some(n @ -1..=FACTORIAL) => {
                self.pay_product(n)?;
                Ok(Poly::constant(integer::factorial(n.max(0).unsigned_abs(), 2).into()))
            }
            _ => self.atom(Kernel::Call(Function::DoubleFactorial, vec![p.clone()])),
        }
    }

    /// n choose k: a falling product for short k or n − k, else factorials.
    pub(super) fn binomial(&mut self, n: &Poly, k: &Poly) -> Res<Poly> {
        if let (Some(n), Some(k)) = (n.as_int(), k.as_int())
            && n >= 0
        {
            if k < 0 || k > n {
                return Ok(Poly::zero());
            }
            let k = k.min(n - k);
            if n <= 4 * FACTORIAL || k <= FACTORIAL / 4 {
                self.pay_product(2 * k)?;
                return Ok(Poly::constant(integer::binomial(n.unsigned_abs(), k.unsigned_abs()).into()));
            }
            let args = vec![Poly::int(n), Poly::int(k)];
            return self.atom(Kernel::Call(Function::Binomial, args));
        }
        let other = self.difference(n, k)?;
        for short in [k, &other] {
            if let Some(short @ 0..=SHIFT) = short.as_int() {
                let mut out = Poly::constant(Rational::from_parts(
                    IBig::ONE,
                    integer::factorial(short.unsigned_abs(), 1),
                ));
                for j in 0..short {
                    out = self.times(&out, &n.minus(&Poly::int(j)))?;
                }
                return Ok(out);
            }
        }
        if k.as_int().is_some_and(|k| k < 0) {
            return Ok(Poly::zero());
        }
        let top = self.factorial(n)?;
        let (left, right) = (self.factorial(k)?, self.factorial(&other)?);
        let below = self.times(&left, &right)?;
        let inverse = self.invert(&below)?;
        self.times(&top, &inverse)
    }

    /// Functions that are evaluated at rational numbers and are kernels elsewhere.
    pub(super) fn arithmetic(&mut self, function: Function, args: &[Poly]) -> Res<Poly> {
        use Function::{Ceil, Floor, Gcd, Lcm, Max, Min, Mod, Sign};
        self.fuel.spend(4 * args.len() as u64 + args.iter().map(Poly::words).sum::<u64>())?;
        let numbers: Option<Vec<Rational>> = args.iter().map(Poly::as_rational).collect();
        if let Some(numbers) = &numbers
            && let Some(value) = at_numbers(function, numbers)
        {
            return Ok(Poly::constant(value));
        }
        match (function, args) {
            (Mod, [_, m]) if m.is_empty() => return Err(FormError::Undefined),
            (Sign, [x]) => {
                if let Some(sign) = self.sign_of(x) {
                    return Ok(Poly::int(sign));
                }
            }
            (Floor | Ceil, [x]) => {
                if let Some(span) = self.span(x) {
                    let round = if function == Floor { libm::floor } else { libm::ceil };
                    let (low, high) = (round(span.low), round(span.high));
                    #[expect(clippy::cast_possible_truncation, reason = "bounded just before")]
                    if low.to_bits() == high.to_bits() && low.abs() < 1e15 {
                        return Ok(Poly::int(low as i64));
                    }
                }
            }
            (Max | Min, [_, ..]) => return self.max_or_min(function, args),
            (Gcd | Lcm, [_, ..]) => {
                let mut sorted = args.to_vec();
                sorted.sort();
                sorted.dedup();
                return self.atom(Kernel::Call(function, sorted));
            }
            _ => {}
        }
        self.atom(Kernel::Call(function, args.to_vec()))
    }

    fn max_or_min(&mut self, function: Function, args: &[Poly]) -> Res<Poly> {
        let mut left: Vec<Poly> = Vec::new();
        for arg in args {
            let mut keep = true;
            let mut next = Vec::with_capacity(left.len() + 1);
            for other in left {
                let gap = self.difference(arg, &other)?;
                let wins = self.sign_of(&gap).map(|s| if function == Function::Max { s > 0 } else { s < 0 });
                if wins == Some(false) {
                    keep = false;
                }
                if wins != Some(true) || !keep {
                    next.push(other);
                }
            }
            if keep {
                next.push(arg.clone());
            }
            left = next;
        }
        left.sort();
        left.dedup();
        match left.as_slice() {
            [one] => Ok(one.clone()),
            _ => self.atom(Kernel::Call(function, left)),
        }
    }
}

fn at_numbers(function: Function, numbers: &[Rational]) -> Option<Rational> {
    use Function::{Ceil, Floor, Gcd, Lcm, Max, Min, Mod, Sign};
    let whole = || numbers.iter().all(Rational::is_int);
    let sizes = || numbers.iter().map(|v| v.numerator().clone().into_parts().1);
    match (function, numbers) {
        (Floor, [x]) => Some(Rational::from(x.floor())),
        (Ceil, [x]) => Some(Rational::from(x.ceil())),
        (Sign, [x]) => Some(x.signum()),
        (Max, _) => numbers.iter().max().cloned(),
        (Min, _) => numbers.iter().min().cloned(),
        (Mod, [a, b]) if !b.is_zero() => Some(a - b * Rational::from((a / b).floor())),
        (Gcd, [_, ..]) if whole() => {
            let gcd = sizes().filter(|size| !size.is_zero()).reduce(dashu_int::ops::Gcd::gcd);
            Some(Rational::from(gcd.unwrap_or_default()))
        }
        (Lcm, [_, ..]) if whole() => {
            let mut lcm = UBig::ONE;
            for b in sizes() {
                if b.is_zero() || dashu_int::ops::BitTest::bit_len(&lcm) > 20_000 {
                    return b.is_zero().then_some(Rational::ZERO);
                }
                let common = (&lcm).gcd(&b);
                lcm = lcm / common * b;
            }
            Some(Rational::from(lcm))
        }
        _ => None,
    }
}
