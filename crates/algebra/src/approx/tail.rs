//! Long and infinite sums: Euler–Maclaurin with a certified remainder for finite ones, estimates for infinite ones.

use dashu_int::IBig;

use super::bound::{Bound, Rounding};
use super::component::Component;
use super::context::{Context, StepError};
use super::gamma::BERNOULLI;
use super::integral;
use super::interval::Interval;
use super::number::Number::{self, Infinite, Real};
use super::quadrature::{self, size, widened};
use super::series::taylor;
use super::walk::Scope;
use crate::expr::{Bind, Rational};

fn term<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    k: &IBig,
    cx: &Context<'_>,
) -> Result<Number<T>, StepError> {
    scope.with(&bind.variable, Number::exact(Rational::from(k.clone())), &bind.body, cx)
}

/// How many terms are added directly before the formula takes over, and how many corrections it uses.
fn effort(bits: u32) -> (u32, usize) {
    if bits <= 53 { (16, 7) } else { (16 + bits / 6, 4 + bits as usize / 12) }
}

/// The corrections of Euler–Maclaurin at one end: f/2 ± Σ B₂ⱼ/(2j)!·f^(2j−1), where the Taylor coefficient
/// c₂ⱼ₋₁ = f^(2j−1)/(2j−1)! leaves B₂ⱼ/(2j).
fn corrections<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    k: &IBig,
    upper: bool,
    count: usize,
    cx: &Context<'_>,
) -> Result<Number<T>, StepError> {
    let at = Number::exact(Rational::from(k.clone()));
    let series = taylor(scope, &bind.body, &bind.variable, &at, 2 * count, cx)?;
    let mut total = series.first().ok_or(StepError::Unsupported)?.half(cx)?;
    for j in 1..=count {
        let weight = &BERNOULLI[j - 1] / Rational::from(2 * j);
        let correction = series[2 * j - 1].mul(&Number::exact(weight), cx)?;
        total = if upper { total.add(&correction, cx)? } else { total.sub(&correction, cx)? };
    }
    Ok(total)
}

/// The first terms added up, and the index of the next one.
fn first_terms<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    from: &IBig,
    count: u32,
    cx: &Context<'_>,
) -> Result<(Number<T>, IBig), StepError> {
    let mut total = Number::int(0);
    let mut k = from.clone();
    for _ in 0..count {
        let next = term(scope, bind, &k, cx)?;
        total = Real(Component::Interval(total.add(&next, cx)?.real()?.span(cx)?));
        k += IBig::ONE;
    }
    Ok((total, k))
}

/// A finite sum with very many terms, proven.
pub(super) fn long<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    from: &IBig,
    to: &IBig,
    cx: &Context<'_>,
) -> Result<Number<T>, StepError> {
    let (head, count) = effort(cx.bits);
    let (mut total, k) = first_terms(scope, bind, from, head, cx)?;
    let first = corrections(scope, bind, &k, false, count, cx)?;
    let last = corrections(scope, bind, to, true, count, cx)?;
    total = total.add(&first, cx)?.add(&last, cx)?;
    // The range in pieces that double in length, so that few of them reach far.
    let exact = |n: &IBig| T::of_rational(&Rational::from(n.clone()), cx.bits.max(64), Rounding::Down);
    let mut step = IBig::from(head);
    // |R| ≤ 2ζ(2p)/(2π)^2p·∫|f^(2p)| ≤ 4/(2π)^2p·(2p)!·∫|c₂ₚ|, and |B₂ₚ| ≥ 2(2p)!/(2π)^2p.
    let bound = {
        let b = &BERNOULLI[count - 1];
        if b.sign() == dashu_int::Sign::Negative { -b } else { b.clone() }
    } * Rational::from(2);
    let mut low = k.clone();
    while low < *to {
        let high = (&low + &step).min(to.clone());
        let (a, b) = (exact(&low), exact(&high));
        // Integers beyond the precision are not points of it.
        if a.exactly() != Some(Rational::from(low.clone()))
            || b.exactly() != Some(Rational::from(high.clone()))
        {
            return Err(StepError::Unsupported);
        }
        total = total.add(&integral::between(scope, bind, a.clone(), b.clone(), cx)?, cx)?;
        let piece = Real(Component::Interval(Interval { low: a, high: b }));
        let rest = taylor(scope, &bind.body, &bind.variable, &piece, 2 * count, cx)?;
        let rest = rest.last().ok_or(StepError::Unsupported)?.clone().abs(cx)?;
        let rest = rest.mul(&Number::exact(Rational::from(&high - &low) * &bound), cx)?;
        let reach = rest.real()?.span(cx)?.high;
        total = total.add(&Real(Component::Interval(Interval { low: reach.neg(), high: reach })), cx)?;
        low = high;
        step *= 2;
    }
    Ok(total)
}

