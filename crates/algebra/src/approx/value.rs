//! The result of an evaluation: an exact number, an infinity or an enclosure.

use std::cmp::Ordering;

use super::big::Big;
use super::bound::{Bound, Rounding};
use super::component::{Component, sign_of};
use super::interval::Interval;
use super::number::Number;
use crate::expr::Rational;

/// The value of an expression.
#[derive(Clone, Debug)]
pub enum Value {
    /// A rational number: all arithmetic was exact.
    Exact(Rational),
    /// A finite number inside an enclosure.
    Ball(Enclosure),
    /// Plus infinity, or minus infinity.
    Infinite {
        /// Minus infinity.
        negative: bool,
    },
}

/// A rectangle of the complex plane that holds a number; its ends are at the precision asked for.
#[derive(Clone, Debug)]
pub struct Enclosure {
    pub(super) rectangle: Rectangle,
    pub(super) rigorous: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Rectangle {
    Double(Component<f64>, Component<f64>),
    Big(Component<Big>, Component<Big>),
}

/// A yes, a no, or not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ternary {
    /// Surely.
    Yes,
    /// Surely not.
    No,
    /// The enclosure is too wide to tell.
    Unclear,
}

/// Something of the ends of an enclosure that does not depend on their rectangle.
macro_rules! each {
    ($enclosure:expr, ($re:ident, $im:ident) => $body:expr) => {
        match &$enclosure.rectangle {
            Rectangle::Double($re, $im) => $body,
            Rectangle::Big($re, $im) => $body,
        }
    };
}

/// The precision at which exact parts are turned into bounds for callers.
const FINE: u32 = 64;

/// The bounds of a part, without counting fuel: at most a few words of an exact number are examined.
pub(super) fn bounds<T: Bound>(part: &Component<T>, bits: u32) -> Interval<T> {
    match part {
        Component::Exact(value) => Interval::of_rational(value, bits),
        Component::Pi(value) => Interval::of_rational(value, bits).mul(&Interval::pi(bits), bits),
        Component::Interval(span) => span.clone(),
    }
}

impl Enclosure {
    /// Whether the bounds are proven: nothing estimated took part.
    pub fn is_rigorous(&self) -> bool {
        self.rigorous
    }

    /// Bounds of the imaginary part.
    pub fn imaginary_bounds(&self) -> (f64, f64) {
        let span = each!(self, (_re, im) => bounds(im, FINE).to_f64());
        (span.low, span.high)
    }
}

impl Value {
    pub(super) fn of_double(number: Number<f64>, rigorous: bool) -> Self {
        Self::of(number, rigorous, Rectangle::Double)
    }

    pub(super) fn of_big(number: Number<Big>, rigorous: bool) -> Self {
        Self::of(number, rigorous, Rectangle::Big)
    }

    fn of<T: Bound>(
        number: Number<T>,
        rigorous: bool,
        rectangle: impl FnOnce(Component<T>, Component<T>) -> Rectangle,
    ) -> Self {
        let (re, im) = match number {
            Number::Infinite(negative) => return Self::Infinite { negative },
            Number::Real(Component::Exact(value)) if rigorous => return Self::Exact(value),
            Number::Real(re) => (re, Component::zero()),
            Number::Complex(re, im) => (re, im),
        };
        Self::Ball(Enclosure { rectangle: rectangle(re, im), rigorous })
    }

    /// Bounds of the real part as doubles; an infinity is its own bounds.
    pub fn to_f64_bounds(&self) -> (f64, f64) {
        let span = match self {
            Self::Exact(value) => Interval::<f64>::of_rational(value, FINE),
            Self::Ball(ball) => each!(ball, (re, _im) => bounds(re, FINE).to_f64()),
            Self::Infinite { negative } => Interval::point(f64::infinite(*negative)),
        };
        (span.low, span.high)
    }

