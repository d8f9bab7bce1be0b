//! Long and infinite sums: Euler–Maclaurin with a certified remainder for finite ones, estimates for infinite ones.

use dashu_int::IBig;
use dashu_int::ops::Abs as _;

use super::bound::{Bound, Rounding};
use super::component::Component;
use super::context::{Step, StepError};
use super::gamma::BERNOULLI;
use super::interval::Interval;
use super::number::Number::{self, Infinite};
use super::operator::Body;
use crate::expr::Rational;

/// How many terms are added directly before the formula takes over, and how many corrections it uses.
fn effort(bits: u32) -> (u32, usize) {
    if bits <= 53 { (16, 7) } else { (16 + bits / 6, 4 + bits as usize / 12) }
}

impl<T: Bound> Body<'_, '_, T> {
    /// The corrections of Euler–Maclaurin at one end: f/2 ± Σ B₂ⱼ/(2j)!·f^(2j−1), where the Taylor coefficient
    /// c₂ⱼ₋₁ = f^(2j−1)/(2j−1)! leaves B₂ⱼ/(2j).
    fn corrections(&mut self, k: &IBig, upper: bool, count: usize) -> Step<Number<T>> {
        let series = self.taylor(&Number::exact(Rational::from(k.clone())), 2 * count)?;
        let mut total = series[0].half(self.cx)?;
        for j in 1..=count {
            let weight = &BERNOULLI[j - 1] / Rational::from(2 * j);
            let correction = series[2 * j - 1].mul(&Number::exact(weight), self.cx)?;
            total = if upper { total.add(&correction, self.cx)? } else { total.sub(&correction, self.cx)? };
        }
        Ok(total)
    }

    /// A finite sum with very many terms, proven.
    pub(super) fn long_sum(&mut self, from: &IBig, to: &IBig) -> Step<Number<T>> {
        let cx = self.cx;
        let (head, count) = effort(cx.bits);
        let mut low = from + IBig::from(head);
        let mut total = self.one_by_one(from.clone(), &(&low - IBig::ONE), Number::int(0), Number::add)?;
        let first = self.corrections(&low, false, count)?;
        let last = self.corrections(to, true, count)?;
        total = total.add(&first, cx)?.add(&last, cx)?;
        // |R| ≤ 2ζ(2p)/(2π)^2p·∫|f^(2p)| ≤ 4/(2π)^2p·(2p)!·∫|c₂ₚ|, and |B₂ₚ| ≥ 2(2p)!/(2π)^2p.
        let bound = BERNOULLI[count - 1].clone().abs() * Rational::from(2);
        // The range in pieces that double in length, so that few of them reach far.
        let exact = |n: &IBig| T::of_rational(&Rational::from(n.clone()), cx.bits.max(64), Rounding::Down);
        let mut step = IBig::from(head);
        while low < *to {
            let high = (&low + &step).min(to.clone());
            let (a, b) = (exact(&low), exact(&high));
            // Integers beyond the precision are not points of it.
            if a.exactly() != Some(Rational::from(low.clone()))
                || b.exactly() != Some(Rational::from(high.clone()))
            {
                return Err(StepError::Unsupported);
            }
            total = total.add(&self.between(a.clone(), b.clone())?, cx)?;
            let rest = self.taylor(&Number::interval(Interval { low: a, high: b }), 2 * count)?;
            let length = Rational::from(&high - &low);
            let rest = rest[2 * count].clone().real()?.abs();
            let rest = rest.mul(&Component::Exact(length * &bound), cx)?;
            total = total.add(&Number::interval(Interval::around_zero(rest.span(cx)?.high)), cx)?;
            low = high;
            step *= 2;
        }
        Ok(total)
    }

