//! The elementary functions of arbitrary precision, each with a bound on its error.
//!
//! Arguments are reduced with constants of enough places, then summed at a fixed point. A *unit* below is one
//! in the last place of that fixed point; every truncation costs at most one.

use std::cmp::Ordering;

use dashu_int::IBig;
use dashu_int::ops::{BitTest as _, DivRemEuclid as _};

use super::big::Big;
use super::bound::{Bound as _, Pair, Rounding};
use super::constant::{Fraction, LN2, PI};

/// The highest precision that the constants allow.
pub(super) const MAX_BITS: u32 = 1024;
/// Sine and cosine of arguments from 2 to this power are not computed.
const MAX_EXPONENT: i64 = 1900;

/// `value ± error`, in units of 2^`exponent`.
fn around(value: &IBig, error: &IBig, exponent: i64, bits: u32) -> Pair<Big> {
    (
        Big::rounded(value - error, exponent, bits, Rounding::Down),
        Big::rounded(value + error, exponent, bits, Rounding::Up),
    )
}

fn one(shift: u32) -> IBig {
    IBig::ONE << (shift as usize)
}

pub(super) fn constant(of: &Fraction, bits: u32) -> Pair<Big> {
    let places = (bits + 8).min(of.places());
    around(&of.at(places), &IBig::from(2), -i64::from(places), bits)
}

/// A pair of bounds near ±x for tiny x, where f(x) = x·(1 − something below 2^-bits).
fn almost(x: &Big, bits: u32) -> Pair<Big> {
    let less = Big::rounded(one(bits + 1) - IBig::ONE, -i64::from(bits) - 1, bits + 2, Rounding::Down);
    if x.sign() == Ordering::Less {
        (Big::add(x, &Big::ZERO, bits, Rounding::Down), Big::mul(x, &less, bits, Rounding::Up))
    } else {
        (Big::mul(x, &less, bits, Rounding::Down), Big::add(x, &Big::ZERO, bits, Rounding::Up))
    }
}

pub(super) fn exp(x: &Big, bits: u32) -> Pair<Big> {
    const HALVINGS: usize = 8;
    let negative = x.sign() == Ordering::Less;
    let Some(top) = x.exponent().filter(|top| *top <= 42) else {
        if x.sign() == Ordering::Equal {
            return (Big::small(1), Big::small(1));
        }
        let far = if negative { -(1 << 42) } else { 1 << 42 };
        return (
            Big::rounded(IBig::ONE, far, bits, Rounding::Down),
            Big::rounded(IBig::ONE, far, bits, Rounding::Up),
        );
    };
    if top < -i64::from(bits) {
        // 1 + x ≤ e^x, and e^x is at most 1 + 2x above zero and 1 + x/2 below it, for |x| < 1/2.
        let slope = if negative { x.half() } else { Big::add(x, x, bits, Rounding::Up) };
        let unit = Big::small(1);
        return (Big::add(&unit, x, bits, Rounding::Down), Big::add(&unit, &slope, bits, Rounding::Up));
    }
    let w = bits + 28;
    let places = w + 48;
    // x = n·ln 2 + r with |n| < 2^43, so the two units of ln 2 cost r less than one unit at w places.
    let (n, r) = x.fixed(i64::from(places)).div_rem_euclid(LN2.at(places));
    let r: IBig = IBig::from(r) >> (48 + HALVINGS);
    let mut term = one(w);
    let mut sum = term.clone();
    for i in 1..2 * w {
        term = ((&term * &r) >> (w as usize)) / i;
        if term.is_zero() {
            break;
        }
        sum += &term;
    }
    // The sum is off by at most a unit or two per term and the tail; squaring doubles that eight times, and
    // the values themselves are at most 2. With fewer than 2^8 terms this stays below 2^19 units.
    for _ in 0..HALVINGS {
        sum = (&sum * &sum) >> (w as usize);
    }
    let n = i64::try_from(n).unwrap_or(0);
    around(&sum, &one(19), n - i64::from(w), bits)
}

pub(super) fn ln(x: &Big, bits: u32) -> Pair<Big> {
    let Some(top) = x.exponent() else {
        return (Big::of_f64(1e11), Big::infinite(false));
    };
    // x = f·2^scale with f in [3/4, 3/2).
    let three_quarters = Big::rounded(IBig::from(3), top - 2, 8, Rounding::Down);
    let scale = if *x < three_quarters { top - 1 } else { top };
    let Some((mantissa, exponent)) = x.parts() else {
        return (Big::infinite(true), Big::infinite(false));
    };
    let f = Big::rounded(mantissa.clone(), exponent - scale, u32::MAX, Rounding::Down);
    let off = Big::add(&f, &Big::small(-1), u32::MAX, Rounding::Down);
    let Some(off_top) = off.exponent() else {
        let (low, high) = constant(&LN2, bits);
        let scale = Big::rounded(IBig::from(scale), 0, 64, Rounding::Down);
        let (low, high) = if scale.sign() == Ordering::Less { (high, low) } else { (low, high) };
        return (Big::mul(&scale, &low, bits, Rounding::Down), Big::mul(&scale, &high, bits, Rounding::Up));
    };
    // Near one the logarithm is small: as many more places keep it sharp.
    let more = if scale == 0 { u32::try_from(-off_top).unwrap_or(0).min(4 * MAX_BITS) } else { 0 };
    let w = bits + 20 + more;
    let fixed = f.fixed(i64::from(w));
    let (start, near) = if off_top < -16 {
        (IBig::ZERO, one(w))
    } else {
        let start = Big::of_f64(libm::log(f.to_f64(Rounding::Down)));
        let near = exp(&start, w).0;
        (start.fixed(i64::from(w)), near.fixed(i64::from(w)))
    };
    // ln f = start + 2·artanh((f − near)/(f + near)), where near = e^start to within two units.
    let t = ((&fixed - &near) << (w as usize)) / (&fixed + &near);
    let square = (&t * &t) >> (w as usize);
    let (mut power, mut sum) = (t.clone(), t);
    for i in 1..w {
        power = (&power * &square) >> (w as usize);
        let term = &power / (2 * i + 1);
        if term.is_zero() || power == IBig::NEG_ONE {
            break;
        }
        sum += term;
    }
    let scaled = (LN2.at(w + 48) * scale) >> 48;
    let value = start + (sum << 1) + scaled;
    around(&value, &one(11), -i64::from(w), bits)
}