    /// A double in the middle of the real part's bounds.
    pub fn to_f64(&self) -> f64 {
        let (low, high) = self.to_f64_bounds();
        match (low.is_finite(), high.is_finite()) {
            (true, true) => low * 0.5 + high * 0.5,
            (true, false) => high,
            (false, true) => low,
            (false, false) => {
                if low < 0.0 && high > 0.0 {
                    0.0
                } else {
                    low
                }
            }
        }
    }

    /// Whether the bounds are proven.
    pub fn is_rigorous(&self) -> bool {
        match self {
            Self::Ball(ball) => ball.rigorous,
            _ => true,
        }
    }

    /// Surely real (and finite).
    pub fn is_real(&self) -> bool {
        match self {
            Self::Exact(_) => true,
            Self::Ball(ball) => each!(ball, (_re, im) => im.is_zero()),
            Self::Infinite { .. } => false,
        }
    }

    /// Surely a number with an imaginary part.
    pub fn is_surely_not_real(&self) -> bool {
        match self {
            Self::Ball(ball) => each!(ball, (_re, im) => !matches!(im.sign(), None | Some(Ordering::Equal))),
            _ => false,
        }
    }

    /// One of the two infinities.
    pub fn is_infinite(&self) -> bool {
        matches!(self, Self::Infinite { .. })
    }

    /// The sign of a real number or an infinity, where it is known.
    pub fn sign(&self) -> Option<Ordering> {
        match self {
            Self::Exact(value) => Some(sign_of(value)),
            Self::Infinite { negative: true } => Some(Ordering::Less),
            Self::Infinite { negative: false } => Some(Ordering::Greater),
            Self::Ball(ball) => each!(ball, (re, im) => if im.is_zero() { re.sign() } else { None }),
        }
    }

    /// The order of two real numbers or infinities, where it is known. Equal only where both are exact.
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        if let (Self::Exact(a), Self::Exact(b)) = (self, other) {
            return Some(a.cmp(b));
        }
        if let (Self::Infinite { negative: a }, Self::Infinite { negative: b }) = (self, other) {
            return Some(b.cmp(a));
        }
        if self.is_infinite() {
            return other.is_real().then(|| self.sign()).flatten();
        }
        if other.is_infinite() {
            return other.order(self).map(Ordering::reverse);
        }
        let (Some(a), Some(b)) = (self.real_span(), other.real_span()) else {
            return None;
        };
        if let (Some((a, pi_a)), Some((b, pi_b))) = (self.closed(), other.closed())
            && pi_a == pi_b
        {
            return Some(a.cmp(b));
        }
        if a.high < b.low {
            Some(Ordering::Less)
        } else if a.low > b.high {
            Some(Ordering::Greater)
        } else {
            None
        }
    }

    /// The rational number, or the rational multiple of π (true), that it is known to be.
    pub(super) fn closed(&self) -> Option<(&Rational, bool)> {
        match self {
            Self::Exact(value) => Some((value, false)),
            Self::Ball(ball) if self.is_real() => each!(ball, (re, _im) => match re {
                Component::Exact(value) => Some((value, false)),
                Component::Pi(value) => Some((value, true)),
                Component::Interval(_) => None,
            }),
            _ => None,
        }
    }

    /// The real part at the precision of arbitrary precision.
    pub(super) fn real_span(&self) -> Option<Interval<Big>> {
        self.is_real().then(|| self.spans().0)
    }

    /// Real and imaginary part at the precision of arbitrary precision; an infinity is at the far end of it.
    pub(super) fn spans(&self) -> (Interval<Big>, Interval<Big>) {
        const BITS: u32 = super::kernel::MAX_BITS;
        let wide = |part: &Component<f64>| match part {
            Component::Exact(value) => bounds(&Component::Exact(value.clone()), BITS),
            Component::Pi(value) => bounds(&Component::Pi(value.clone()), BITS),
            Component::Interval(span) => {
                Interval { low: Big::of_f64(span.low), high: Big::of_f64(span.high) }
            }
        };
        match self {
            Self::Exact(value) => (Interval::of_rational(value, BITS), Interval::small(0)),
            Self::Infinite { negative } => (Interval::point(Big::infinity(*negative)), Interval::small(0)),
            Self::Ball(ball) => match &ball.rectangle {
                Rectangle::Double(re, im) => (wide(re), wide(im)),
                Rectangle::Big(re, im) => (bounds(re, BITS), bounds(im, BITS)),
            },
        }
    }

    /// Whether it is within an absolute distance of a rational number.
    pub fn agrees(&self, with: &Rational, within: &Rational) -> Ternary {
        const BITS: u32 = super::kernel::MAX_BITS;
        if let Self::Exact(value) = self {
            let (low, high) = (with - within, with + within);
            return if *value >= low && *value <= high { Ternary::Yes } else { Ternary::No };
        }
        if self.is_infinite() || self.is_surely_not_real() {
            return Ternary::No;
        }
        let (re, _) = self.spans();
        let reach = Interval::<Big> {
            low: Big::of_rational(&(with - within), BITS, Rounding::Down),
            high: Big::of_rational(&(with + within), BITS, Rounding::Up),
        };
        if !re.meets(&reach) {
            return Ternary::No;
        }
        let inner = Interval::<Big> {
            low: Big::of_rational(&(with - within), BITS, Rounding::Up),
            high: Big::of_rational(&(with + within), BITS, Rounding::Down),
        };
        if self.is_real() && inner.low <= re.low && re.high <= inner.high {
            Ternary::Yes
        } else {
            Ternary::Unclear
        }
    }

    /// How many leading bits of the larger of its two parts are known, at most `most`.
    pub fn known_bits(&self, most: u32) -> u32 {
        if !matches!(self, Self::Ball(_)) || self.closed().is_some() {
            return most;
        }
        let (re, im) = self.spans();
        sharpness(&re, &im, most).0
    }
}

