//! The result of an evaluation: an exact number, an infinity or an enclosure.

use std::cmp::Ordering;

use super::big::Big;
use super::bound::Bound;
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

/// A rectangle of the complex plane that holds a number.
#[derive(Clone, Debug)]
pub struct Enclosure {
    re: Component<Big>,
    im: Component<Big>,
    rigorous: bool,
    /// The precision of the bounds.
    bits: u32,
}

/// Bits of precision added to the bounds of exact parts.
const EXTRA_BITS: u32 = 64;

/// A rational number, or, if the flag is set, a rational multiple of π.
type Closed<'a> = Option<(&'a Rational, bool)>;

impl<T: Bound> Component<T> {
    /// The rational number, or the rational multiple of π, that it is known to be.
    fn closed(&self) -> Closed<'_> {
        match self {
            Self::Exact(value) => Some((value, false)),
            Self::Pi(value) => Some((value, true)),
            Self::Interval(_) => None,
        }
    }

    /// The same part with bounds of any precision.
    fn into_big(self) -> Component<Big> {
        match self {
            Self::Exact(value) => Component::Exact(value),
            Self::Pi(value) => Component::Pi(value),
            Self::Interval(span) => {
                Component::Interval(Interval { low: span.low.to_big(), high: span.high.to_big() })
            }
        }
    }
}

impl Enclosure {
    /// Bounds of the real and of the imaginary part, without counting fuel.
    fn spans(&self) -> (Interval<Big>, Interval<Big>) {
        let bits = self.bits + EXTRA_BITS;
        (self.re.unpaid_span(bits), self.im.unpaid_span(bits))
    }

    /// Bounds of the imaginary part.
    pub fn imaginary_bounds(&self) -> (f64, f64) {
        let span = self.spans().1.to_f64();
        (span.low, span.high)
    }
}

impl Value {
    pub(super) fn of<T: Bound>(number: Number<T>, rigorous: bool, bits: u32) -> Self {
        let (re, im) = match number {
            Number::Infinite(negative) => return Self::Infinite { negative },
            Number::Real(Component::Exact(value)) if rigorous => return Self::Exact(value),
            Number::Real(re) => (re, Component::zero()),
            Number::Complex(re, im) => (re, im),
        };
        Self::Ball(Enclosure { re: re.into_big(), im: im.into_big(), rigorous, bits })
    }

    /// Bounds of the real part as doubles; an infinity is its own bounds.
    pub fn to_f64_bounds(&self) -> (f64, f64) {
        let span = match self {
            Self::Exact(value) => Interval::<f64>::of_rational(value, EXTRA_BITS),
            Self::Ball(ball) => ball.spans().0.to_f64(),
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
            (false, false) if low < 0.0 && high > 0.0 => 0.0,
            (false, _) => low,
        }
    }

    /// Whether the bounds are proven: nothing estimated took part.
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
            Self::Ball(ball) => ball.im.is_zero(),
            Self::Infinite { .. } => false,
        }
    }

    /// Surely a number with an imaginary part.
    pub fn is_surely_not_real(&self) -> bool {
        matches!(self, Self::Ball(ball) if !matches!(ball.im.sign(), None | Some(Ordering::Equal)))
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
            Self::Ball(ball) => ball.im.is_zero().then(|| ball.re.sign()).flatten(),
        }
    }

    /// The order of two real numbers or infinities, where it is known. Equal only where both are exact.
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Exact(a), Self::Exact(b)) => return Some(a.cmp(b)),
            (Self::Infinite { negative: a }, Self::Infinite { negative: b }) => return Some(b.cmp(a)),
            (Self::Infinite { .. }, _) => return other.is_real().then(|| self.sign()).flatten(),
            (_, Self::Infinite { .. }) => return other.order(self).map(Ordering::reverse),
            _ if !self.is_real() || !other.is_real() => return None,
            _ => {}
        }
        if let (Some((a, pi_a)), Some((b, pi_b))) = (self.closed(), other.closed())
            && pi_a == pi_b
        {
            return Some(a.cmp(b));
        }
        self.spans().0.order(&other.spans().0)
    }

    /// The rational number, or the rational multiple of π, that it is known to be.
    pub(super) fn closed(&self) -> Closed<'_> {
        match self {
            Self::Exact(value) => Some((value, false)),
            Self::Ball(ball) if ball.im.is_zero() => ball.re.closed(),
            _ => None,
        }
    }

    /// Bounds of the real and of the imaginary part.
    pub(super) fn spans(&self) -> (Interval<Big>, Interval<Big>) {
        match self {
            Self::Exact(value) => (Interval::of_rational(value, super::MAX_BITS), Interval::small(0)),
            Self::Infinite { negative } => (Interval::point(Big::infinite(*negative)), Interval::small(0)),
            Self::Ball(ball) => ball.spans(),
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

    /// Both are complex numbers whose parts are known exactly, and the same.
    pub(super) fn exact_complex(&self, other: &Self) -> bool {
        let (Self::Ball(a), Self::Ball(b)) = (self, other) else { return false };
        let same = |a: Closed<'_>, b: Closed<'_>| a.is_some() && a == b;
        a.rigorous && b.rigorous && same(a.re.closed(), b.re.closed()) && same(a.im.closed(), b.im.closed())
    }
}

/// The relative and the absolute accuracy of a rectangle in bits, at most `most` each.
pub(super) fn sharpness(re: &Interval<Big>, im: &Interval<Big>, most: u32) -> (u32, u32) {
    let larger = |a: Big, b: Big| if a >= b { a } else { b };
    let (wide, large) =
        (larger(re.width(EXTRA_BITS), im.width(EXTRA_BITS)), larger(re.abs().high, im.abs().high));
    let cap = |bits: i64| u32::try_from(bits.clamp(0, i64::from(most))).unwrap_or(0);
    match (wide.exponent(), large.exponent()) {
        _ if !wide.is_finite() => (0, 0),
        (None, _) => (most, most),
        (Some(wide), Some(large)) => (cap(large - wide), cap(-wide)),
        (Some(wide), None) => (0, cap(-wide)),
    }
}
