//! Powers and roots with the real and principal meanings the expression tree states.

use super::{
    exponent::Q,
    field::{Field, FormError, Res},
    kernel::{Kernel, UNIT},
    poly::{Id, Mono, Poly},
};
use crate::expr::Rational;

impl Field<'_> {
    /// A base to any exponent.
    pub(super) fn power(&mut self, base: &Poly, exponent: &Poly) -> Res<Poly> {
        self.fuel.spend(4)?;
        let out = match exponent.as_rational() {
            Some(r) => match Q::from_rational(&r) {
                Some(r) => match r.as_int() {
                    Some(n) => self.power_int(base, n),
                    None => self.power_fraction(base, r),
                },
                None => Self::power_huge(base, &r),
            },
            None if base.is_empty() => Err(FormError::Large),
            None => self.logarithm(base).and_then(|ln| {
                let product = self.mul(exponent, &ln)?;
                self.exponential(&product)
            }),
        };
        match out {
            Err(FormError::Large) => self.atom(Kernel::Power(base.clone(), exponent.clone())),
            other => other,
        }
    }

    /// An exponent beyond machine words: only trivial bases are known.
    fn power_huge(base: &Poly, exponent: &Rational) -> Res<Poly> {
        match base.as_rational() {
            Some(b) if b.is_one() => Ok(Poly::one()),
            Some(b) if b.is_zero() && *exponent > Rational::ZERO => Ok(Poly::zero()),
            Some(b) if b == Rational::from(-1) && exponent.is_int() => {
                let odd = exponent.numerator() % 2 != 0;
                Ok(Poly::int(if odd { -1 } else { 1 }))
            }
            _ => Err(FormError::Large),
        }
    }

    /// A root, or a power of one; r is not an integer.
    pub(super) fn power_fraction(&mut self, base: &Poly, r: Q) -> Res<Poly> {
        let base = self.simplified(base)?;
        if base.is_empty() {
            return if r > Q::ZERO { Ok(Poly::zero()) } else { Err(FormError::Undefined) };
        }
        if let Some(value) = base.as_rational() {
            return self.number_power(&value, r);
        }
        if r.den() == 2
            && let Some(root) = self.square_root(&base)?
        {
            return self.power_int(&root, r.num());
        }
        let (num, below) = self.cleared(&base)?;
        let (value, mono, rest) = self.split(&num, false)?;
        let mono = mono.joined(&below)?;
        if rest.has(UNIT) || !self.real(&base) {
            return self.complex_root(&value, &mono, &rest, r);
        }
        if r.den() % 2 == 0 {
            self.even_root(&value, &mono, &rest, r)
        } else {
            self.odd_root(&value, &mono, &rest, r)
        }
    }

    /// The principal root of what is not known to be real.
    fn complex_root(&mut self, value: &Rational, mono: &Mono, rest: &Poly, r: Q) -> Res<Poly> {
        let others = mono.without(UNIT);
        if rest.as_rational().is_some_and(|v| v.is_one()) && self.positive_mono(&others) {
            // c·e^{iπs} with a positive factor: the argument has to be in (−π, π].
            let s = mono.exponent(UNIT);
            let s = if *value < Rational::ZERO { s.minus(Q::ONE)? } else { s };
            let unit = self.unit(s.times(r)?)?;
            let size = if *value < Rational::ZERO { -value.clone() } else { value.clone() };
            let number = self.number_power(&size, r)?;
            let real = self.single(others.raised(r)?, Rational::ONE)?;
            let product = self.mul(&number, &real)?;
            return self.mul(&product, &unit);
        }
        let whole = self.mul(&Poly::term(mono.clone(), Rational::ONE), rest)?;
        let (sign, size) = if *value < Rational::ZERO { (-1, -value.clone()) } else { (1, value.clone()) };
        let number = self.number_power(&size, r)?;
        let id = self.intern(Kernel::Base(whole.scaled(&Rational::from(sign))))?;
        self.mul(&number, &self.single(Mono::of(id, r), Rational::ONE)?)
    }

    /// The real root of odd degree: signs pass through.
    fn odd_root(&mut self, value: &Rational, mono: &Mono, rest: &Poly, r: Q) -> Res<Poly> {
        let mut out = self.number_power(value, r)?;
        for (id, e) in &mono.0 {
            let part = self.factor_power(*id, e.times(r)?)?;
            out = self.mul(&out, &part)?;
        }
        if rest.len() > 1 {
            let (mut sign, _, mut rest) = self.split(rest, true)?;
            if self.sign_of(&rest) == Some(-1) {
                // A number: what stays under the root is positive.
                (sign, rest) = (-sign, rest.negated());
            }
            let sign = self.number_power(&sign, r)?;
            out = self.mul(&out, &sign)?;
            let part = self.fractional_base(&rest, r)?;
            out = self.times(&out, &part)?;
        }
        Ok(out)
    }

    /// The root of even degree: what must be positive or appears squared leaves the root, the rest stays
    /// under it together, since √(xy) = √x·√y needs both to be positive.
    fn even_root(&mut self, value: &Rational, mono: &Mono, rest: &Poly, r: Q) -> Res<Poly> {
        let size = if *value < Rational::ZERO { -value.clone() } else { value.clone() };
        let mut negative = *value < Rational::ZERO;
        let mut out = self.number_power(&size, r)?;
        let mut inside: Vec<(Id, Q)> = Vec::new();
        for (id, e) in &mono.0 {
            let power = e.times(r)?;
            let part = if e.den() % 2 == 0 || self.never_negative(*id) {
                self.factor_power(*id, power)?
            } else if e.num() % 2 == 0 {
                let inner = Poly::kernel(*id, Q::ONE);
                self.absolute_power(&inner, power)?
            } else {
                inside.push((*id, *e));
                continue;
            };
            out = self.mul(&out, &part)?;
        }
        let mut poly = None;
        if rest.len() > 1 {
            match self.sign_of(rest) {
                Some(sign) if sign != 0 => {
                    negative ^= sign < 0;
                    let part = self.fractional_base(&rest.scaled(&Rational::from(sign)), r)?;
                    out = self.times(&out, &part)?;
                }
                _ => poly = Some(rest),
            }
        }
        let part = match (inside.as_slice(), poly) {
            ([], None) if negative => self.unit(r)?,
            ([], None) => Poly::one(),
            ([(id, e)], None) if !negative => self.factor_power(*id, e.times(r)?)?,
            ([], Some(rest)) => {
                let sign = Rational::from(if negative { -1 } else { 1 });
                self.fractional_base(&rest.scaled(&sign), r)?
            }
            _ => {
                // Even powers leave as absolute values; one odd power of each stays.
                let mut under = Poly::constant(Rational::from(if negative { -1 } else { 1 }));
                let mut outside = Poly::one();
                for (id, e) in &inside {
                    let even = if e.is_int() { Q::int(e.num() - 1) } else { Q::ZERO };
                    if !even.is_zero() {
                        let power = even.times(r)?;
                        let part = self.absolute_power(&Poly::kernel(*id, Q::ONE), power)?;
                        outside = self.mul(&outside, &part)?;
                    }
                    let left = e.minus(even)?;
                    under = self.mul(&under, &self.single(Mono::of(*id, left), Rational::ONE)?)?;
                }
                if let Some(rest) = poly {
                    under = self.mul(&under, rest)?;
                }
                let part = self.fractional_base(&under, r)?;
                self.times(&outside, &part)?
            }
        };
        self.times(&out, &part)
    }

    /// A kernel to a fraction, its base multiplied out where the exponent has a whole part.
    fn factor_power(&mut self, id: Id, exponent: Q) -> Res<Poly> {
        let power = self.single(Mono::of(id, exponent), Rational::ONE)?;
        self.expanded_or_same(&power)
    }

    /// A polynomial to a fraction: a kernel below the first power, times a whole power.
    fn fractional_base(&mut self, base: &Poly, r: Q) -> Res<Poly> {
        let whole = r.floor();
        let id = self.intern(Kernel::Base(base.clone()))?;
        let root = Poly::kernel(id, r.minus(Q::int(whole))?);
        let power = self.power_int(base, whole)?;
        self.times(&root, &power)
    }

    /// Kernels that stand for numbers at or above zero.
    pub(super) fn never_negative(&self, id: Id) -> bool {
        match self.table.get(id) {
            Kernel::Pi | Kernel::EulerGamma | Kernel::Prime(..) | Kernel::Abs(_) => true,
            Kernel::Exp(mono) => self.real_mono(mono),
            _ => self.positive(&Poly::kernel(id, Q::ONE)),
        }
    }

    /// A square root that is itself a polynomial: of a perfect square, or denested.
    fn square_root(&mut self, p: &Poly) -> Res<Option<Poly>> {
        if p.len() < 2 || p.len() > 60 {
            return Ok(None);
        }
        if let Some(root) = self.denested(p)? {
            return Ok(Some(root));
        }
        if p.has(UNIT) {
            return Ok(None);
        }
        // Term by term: the leading term of the rest over twice the leading term of the root.
        let (lead, value) = &p.0[0];
        let Some(start) = Self::rational_root(value) else { return Ok(None) };
        let Ok(mono) = lead.raised(Q::HALF) else { return Ok(None) };
        if lead.0.iter().any(|(_, e)| e.num() % 2 != 0) {
            return Ok(None);
        }
        let mut root = Poly::term(mono.clone(), start.clone());
        let Ok(down) = mono.inverse() else { return Ok(None) };
        let step = Poly::term(down, Rational::ONE / (start * Rational::from(2)));
        for _ in 0..12 {
            let rest = self.difference(p, &self.mul(&root, &root)?)?;
            let Some((mono, value)) = rest.0.first() else {
                return self.absolute_power(&root, Q::ONE).map(Some);
            };
            let next = self.mul(&Poly::term(mono.clone(), value.clone()), &step)?;
            root = self.sum(&root, &next)?;
            if root.len() > 12 {
                break;
            }
        }
        Ok(None)
    }

    /// √(a + b√c) = √((a+d)/2) ± √((a−d)/2) with d² = a² − b²c, and the same for a + bi.
    fn denested(&mut self, p: &Poly) -> Res<Option<Poly>> {
        let two = Rational::from(2);
        let [first, second] = p.0.as_slice() else { return Ok(None) };
        let (root, plain) = if second.0.is_one() { (first, second) } else { (second, first) };
        if !plain.0.is_one() {
            return Ok(None);
        }
        let square = root.0.raised(Q::int(2))?;
        let Some(c) = self.single(square, Rational::ONE)?.as_rational() else { return Ok(None) };
        let (a, b) = (&plain.1, &root.1);
        let inside = a * a - b * b * &c;
        let Some(norm) = Self::rational_root(&inside) else { return Ok(None) };
        let high = (a + &norm) / &two;
        let low = (a - &norm) / &two;
        let sign = Rational::from(if *b < Rational::ZERO { -1 } else { 1 });
        if c > Rational::ZERO && low >= Rational::ZERO {
            let first = self.number_power(&high, Q::HALF)?;
            let second = self.number_power(&low, Q::HALF)?;
            return Ok(Some(first.plus(&second.scaled(&sign))));
        }
        if c == Rational::from(-1) && root.0 == Mono::of(UNIT, Q::HALF) {
            let first = self.number_power(&high, Q::HALF)?;
            let second = self.number_power(&-low, Q::HALF)?;
            let second = self.mul(&second.scaled(&sign), &Self::i())?;
            return Ok(Some(first.plus(&second)));
        }
        Ok(None)
    }
}
