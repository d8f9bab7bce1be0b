//! Trigonometric and hyperbolic functions through exponentials, and their inverses.

use dashu_int::{IBig, UBig, ops::BitTest};

use super::{
    exponent::Q,
    field::{Field, FormError, Res},
    kernel::{Kernel, PI},
    poly::{Mono, Poly},
    zero::ZeroTest,
};
use crate::expr::{Function, Rational};

impl Field<'_> {
    /// (e^t − e^{−t})/2 and (e^t + e^{−t})/2.
    fn sinh_cosh(&mut self, t: &Poly) -> Res<(Poly, Poly)> {
        let up = self.exponential(t)?;
        let down = self.exponential(&t.negated())?;
        let half = Rational::ONE / Rational::from(2);
        let odd = self.difference(&up, &down)?.scaled(&half);
        let even = self.sum(&up, &down)?.scaled(&half);
        Ok((self.units_reduced(&odd)?, self.units_reduced(&even)?))
    }

    /// sin and cos of a form.
    pub(super) fn sin_cos(&mut self, p: &Poly) -> Res<(Poly, Poly)> {
        let turned = self.mul(p, &Self::i())?;
        let (odd, cos) = self.sinh_cosh(&turned)?;
        let sin = self.mul(&odd, &Self::i().negated())?;
        Ok((sin, cos))
    }

    /// The circular and hyperbolic functions; no form of any other is known.
    pub(super) fn trigonometric(&mut self, function: Function, p: &Poly) -> Res<Poly> {
        use Function::{Cos, Cosh, Cot, Coth, Csc, Csch, Sec, Sech, Sin, Sinh, Tan, Tanh};
        let (sin, cos) = match function {
            Sin | Cos | Tan | Cot | Sec | Csc => self.sin_cos(p)?,
            Sinh | Cosh | Tanh | Coth | Sech | Csch => self.sinh_cosh(p)?,
            _ => return Err(FormError::Large),
        };
        let (num, den) = match function {
            Sin | Sinh => return Ok(sin),
            Cos | Cosh => return Ok(cos),
            Tan | Tanh => (sin, cos),
            Cot | Coth => (cos, sin),
            Sec | Sech => (Poly::one(), cos),
            _ => (Poly::one(), sin),
        };
        let inverse = self.invert(&den)?;
        self.times(&num, &inverse)
    }

    fn pi_times(r: Rational) -> Poly {
        Poly::term(Mono::of(PI, Q::ONE), r)
    }

    /// Whether a form starts with a minus sign, so that odd functions can take it out.
    fn starts_negative(&self, p: &Poly) -> bool {
        match self.sign_of(p) {
            Some(sign) => sign < 0,
            None => p.0.first().is_some_and(|(_, c)| *c < Rational::ZERO),
        }
    }

    /// The inverse functions at known values, else odd and complementary forms of two kernels.
    pub(super) fn inverse(&mut self, function: Function, p: &Poly) -> Res<Poly> {
        use Function::{Arccos, Arccot, Arccsc, Arcosh, Arcsec, Arcsin, Arctan, Arsinh, Artanh};
        let p = &self.simplified(p)?;
        match function {
            Arcsin | Arctan => {
                if self.starts_negative(p) {
                    return Ok(self.inverse(function, &p.negated())?.negated());
                }
                match self.known_angle(function, p)? {
                    Some(angle) => Ok(angle),
                    None => self.atom(Kernel::Call(function, vec![p.clone()])),
                }
            }
            Arccos => self.complement(Arcsin, p),
            // For negative arguments the conventions differ, so nothing is assumed there.
            Arccot if self.sign_of(p).is_some_and(|s| s >= 0) => self.complement(Arctan, p),
            Arcsec | Arccsc => {
                let inverse = self.invert(p)?;
                self.inverse(if function == Arcsec { Arccos } else { Arcsin }, &inverse)
            }
            Arsinh | Arcosh => {
                let square = self.mul(p, p)?;
                let shift = Poly::int(if function == Arsinh { 1 } else { -1 });
                let root = self.power_fraction(&square.plus(&shift), Q::HALF)?;
                self.logarithm(&p.plus(&root))
            }
            Artanh => {
                let above = self.logarithm(&Poly::one().plus(p))?;
                let below = self.logarithm(&Poly::one().minus(p))?;
                Ok(self.difference(&above, &below)?.scaled(&(Rational::ONE / Rational::from(2))))
            }
            _ => self.atom(Kernel::Call(function, vec![p.clone()])),
        }
    }

    /// π/2 minus an inverse function.
    fn complement(&mut self, function: Function, p: &Poly) -> Res<Poly> {
        let angle = self.inverse(function, p)?;
        self.difference(&Self::pi_times(Rational::ONE / Rational::from(2)), &angle)
    }

    /// An angle guessed in doubles and confirmed exactly.
    fn known_angle(&mut self, function: Function, p: &Poly) -> Res<Option<Poly>> {
        if p.is_empty() {
            return Ok(Some(Poly::zero()));
        }
        let Some(span) = self.span(p) else { return Ok(None) };
        if let Some(value) = p.as_rational() {
            if function == Function::Arctan {
                return self.gaussian_angle(value.denominator(), value.numerator());
            }
            let square = Rational::ONE - &value * &value;
            if let Some(cos) = Self::rational_root(&square).filter(|c| !c.is_zero()) {
                return self.inverse(Function::Arctan, &Poly::constant(value / cos)).map(Some);
            }
        }
        let middle = f64::midpoint(span.low, span.high);
        let angle = match function {
            Function::Arctan => libm::atan(middle),
            Function::Arcsin if middle <= 1.0 + 1e-9 => libm::asin(middle.min(1.0)),
            _ => return Ok(None),
        } / std::f64::consts::PI;
        for den in [2i64, 12, 10, 8] {
            let num = libm::round(angle * den as f64);
            if (angle - num / den as f64).abs() > 1e-9 {
                continue;
            }
            #[expect(clippy::cast_possible_truncation, reason = "at most the denominator")]
            let r = Rational::from(num as i64) / Rational::from(den);
            let (sin, cos) = self.sin_cos(&Self::pi_times(r.clone()))?;
            let right = if function == Function::Arctan { self.mul(p, &cos)? } else { p.clone() };
            let gap = self.difference(&sin, &right)?;
            if self.decide(&gap)? == ZeroTest::Zero {
                return Ok(Some(Self::pi_times(r)));
            }
        }
        Ok(None)
    }

    /// The argument of x + iy for x > 0 as a combination of the arguments of Gaussian primes, by which
    /// all relations between arctangents of rational numbers become visible.
    pub(super) fn gaussian_angle(&mut self, right: &UBig, up: &IBig) -> Res<Option<Poly>> {
        if right.bit_len() > 31 || up.bit_len() > 31 {
            return Ok(None);
        }
        let (Ok(x), Ok(y)) = (i64::try_from(right), i64::try_from(up)) else { return Ok(None) };
        let norm = x * x + y * y;
        let mut angle = libm::atan2(y as f64, x as f64);
        let mut out = Poly::zero();
        for factor in self.factors(&UBig::from(norm.unsigned_abs()))? {
            let Ok(p) = i64::try_from(&factor.base) else { return Ok(None) };
            if !factor.prime || p > 1 << 26 {
                return Ok(None);
            }
            if p == 2 {
                angle -= std::f64::consts::FRAC_PI_4 * factor.count as f64;
                out = self.sum(&out, &Self::pi_times(Rational::from(factor.count) / Rational::from(4)))?;
                continue;
            }
            let Some((long, short)) = self.two_squares(p)? else { return Ok(None) };
            // long + i·short divides x + iy exactly when p divides (x + iy)(long − i·short).
            let (re, im) = (x % p * long + y % p * short, y % p * long - x % p * short);
            let count = if re % p == 0 && im % p == 0 { factor.count } else { -factor.count };
            angle -= libm::atan2(short as f64, long as f64) * count as f64;
            let ratio = Rational::from(short) / Rational::from(long);
            let kernel = self.atom(Kernel::Call(Function::Arctan, vec![Poly::constant(ratio)]))?;
            out = self.sum(&out, &kernel.scaled(&Rational::from(count)))?;
        }
        // The rest is a power of i.
        let turns = angle / std::f64::consts::FRAC_PI_2;
        if (turns - libm::round(turns)).abs() > 1e-6 {
            return Ok(None);
        }
        #[expect(clippy::cast_possible_truncation, reason = "a handful of quarter turns")]
        let turns = Rational::from(libm::round(turns) as i64) / Rational::from(2);
        self.sum(&out, &Self::pi_times(turns)).map(Some)
    }

    /// A prime as c² + d² with c > d > 0.
    fn two_squares(&self, p: i64) -> Res<Option<(i64, i64)>> {
        let mut d = 1;
        while 2 * d * d < p {
            let left = Rational::from(p - d * d);
            self.fuel.spend(10)?;
            if let Some(c) = Self::rational_root(&left) {
                return Ok(i64::try_from(c.numerator()).ok().map(|c| (c, d)));
            }
            d += 1;
            if d > 3000 {
                break;
            }
        }
        Ok(None)
    }
}
