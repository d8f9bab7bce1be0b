//! Limits: by substitution where the body is continuous, otherwise estimated by extrapolation.

use std::cmp::Ordering;

use dashu_int::UBig;

use super::bound::{Bound, Rounding};
use super::context::{Context, Step, StepError, optional};
use super::interval::Interval;
use super::number::Number::{self, Infinite, Real};
use super::operator::Body;
use super::series::mentions;
use crate::expr::{Expr, Function, Rational, Side, Symbol};

/// The number of distances to the point, each half of the one before.
const STEPS: u32 = 16;

impl<T: Bound> Body<'_, '_, T> {
    /// The limit towards a point.
    pub(super) fn limit(&mut self, towards: &Number<T>, side: Option<Side>) -> Step<Number<T>> {
        let cx = self.cx;
        if !may_be_discontinuous(self.expr, self.variable)
            && let Some(value) = optional(self.at(towards.clone()))?
        {
            return Ok(value);
        }
        cx.allow_estimate()?;
        match (towards, side) {
            (Infinite(negative), _) => self.approach(towards, *negative),
            (_, Some(side)) => self.approach(towards, side == Side::Below),
            (_, None) => match (self.approach(towards, false), self.approach(towards, true)) {
                (Err(StepError::OutOfFuel), _) | (_, Err(StepError::OutOfFuel)) => Err(StepError::OutOfFuel),
                (Ok(Infinite(a)), Ok(Infinite(b))) if a == b => Ok(Infinite(a)),
                (Ok(Infinite(_)), Ok(_)) | (Ok(_), Ok(Infinite(_))) => Err(StepError::Undefined),
                (Ok(a), Ok(b)) => {
                    let (a, b) = (a.real()?.span(cx)?, b.real()?.span(cx)?);
                    let scale = a.abs().high.to_f64(Rounding::Up).max(1e-3);
                    let gap = a.sub(&b, cx.bits).abs().low.to_f64(Rounding::Down);
                    if gap > 1e-3 * scale {
                        return Err(StepError::Undefined);
                    }
                    let width = |span: &Interval<T>| Number::interval(span.sub(span, cx.bits)).size(cx);
                    let a_is_sharper = width(&a)? <= width(&b)?;
                    Ok(Number::interval(match (a.meets(&b), a_is_sharper) {
                        (false, _) => a.hull(&b),
                        (true, true) => a,
                        (true, false) => b,
                    }))
                }
                // A body that is real on one side only, as a root at the end of its domain.
                (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
                (Err(fail), Err(_)) => Err(fail),
            },
        }
    }

    /// The values on the way to the point, extrapolated.
    fn approach(&mut self, towards: &Number<T>, below: bool) -> Step<Number<T>> {
        let mut values = Vec::new();
        let mut failure = StepError::Unsupported;
        for step in 0..STEPS {
            let near = match towards {
                // Odd multiples of powers of two: not where a periodic body repeats itself.
                Infinite(_) => Rational::from(UBig::from(21_u8) << (step as usize)),
                _ => Rational::from_parts(3.into(), UBig::from(32_u8) << (step as usize)),
            };
            let near = Number::exact(if below { -near } else { near });
            let at = match towards {
                Infinite(_) => near,
                point => point.add(&near, self.cx)?,
            };
            match self.at(at) {
                Ok(value @ Real(_)) => values.push(value),
                Ok(Infinite(negative)) => return Ok(Infinite(negative)),
                Ok(_) => failure = StepError::Unsupported,
                Err(StepError::OutOfFuel) => return Err(StepError::OutOfFuel),
                Err(fail) => {
                    failure = fail;
                    // Too close for the precision: the values so far may suffice.
                    if values.len() >= 8 {
                        break;
                    }
                }
            }
        }
        if values.len() < 6 {
            return Err(failure);
        }
        extrapolated(&values, self.cx)
    }
}

/// Whether a body may have jump discontinuities in its domain.
fn may_be_discontinuous(expr: &Expr, variable: &Symbol) -> bool {
    let here = matches!(
        expr,
        Expr::Call(
            Function::Floor
                | Function::Ceil
                | Function::Sign
                | Function::Mod
                | Function::Arg
                | Function::Arccot,
            _
        )
    ) || matches!(expr, Expr::Power(base, exponent) if mentions(exponent, variable) && mentions(base, variable));
    here && mentions(expr, variable)
        || expr.children().into_iter().any(|part| may_be_discontinuous(part, variable))
}

/// The limit of a sequence taken at doubling distances, by Wynn's epsilon algorithm; its error is estimated
/// from the agreement of neighbouring columns.
pub(super) fn extrapolated<T: Bound>(values: &[Number<T>], cx: &Context<'_>) -> Step<Number<T>> {
    let bits = cx.bits;
    let mut points = Vec::with_capacity(values.len());
    let mut noise: f64 = 0.0;
    let gap = |a: &T, b: &T| {
        Interval::point(a.clone()).sub(&Interval::point(b.clone()), bits).abs().high.to_f64(Rounding::Up)
    };
    for value in values {
        let span = value.clone().real()?.span(cx)?;
        if !span.is_bounded() {
            continue;
        }
        let wide = span.width(bits).to_f64(Rounding::Up);
        let point = span.low.add(&span.high, bits, Rounding::Down).half();
        // Further values add nothing once rounding errors dominate the steps.
        if points.len() >= 6 && points.last().is_some_and(|last| wide > 1e-3 * gap(last, &point)) {
            break;
        }
        noise = noise.max(wide);
        points.push(point);
    }
    if let Some(negative) = diverges(&points) {
        return Ok(Infinite(negative));
    }
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Err(StepError::Unsupported);
    };
    if points.iter().all(|point| point == first) {
        return Number::point(last.clone()).widened(noise, cx);
    }
    // Differences below this are rounding errors, which division would magnify.
    let grain = last.to_f64(Rounding::Up).abs() * libm::exp2(8.0 - f64::from(bits.min(900)));
    // The best estimate so far: the last value, with its last step as the error.
    let mut best =
        (points.get(points.len() - 2).map_or(f64::MAX, |near| gap(near, last) * 2.0), last.clone());
    let mut corner = last.clone();
    let (mut before, mut now) = (vec![T::small(0); points.len() + 1], points);
    for column in 1.. {
        cx.spend_arithmetic::<T>(6 * now.len() as u64)?;
        // Three equal values: the column has converged.
        if column % 2 == 1
            && let [.., a, b, c] = now.as_slice()
            && gap(a, b).max(gap(b, c)) <= grain
        {
            best = (gap(a, b).max(gap(b, c)), c.clone());
            break;
        }
        let mut next = Vec::with_capacity(now.len());
        for (i, pair) in now.windows(2).enumerate() {
            let difference = pair[1].add(&pair[0].neg(), bits, Rounding::Down);
            let flat = column % 2 == 1 && gap(&pair[0], &pair[1]) <= grain;
            if flat || difference.sign() == Ordering::Equal {
                break;
            }
            let step = T::small(1).div(&difference, bits, Rounding::Down);
            next.push(before[i + 1].add(&step, bits, Rounding::Down));
        }
        let [.., near, end] = next.as_slice() else { break };
        if column % 2 == 0 && end.is_finite() {
            // A good value agrees with its neighbour and with the column before.
            let apart = gap(near, end).max(gap(&corner, end)) * 4.0;
            if apart < best.0 {
                best = (apart, end.clone());
            }
            corner = end.clone();
        }
        (before, now) = (now, next);
    }
    let scale = best.1.to_f64(Rounding::Up).abs().max(1e-2);
    if best.0 > 1e-2 * scale {
        return Err(StepError::Unsupported);
    }
    Number::point(best.1).widened(best.0 + 16.0 * (noise + grain), cx)
}

/// The sign of infinity, if a sequence grows without bound.
fn diverges<T: Bound>(points: &[T]) -> Option<bool> {
    let tail: Vec<f64> =
        points.iter().rev().take(6).rev().map(|point| point.to_f64(Rounding::Down)).collect();
    let last = *tail.last()?;
    let grows = tail.windows(2).all(|pair| pair[1].abs() >= 1.3 * pair[0].abs() && pair[0] * pair[1] > 0.0);
    (grows && last.abs() > 50.0).then_some(last < 0.0)
}