pub(super) fn sin_cos(x: &Big, bits: u32) -> (Pair<Big>, Pair<Big>) {
    let unit = Big::small(1);
    let Some(top) = x.exponent().filter(|top| *top < MAX_EXPONENT) else {
        if x.sign() == Ordering::Equal {
            return ((Big::ZERO, Big::ZERO), (unit.clone(), unit));
        }
        let all = (unit.neg(), unit);
        return (all.clone(), all);
    };
    if top < -i64::from(bits) {
        return (almost(x, bits), (almost(&unit, bits).0, unit));
    }
    let w = bits + 20 + u32::try_from(-top).unwrap_or(0);
    let places = w + 8 + u32::try_from(top).unwrap_or(0);
    // x = n·π/2 + r; n is below 2^top, so the error of π/2 costs r less than a unit at w places.
    let half_pi = PI.at(places) >> 1;
    let turned = x.fixed(i64::from(places)) + (&half_pi >> 1);
    let (n, r) = turned.div_rem_euclid(&half_pi);
    let r = (IBig::from(r) - (&half_pi >> 1)) >> ((places - w) as usize);
    let square = (&r * &r) >> (w as usize);
    let (mut sin, mut cos) = (IBig::ZERO, IBig::ZERO);
    let (mut odd, mut even) = (r, one(w));
    for i in 0..w {
        if i % 2 == 0 {
            sin += &odd;
            cos += &even;
        } else {
            sin -= &odd;
            cos -= &even;
        }
        even = ((&even * &square) >> (w as usize)) / ((2 * i + 1) * (2 * i + 2));
        odd = (&odd * &square / ((2 * i + 2) * (2 * i + 3))) >> (w as usize);
        if even.is_zero() {
            break;
        }
    }
    let quarter = u8::try_from(n & IBig::from(3)).unwrap_or(0);
    let (sin, cos) = match quarter {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    };
    let clip = |value: &IBig| {
        let (low, high) = around(value, &one(11), -i64::from(w), bits);
        (
            if low < Big::small(-1) { Big::small(-1) } else { low },
            if high > Big::small(1) { Big::small(1) } else { high },
        )
    };
    (clip(&sin), clip(&cos))
}

pub(super) fn atan(x: &Big, bits: u32) -> Pair<Big> {
    let Some(top) = x.exponent() else {
        let (low, high) = constant(&PI, bits);
        return match x.sign() {
            Ordering::Equal => (Big::ZERO, Big::ZERO),
            Ordering::Greater => (low.half(), high.half()),
            Ordering::Less => (high.half().neg(), low.half().neg()),
        };
    };
    if top < -i64::from(bits) {
        return almost(x, bits);
    }
    let w = bits + 24;
    let start = Big::of_f64(libm::atan(x.to_f64(Rounding::Down)));
    let (sin, cos) = sin_cos(&start, w);
    let down = Rounding::Down;
    // atan x = start + atan((x·cos start − sin start)/(cos start + x·sin start)).
    let above = Big::add(&Big::mul(x, &cos.0, w, down), &sin.0.neg(), w, down);
    let below = Big::add(&Big::mul(x, &sin.0, w, down), &cos.0, w, down);
    let t = Big::div(&above, &below, w, down);
    let square = Big::mul(&t, &t, w, down).neg();
    let (mut power, mut sum) = (t.clone(), Big::add(&start, &t, w, down));
    for i in 1..bits {
        power = Big::mul(&power, &square, w, down);
        let term = Big::div(&power, &Big::small(i32::try_from(2 * i + 1).unwrap_or(i32::MAX)), w, down);
        if term
            .exponent()
            .is_none_or(|small| sum.exponent().is_some_and(|large| small < large - i64::from(w)))
        {
            break;
        }
        sum = Big::add(&sum, &term, w, down);
    }
    // Each of the fewer than 2^6 operations is off by 2^-w of values of the size of x or of the result.
    let Some((value, exponent)) = sum.parts() else { return (sum.clone(), sum) };
    let grown = value << 16;
    let error = IBig::ONE << ((grown.bit_len() + 12).saturating_sub(w as usize));
    around(&grown, &error, exponent - 16, bits)
}
