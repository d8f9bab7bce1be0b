//! Integrals: proven by Taylor pieces, or estimated by double-exponential quadrature.

use super::bound::{Bound, Rounding};
use super::closed;
use super::component::Component;
use super::context::{Context, Rigor, Step, StepError, optional};
use super::interval::Interval;
use super::number::Number::{self, Infinite, Real};
use super::operator::Body;
use crate::expr::Rational;

impl<T: Bound> Body<'_, '_, T> {
    /// The integral between two bounds.
    pub(super) fn integral(&mut self, from: &Number<T>, to: &Number<T>) -> Step<Number<T>> {
        let cx = self.cx;
        match (from, to) {
            (Real(a), Real(b)) => {
                let (low, high) = (a.span(cx)?, b.span(cx)?);
                if low.low > high.high {
                    return Ok(self.integral(to, from)?.neg());
                }
                if let (Component::Exact(x), Component::Exact(y)) = (a, b)
                    && x == y
                {
                    return Ok(Number::int(0));
                }
                if let Some(value) = optional(closed::integral(self, [from, to]))?.flatten() {
                    return Ok(value);
                }
                // A body that is undefined at an end has no bounds near it.
                let mut smooth = cx.rigor != Rigor::Estimated;
                for end in [from, to] {
                    smooth &= optional(self.at(end.clone()))?.is_some();
                }
                if smooth && let Some(crude) = optional(self.proven(&low, &high))? {
                    if cx.rigor == Rigor::Certified || !is_wide(&crude, cx)? {
                        return Ok(crude);
                    }
                    let Ok(fine) = self.quadrature(from, to) else { return Ok(crude) };
                    cx.allow_estimate()?;
                    return Ok(fine);
                }
                cx.allow_estimate()?;
                match self.quadrature(from, to) {
                    Err(StepError::Unsupported | StepError::Imprecise) if cx.rigor == Rigor::Estimated => {
                        self.proven(&low, &high)
                    }
                    done => done,
                }
            }
            (Infinite(false), Infinite(true) | Real(_)) | (Real(_), Infinite(true)) => {
                Ok(self.integral(to, from)?.neg())
            }
            (Infinite(true), Infinite(false) | Real(_)) | (Real(_), Infinite(false)) => {
                cx.allow_estimate()?;
                self.quadrature(from, to)
            }
            _ => Err(StepError::Unsupported),
        }
    }

    /// A proven enclosure between two finite bounds.
    fn proven(&mut self, a: &Interval<T>, b: &Interval<T>) -> Step<Number<T>> {
        // The ends may be enclosures: the integral within them is bounded by value times width.
        let mut total = Number::int(0);
        for end in [a, b] {
            if end.low != end.high {
                let part = self.at(Number::interval(end.clone()))?;
                let width = Number::interval(Interval::around_zero(end.width(self.cx.bits)));
                total = total.add(&part.mul(&width, self.cx)?, self.cx)?;
            }
        }
        let (low, high) = (a.high.clone(), b.low.clone());
        if !(low < high && low.is_finite() && high.is_finite()) {
            return Err(StepError::Unsupported);
        }
        total.add(&self.pieces(low, high)?, self.cx)
    }

    /// The proven integral over `[low, high]`, for bounds that are points of the precision.
    pub(super) fn between(&mut self, low: T, high: T) -> Step<Number<T>> {
        let (from, to) = (Number::point(low.clone()), Number::point(high.clone()));
        match optional(closed::integral(self, [&from, &to]))?.flatten() {
            Some(value) => Ok(value),
            None => self.pieces(low, high),
        }
    }

    /// The sum of the integrals over pieces, halved until they are sharp.
    fn pieces(&mut self, low: T, high: T) -> Step<Number<T>> {
        const DEEPEST: u32 = 30;
        let mut total = Number::int(0);
        let mut left: u32 = if self.cx.bits <= 53 { 200 } else { 60 };
        // Pieces still to be done, each with the depth of its halving.
        let mut todo = vec![(low, high, 0)];
        // A proof may use a tenth of the fuel, so that an estimate can follow.
        let reserve = self.cx.left() / 10 * 9;
        while let Some((low, high, depth)) = todo.pop() {
            left = left.checked_sub(1).ok_or(StepError::Unsupported)?;
            let may_halve = left > 8 && depth < DEEPEST && self.cx.left() > reserve;
            if let Some(value) = self.piece(&low, &high, may_halve)? {
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
    fn piece(&mut self, low: &T, high: &T, may_halve: bool) -> Step<Option<Number<T>>> {
        let (cx, bits) = (self.cx, self.cx.bits);
        let order = if bits <= 53 { 12 } else { usize::try_from(bits / 6).unwrap_or(16).min(60) / 2 * 2 };
        let point = |at: &T| Interval::point(at.clone());
        let whole = Number::interval(Interval { low: low.clone(), high: high.clone() });
        let middle = low.add(high, bits, Rounding::Down).half();
        let reach = point(high).sub(&point(&middle), bits).hull(&point(&middle).sub(&point(low), bits));
        let reach = Number::interval(reach);
        let Some(rest) = optional(self.taylor(&whole, order))? else {
            if may_halve {
                return Ok(None);
            }
            // Not smooth here: the value times the width.
            return match self.at(whole)? {
                Infinite(_) => Err(StepError::Unsupported),
                value => {
                    let width = Number::interval(point(high).sub(&point(low), bits));
                    value.mul(&width, cx).map(Some)
                }
            };
        };
        let series = self.taylor(&Number::point(middle), order - 1)?;
        // Odd powers cancel up to the rounding error of the middle; the hull of both distances covers it
        // because each side is integrated on its own.
        let mut total = Number::int(0);
        let mut power = reach.clone();
        for (k, c) in series.iter().chain(rest.last()).enumerate() {
            let weight = Number::exact(Rational::from_parts(1.into(), (k + 1).into()));
            let term = c.mul(&power, cx)?.mul(&weight, cx)?;
            let mirrored = if k % 2 == 0 { term.clone() } else { term.neg() };
            total = total.add(&term, cx)?.add(&mirrored, cx)?;
            power = power.mul(&reach, cx)?;
        }
        let mut tail = rest.last().cloned().unwrap_or(Number::int(0));
        for _ in 0..=order {
            tail = tail.mul(&reach, cx)?;
        }
        if may_halve && is_coarse(&tail, cx)? { Ok(None) } else { Ok(Some(total)) }
    }
}

/// Whether an enclosure is wider than a good estimate would be.
fn is_wide<T: Bound>(value: &Number<T>, cx: &Context<'_>) -> Step<bool> {
    let (re, im) = value.clone().parts()?;
    let (re, im) = (re.span(cx)?.to_f64(), im.span(cx)?.to_f64());
    let wide = (re.high - re.low).max(im.high - im.low);
    Ok(wide > 1e-10 * re.abs().high.max(im.abs().high))
}

/// Whether the remainder is wide for the precision.
fn is_coarse<T: Bound>(tail: &Number<T>, cx: &Context<'_>) -> Step<bool> {
    let (re, im) = tail.clone().parts()?;
    for part in [re, im] {
        let width = part.span(cx)?.width(cx.bits);
        if !width.is_finite() || width.exponent().is_some_and(|top| top > 8 - i64::from(cx.bits)) {
            return Ok(true);
        }
    }
    Ok(false)
}