/// The relative and the absolute accuracy of a rectangle in bits, at most `most` each.
pub(super) fn sharpness(re: &Interval<Big>, im: &Interval<Big>, most: u32) -> (u32, u32) {
    let width = |span: &Interval<Big>| span.high.add(&span.low.neg(), FINE, Rounding::Up);
    let (a, b) = (width(re), width(im));
    let wide = if a >= b { a } else { b };
    let (a, b) = (re.abs().high, im.abs().high);
    let large = if a >= b { a } else { b };
    let cap = |bits: i64| u32::try_from(bits.clamp(0, i64::from(most))).unwrap_or(0);
    match (wide.exponent(), large.exponent()) {
        _ if !wide.is_finite() => (0, 0),
        (None, _) => (most, most),
        (Some(wide), Some(large)) => (cap(large - wide), cap(-wide)),
        (Some(wide), None) => (0, cap(-wide)),
    }
}

impl Value {
    /// Both are complex numbers whose parts are known exactly, and the same.
    pub(super) fn exact_complex(&self, other: &Self) -> bool {
        let (Self::Ball(a), Self::Ball(b)) = (self, other) else { return false };
        let same = |a: Closed<'_>, b: Closed<'_>| a.is_some() && a == b;
        let (x, y) = (a.closed_parts(), b.closed_parts());
        a.rigorous && b.rigorous && same(x.0, y.0) && same(x.1, y.1)
    }
}

/// A rational number, or a rational multiple of π where true.
type Closed<'a> = Option<(&'a Rational, bool)>;

impl Enclosure {
    fn closed_parts(&self) -> (Closed<'_>, Closed<'_>) {
        fn closed<T>(part: &Component<T>) -> Closed<'_> {
            match part {
                Component::Exact(value) => Some((value, false)),
                Component::Pi(value) => Some((value, true)),
                Component::Interval(_) => None,
            }
        }
        each!(self, (re, im) => (closed(re), closed(im)))
    }
}