/// An infinite sum, estimated: by its own fast decay, by its alternating signs, or by Euler–Maclaurin.
pub(super) fn endless<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    from: &IBig,
    cx: &Context<'_>,
) -> Result<Number<T>, StepError> {
    const FIRST: usize = 24;
    let mut terms = Vec::with_capacity(FIRST);
    let mut k = from.clone();
    while terms.len() < FIRST {
        terms.push(term(scope, bind, &k, cx)?);
        k += IBig::ONE;
    }
    let sizes = terms.iter().map(|t| size(t, cx)).collect::<Result<Vec<_>, _>>()?;
    let ratio = |sizes: &[f64]| -> f64 {
        sizes
            .windows(2)
            .rev()
            .take(12)
            .map(|w| if w[0] > 0.0 { w[1] / w[0] } else { 0.0 })
            .fold(0.0, f64::max)
    };
    if ratio(&sizes) < 0.8 || sizes.iter().rev().take(8).all(|size| *size == 0.0) {
        return decaying(scope, bind, k, &terms, cx);
    }
    let signs: Vec<_> = terms.iter().map(|t| t.clone().real().ok().and_then(|part| part.sign())).collect();
    let alternates =
        signs.windows(2).skip(4).all(|w| w[0].is_some() && w[0] == w[1].map(std::cmp::Ordering::reverse));
    if alternates {
        return alternating(scope, bind, from, cx);
    }
    if ratio(&sizes) > 1.0 + 1e-9 && sizes.last() > sizes.first() {
        return Err(StepError::Undefined);
    }
    let (head, count) = effort(cx.bits);
    let (total, k) = first_terms(scope, bind, from, head, cx)?;
    let more = corrections(scope, bind, &k, false, count, cx)?;
    let fewer = corrections(scope, bind, &k, false, count - 1, cx)?;
    let error = size(&more.sub(&fewer, cx)?, cx)?;
    let rest = quadrature::integral(scope, bind, &Number::exact(Rational::from(k)), &Infinite(false), cx)?;
    widened(&total.add(&more, cx)?.add(&rest, cx)?, error, cx)
}

/// Terms that fall at least geometrically: added until the rest cannot matter.
fn decaying<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    mut k: IBig,
    first: &[Number<T>],
    cx: &Context<'_>,
) -> Result<Number<T>, StepError> {
    let mut total = Number::int(0);
    let mut last = 0.0;
    for t in first {
        last = size(t, cx)?;
        let sum = total.add(t, cx)?.parts()?;
        let bare = |part: Component<T>| -> Result<Component<T>, StepError> {
            if part.is_zero() { Ok(part) } else { Ok(Component::Interval(part.span(cx)?)) }
        };
        total = Number::of(bare(sum.0)?, bare(sum.1)?);
    }
    let wanted = libm::exp2(-f64::from(cx.bits.min(900)) - 2.0);
    for _ in 0..4000 {
        let scale = size(&total, cx)?;
        if last <= wanted * scale || last == 0.0 {
            break;
        }
        let t = term(scope, bind, &k, cx)?;
        k += IBig::ONE;
        last = size(&t, cx)?;
        total = total.add(&t, cx)?;
    }
    // A ratio below 4/5 leaves at most four times the last term.
    widened(&total, 5.0 * last, cx)
}

/// Terms of alternating sign and smooth size: the scheme of Cohen, Rodriguez Villegas and Zagier (2000).
fn alternating<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    from: &IBig,
    cx: &Context<'_>,
) -> Result<Number<T>, StepError> {
    let n = i32::try_from(cx.bits * 2 / 5 + 4).unwrap_or(60);
    let mut found = Vec::new();
    for n in [n - 4, n] {
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
            let value = term(scope, bind, &at, cx)?;
            // The scheme wants the sizes; the term carries its sign.
            let sized = if k % 2 == 0 { value } else { value.neg() };
            let sized = Number::of(Component::Interval(sized.real()?.span(cx)?), Component::zero());
            total = total.add(&sized.mul(&Number::exact(c.clone()), cx)?, cx)?;
            b = b * Rational::from((k + n) * (k - n))
                / (Rational::from((2 * k + 1) * (k + 1)) / Rational::from(2));
            at += IBig::ONE;
        }
        found.push(total.div(&Number::exact(Rational::from(d)), cx)?);
    }
    let (Some(better), Some(worse)) = (found.pop(), found.pop()) else {
        return Err(StepError::Unsupported);
    };
    let error = size(&better.sub(&worse, cx)?, cx)?;
    widened(&better, error, cx)
}
