//! Integrals: proven by Taylor pieces, or estimated by double-exponential quadrature.

use super::bound::{Bound, Rounding};
use super::closed;
use super::component::Component;
use super::context::{Context, Rigor, StepError};
use super::interval::Interval;
use super::number::Number::{self, Infinite, Real};
use super::quadrature;
use super::series::taylor;
use super::walk::Scope;
use crate::expr::{Bind, Rational};

/// The integral of the body between two bounds.
pub(super) fn integral<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    from: &Number<T>,
    to: &Number<T>,
    cx: &Context<'_>,
) -> Result<Number<T>, StepError> {
    match (from, to) {
        (Real(a), Real(b)) => {
            let (a, b) = (a.span(cx)?, b.span(cx)?);
            if a.low > b.high {
                return Ok(integral(scope, bind, to, from, cx)?.neg());
            }
            if let (Component::Exact(x), Component::Exact(y)) = (from.clone().real()?, to.clone().real()?)
                && x == y
            {
                return Ok(Number::int(0));
            }
            if let Some(value) =
                attempted(closed::integral(scope, &bind.body, &bind.variable, [from, to], cx))?
            {
                return Ok(value);
            }
            // A body without a value at an end has no bounds near it either.
            let mut smooth = cx.rigor != Rigor::Estimated;
            for end in [from, to] {
                match scope.with(&bind.variable, end.clone(), &bind.body, cx) {
                    Err(StepError::OutOfFuel) => return Err(StepError::OutOfFuel),
                    other => smooth &= other.is_ok(),
                }
            }
            if smooth {
                match proven(scope, bind, &a, &b, cx) {
                    Ok(crude) if cx.rigor != Rigor::Certified && is_wide(&crude, cx)? => {
                        let Ok(fine) = quadrature::integral(scope, bind, from, to, cx) else {
                            return Ok(crude);
                        };
                        cx.guess()?;
                        return Ok(fine);
                    }
                    Err(StepError::Undefined | StepError::Imprecise | StepError::Unsupported) => {}
                    done => return done,
                }
            }
            cx.guess()?;
            match quadrature::integral(scope, bind, from, to, cx) {
                Err(StepError::Unsupported | StepError::Imprecise) if cx.rigor == Rigor::Estimated => {
                    proven(scope, bind, &a, &b, cx)
                }
                done => done,
            }
        }
        (Infinite(false), Infinite(true) | Real(_)) | (Real(_), Infinite(true)) => {
            Ok(integral(scope, bind, to, from, cx)?.neg())
        }
        (Infinite(true), Infinite(false) | Real(_)) | (Real(_), Infinite(false)) => {
            cx.guess()?;
            quadrature::integral(scope, bind, from, to, cx)
        }
        _ => Err(StepError::Unsupported),
    }
}

/// The most pieces of one integral.
fn most_pieces(bits: u32) -> u32 {
    if bits <= 53 { 200 } else { 60 }
}

/// `None` where a closed form did not work out, except for want of fuel.
fn attempted<T>(found: Result<Option<Number<T>>, StepError>) -> Result<Option<Number<T>>, StepError> {
    match found {
        Err(StepError::Undefined | StepError::Unsupported | StepError::Imprecise) => Ok(None),
        other => other,
    }
}

/// Whether an enclosure is wider than a good estimate would be.
fn is_wide<T: Bound>(value: &Number<T>, cx: &Context<'_>) -> Result<bool, StepError> {
    let (re, im) = value.clone().parts()?;
    let (re, im) = (re.span(cx)?.to_f64(), im.span(cx)?.to_f64());
    let wide = (re.high - re.low).max(im.high - im.low);
    Ok(wide > 1e-10 * re.abs().high.max(im.abs().high))
}

/// A proven enclosure between two finite bounds.
fn proven<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    a: &Interval<T>,
    b: &Interval<T>,
    cx: &Context<'_>,
) -> Result<Number<T>, StepError> {
    let bits = cx.bits;
    // The ends themselves may be enclosures: what lies inside them is bounded by value times width.
    let mut total = Number::int(0);
    for end in [a, b] {
        if end.low != end.high {
            let body = scope.with(&bind.variable, Real(Component::Interval(end.clone())), &bind.body, cx)?;
            let wide = end.high.add(&end.low.neg(), bits, Rounding::Up);
            let part = Real(Component::Interval(Interval { low: wide.neg(), high: wide }));
            total = total.add(&body.mul(&part, cx)?, cx)?;
        }
    }
    let (low, high) = (a.high.clone(), b.low.clone());
    if !(low < high && low.is_finite() && high.is_finite()) {
        return Err(StepError::Unsupported);
    }
    let inside = Pieces { scope, bind, cx, left: most_pieces(cx.bits) }.all(low, high)?;
    total.add(&inside, cx)
}