    /// An infinite sum, estimated: by its own fast decay, by its alternating signs, or by Euler–Maclaurin.
    pub(super) fn infinite_sum(&mut self, from: &IBig) -> Step<Number<T>> {
        const FIRST: usize = 24;
        let cx = self.cx;
        let mut terms = Vec::with_capacity(FIRST);
        let mut k = from.clone();
        while terms.len() < FIRST {
            terms.push(self.term(&k)?);
            k += IBig::ONE;
        }
        let sizes = terms.iter().map(|t| t.size(cx)).collect::<Step<Vec<_>>>()?;
        let ratio = sizes
            .windows(2)
            .rev()
            .take(12)
            .map(|w| if w[0] > 0.0 { w[1] / w[0] } else { 0.0 })
            .fold(0.0, f64::max);
        if ratio < 0.8 || sizes.iter().rev().take(8).all(|size| *size == 0.0) {
            return self.decaying_sum(k, &terms);
        }
        let signs: Vec<_> =
            terms.iter().map(|t| t.clone().real().ok().and_then(|part| part.sign())).collect();
        let alternates =
            signs.windows(2).skip(4).all(|w| w[0].is_some() && w[0] == w[1].map(std::cmp::Ordering::reverse));
        if alternates {
            return self.alternating_sum(from);
        }
        if ratio > 1.0 + 1e-9 && sizes.last() > sizes.first() {
            return Err(StepError::Undefined);
        }
        let (head, count) = effort(cx.bits);
        let next = from + IBig::from(head);
        let total = self.one_by_one(from.clone(), &(&next - IBig::ONE), Number::int(0), Number::add)?;
        let more = self.corrections(&next, false, count)?;
        let fewer = self.corrections(&next, false, count - 1)?;
        let error = more.sub(&fewer, cx)?.size(cx)?;
        let rest = self.quadrature(&Number::exact(Rational::from(next)), &Infinite(false))?;
        total.add(&more, cx)?.add(&rest, cx)?.widened(error, cx)
    }

    /// Terms that fall at least geometrically: added until the rest cannot matter.
    fn decaying_sum(&mut self, mut k: IBig, first: &[Number<T>]) -> Step<Number<T>> {
        let cx = self.cx;
        let mut total = Number::int(0);
        let mut last = 0.0;
        for t in first {
            last = t.size(cx)?;
            let sum = total.add(t, cx)?.parts()?;
            let bare = |part: Component<T>| -> Step<Component<T>> {
                if part.is_zero() { Ok(part) } else { Ok(Component::Interval(part.span(cx)?)) }
            };
            total = Number::of(bare(sum.0)?, bare(sum.1)?);
        }
        let wanted = libm::exp2(-f64::from(cx.bits.min(900)) - 2.0);
        for _ in 0..4000 {
            if last <= wanted * total.size(cx)? || last == 0.0 {
                break;
            }
            let t = self.term(&k)?;
            k += IBig::ONE;
            last = t.size(cx)?;
            total = total.add(&t, cx)?;
        }
        // A ratio below 4/5 leaves at most four times the last term.
        total.widened(5.0 * last, cx)
    }

    /// Terms of alternating sign and smooth size: the scheme of Cohen, Rodriguez Villegas and Zagier (2000).
    fn alternating_sum(&mut self, from: &IBig) -> Step<Number<T>> {
        let cx = self.cx;
        let most = i32::try_from(cx.bits * 2 / 5 + 4).unwrap_or(60);
        let mut scheme = |n: i32| {
            // d = ((3+√8)^n + (3−√8)^n)/2, by the recurrence of its integers.
            let (mut before, mut d) = (IBig::from(1), IBig::from(3));
            for _ in 1..n {
                (before, d) = (d.clone(), IBig::from(6) * &d - &before);
            }
            let mut b = Rational::NEG_ONE;
            let mut c = -Rational::from(d.clone());
            let mut total = Number::int(0);
            let mut at = from.clone();
            for k in 0..n {
                c = &b - &c;
                let value = self.term(&at)?;
                // The scheme wants the sizes; the term carries its sign.
                let sized = if k % 2 == 0 { value } else { value.neg() };
                let sized = Number::interval(sized.real()?.span(cx)?);
                total = total.add(&sized.mul(&Number::exact(c.clone()), cx)?, cx)?;
                b = b * Rational::from((k + n) * (k - n))
                    / (Rational::from((2 * k + 1) * (k + 1)) / Rational::from(2));
                at += IBig::ONE;
            }
            total.div(&Number::exact(Rational::from(d)), cx)
        };
        let (worse, better) = (scheme(most - 4)?, scheme(most)?);
        let error = better.sub(&worse, cx)?.size(cx)?;
        better.widened(error, cx)
    }
}
