//! Double-exponential quadrature (Takahasi and Mori 1974): an estimate of an integral, and of its error.

use std::cmp::Ordering;

use super::bound::{Bound, Rounding};
use super::component::Component;
use super::context::{Context, Step, StepError};
use super::number::Number::{self, Infinite, Real};
use super::operator::Body;
use crate::expr::Rational;

impl<T: Bound> Body<'_, '_, T> {
    /// Estimates the integral between two bounds, finite or not; the lower one comes first.
    pub(super) fn quadrature(&mut self, from: &Number<T>, to: &Number<T>) -> Step<Number<T>> {
        const LAST: u32 = 5;
        let cx = self.cx;
        // The transformed integrand decays doubly exponentially: beyond this nothing is left at the precision.
        let reach: i32 = if cx.bits <= 53 { 4 } else { 5 };
        let mut total = Number::int(0);
        let mut last: Option<Number<T>> = None;
        let mut before = f64::MAX;
        // The error from rounding nodes next to a singular end, and the part beyond them.
        let mut fuzz = 0.0;
        for level in 0..=LAST {
            let per = 1_i32 << level;
            let mut edge = 0.0_f64;
            for i in -reach * per..=reach * per {
                if level > 0 && i % 2 == 0 {
                    continue;
                }
                let t = Rational::from_parts(i.into(), dashu_int::UBig::from(1_u32 << level));
                let Some(Node { x, weight, blur }) = node(from, to, &t, cx)? else { continue };
                let value = match self.at(x) {
                    Ok(value) => value.mul(&weight, cx)?,
                    // The ends may be singular; the inside may not.
                    Err(fail) if fail != StepError::OutOfFuel && i.abs() >= 2 * per => continue,
                    Err(fail) => return Err(fail),
                };
                let size = value.size(cx)?;
                if i.abs() == reach * per {
                    edge = edge.max(size);
                }
                fuzz += blur * size;
                total = total.add(&value, cx)?;
            }
            let estimate =
                total.mul(&Number::exact(Rational::from_parts(1.into(), (1_u32 << level).into())), cx)?;
            let scale = estimate.size(cx)?;
            if level == 0 && edge > 1e-3 * scale.max(1e-300) {
                return Err(StepError::Unsupported);
            }
            if let Some(last) = &last {
                let change = estimate.sub(last, cx)?.size(cx)?;
                let fine = scale.max(f64::MIN_POSITIVE) * libm::exp2(-f64::from(cx.bits.min(1000)) * 0.8);
                // Refining no longer helps: the rest is rounding, or a singular end.
                let stuck = level >= 3 && change > 0.25 * before;
                if change <= fine || ((stuck || level == LAST) && change <= 1e-4 * scale.max(1e-4)) {
                    return estimate.widened(change * 4.0 + edge + 4.0 * fuzz / f64::from(per), cx);
                }
                before = change;
            }
            last = Some(estimate);
        }
        Err(StepError::Unsupported)
    }
}

/// The node at `t`; `None` where it coincides with an endpoint.
fn node<T: Bound>(from: &Number<T>, to: &Number<T>, t: &Rational, cx: &Context<'_>) -> Step<Option<Node<T>>> {
    let half_pi = Real(Component::pi(Rational::from_parts(1.into(), 2_u8.into())));
    let t = Number::exact(t.clone());
    // One exponential gives the hyperbolic functions of t, and another those of u.
    let grown = t.exp(cx)?;
    let (up, along) = sinh_cosh(&grown, cx)?;
    let (u, slope) = (half_pi.mul(&up, cx)?, half_pi.mul(&along, cx)?);
    let falls = t.real()?.sign() == Some(Ordering::Less);
    // e^−|u|: small, so that nothing overflows.
    let shrunk = if falls { u.exp(cx)? } else { u.neg().exp(cx)? };
    let mut distance = None;
    let (x, weight) = match (from, to) {
        (Infinite(_), Infinite(_)) => {
            let (up, along) = sinh_cosh(&shrunk, cx)?;
            (if falls { up } else { up.neg() }, along.mul(&slope, cx)?)
        }
        (Infinite(_), end) | (end, Infinite(_)) => {
            let grown = if falls { shrunk } else { shrunk.inverse(cx)? };
            let weight = grown.mul(&slope, cx)?;
            (if matches!(to, Infinite(_)) { end.add(&grown, cx)? } else { end.sub(&grown, cx)? }, weight)
        }
        (start, end) => {
            // x = start + (end − start)/(1 + e^−2u), written from the nearer end to keep its distance sharp,
            // and its slope 2s²/(1+s²)² with s = e^−|u|.
            let wide = end.sub(start, cx)?;
            let square = shrunk.square(cx)?;
            let more = Number::int(1).add(&square, cx)?;
            let off = wide.mul(&square.div(&more, cx)?, cx)?;
            let x = if falls { start.add(&off, cx)? } else { end.sub(&off, cx)? };
            let weight = off.mul(&slope, cx)?.mul(&Number::int(2), cx)?.div(&more, cx)?;
            distance = Some(off.real()?.span(cx)?.abs().low.to_f64(Rounding::Down));
            (x, weight)
        }
    };
    // A point of its own, so that the integrand is not blurred by rounding of the node.
    let (Real(x), Real(weight)) = (x, weight) else { return Ok(None) };
    let x = x.span(cx)?;
    if !x.is_bounded() || !weight.span(cx)?.is_bounded() {
        return Ok(None);
    }
    let wide = x.width(cx.bits).to_f64(Rounding::Up);
    let blur = distance.map_or(0.0, |distance| if wide > 0.0 { (wide / distance).min(1.0) } else { 0.0 });
    Ok(Some(Node { x: Number::point(x.low), weight: Real(weight), blur }))
}

/// Hyperbolic sine and cosine of an exponent, from its exponential.
fn sinh_cosh<T: Bound>(grown: &Number<T>, cx: &Context<'_>) -> Step<(Number<T>, Number<T>)> {
    let shrunk = grown.inverse(cx)?;
    Ok((grown.sub(&shrunk, cx)?.half(cx)?, grown.add(&shrunk, cx)?.half(cx)?))
}

/// A point at which the integrand is evaluated.
struct Node<T> {
    x: Number<T>,
    weight: Number<T>,
    /// The rounding of the point, relative to its distance from the nearer end.
    blur: f64,
}