/// The proven integral over `[low, high]`, for bounds that are points of the precision.
pub(super) fn between<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    low: T,
    high: T,
    cx: &Context<'_>,
) -> Result<Number<T>, StepError> {
    let (from, to) = (
        Real(Component::Interval(Interval::point(low.clone()))),
        Real(Component::Interval(Interval::point(high.clone()))),
    );
    if let Some(value) = attempted(closed::integral(scope, &bind.body, &bind.variable, [&from, &to], cx))? {
        return Ok(value);
    }
    Pieces { scope, bind, cx, left: most_pieces(cx.bits) }.all(low, high)
}

struct Pieces<'s, 'a, 'c, 'f, T> {
    scope: &'s mut Scope<'a, T>,
    bind: &'a Bind,
    cx: &'c Context<'f>,
    left: u32,
}

impl<T: Bound> Pieces<'_, '_, '_, '_, T> {
    /// A stack of pieces still to be done, each with the depth of its halving.
    fn all(&mut self, low: T, high: T) -> Result<Number<T>, StepError> {
        const DEEPEST: u32 = 30;
        let mut total = Number::int(0);
        let mut todo = vec![(low, high, 0)];
        // A proof may cost its share; an estimate must stay affordable.
        let reserve = self.cx.left() / 10 * 9;
        while let Some((low, high, depth)) = todo.pop() {
            self.left = self.left.checked_sub(1).ok_or(StepError::Unsupported)?;
            if let Some(value) = self.piece(&low, &high, depth < DEEPEST && self.cx.left() > reserve)? {
                total = total.add(&value, self.cx)?;
                continue;
            }
            let middle = low.add(&high, self.cx.bits, Rounding::Down).half();
            if !(low < middle && middle < high) {
                return Err(StepError::Unsupported);
            }
            todo.push((middle.clone(), high, depth + 1));
            todo.push((low, middle, depth + 1));
        }
        Ok(total)
    }

    /// The integral over one piece; none where halves would be much sharper.
    fn piece(&mut self, low: &T, high: &T, may_halve: bool) -> Result<Option<Number<T>>, StepError> {
        let bits = self.cx.bits;
        let order = if bits <= 53 { 12 } else { usize::try_from(bits / 6).unwrap_or(16).min(60) / 2 * 2 };
        let whole = Real(Component::Interval(Interval { low: low.clone(), high: high.clone() }));
        let middle = low.add(high, bits, Rounding::Down).half();
        let width = Interval::point(high.clone()).sub(&Interval::point(low.clone()), bits);
        let reach = Interval::point(high.clone())
            .sub(&Interval::point(middle.clone()), bits)
            .hull(&Interval::point(middle.clone()).sub(&Interval::point(low.clone()), bits));
        let (body, variable) = (&self.bind.body, &self.bind.variable);
        let rest = match taylor(self.scope, body, variable, &whole, order, self.cx) {
            Ok(series) => series,
            Err(StepError::OutOfFuel) => return Err(StepError::OutOfFuel),
            Err(_) if may_halve && self.left > 8 => return Ok(None),
            Err(_) => {
                // Not smooth here: the value times the width.
                let value = self.scope.with(variable, whole, body, self.cx)?;
                if matches!(value, Infinite(_)) {
                    return Err(StepError::Unsupported);
                }
                return Ok(Some(value.mul(&Real(Component::Interval(width)), self.cx)?));
            }
        };
        let at = Real(Component::Interval(Interval::point(middle)));
        let series = taylor(self.scope, body, variable, &at, order - 1, self.cx)?;
        // Odd powers cancel up to the half-unit by which the middle is off; the hull of both reaches covers it
        // because each side is integrated on its own.
        let mut total = Number::int(0);
        let mut power = Real(Component::Interval(reach.clone()));
        for (k, c) in series.iter().chain(rest.last()).enumerate() {
            let term = c.mul(&power, self.cx)?;
            let weight = Number::exact(Rational::from_parts(1.into(), (k + 1).into()));
            let term = term.mul(&weight, self.cx)?;
            total = if k % 2 == 0 {
                total.add(&term, self.cx)?.add(&term, self.cx)?
            } else {
                total.add(&term, self.cx)?.sub(&term, self.cx)?
            };
            power = power.mul(&Real(Component::Interval(reach.clone())), self.cx)?;
        }
        let tail = rest.last().map_or(Ok(Number::int(0)), |c| {
            let mut term = c.clone();
            for _ in 0..=order {
                term = term.mul(&Real(Component::Interval(reach.clone())), self.cx)?;
            }
            Ok::<_, StepError>(term)
        })?;
        if may_halve && self.left > 8 && coarse(&tail, bits, self.cx)? {
            return Ok(None);
        }
        Ok(Some(total))
    }
}

/// Whether the remainder is wider than the precision deserves.
fn coarse<T: Bound>(tail: &Number<T>, bits: u32, cx: &Context<'_>) -> Result<bool, StepError> {
    let (re, im) = tail.clone().parts()?;
    for part in [re, im] {
        let span = part.span(cx)?;
        let wide = span.high.add(&span.low.neg(), bits, Rounding::Up);
        if !wide.is_finite() || wide.exponent().is_some_and(|top| top > 8 - i64::from(bits)) {
            return Ok(true);
        }
    }
    Ok(false)
}
