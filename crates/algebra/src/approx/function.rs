//! Enclosures of the known functions.

use std::cmp::Ordering;

use dashu_int::ops::{BitTest as _, UnsignedAbs as _};
use dashu_int::{IBig, Sign};

use super::bound::{Bound, Pair};
use super::component::{Component, sign_of};
use super::context::{Context, Step, StepError};
use super::gamma::gamma;
use super::interval::{self, Interval};
use super::number::Number::{self, Complex, Infinite, Real};
use super::rational;
use crate::expr::{Function, Rational};

/// A known function of evaluated arguments.
pub(super) fn call<T: Bound>(function: Function, args: &[Number<T>], cx: &Context<'_>) -> Step<Number<T>> {
    match (function, args) {
        (Function::Gcd | Function::Lcm | Function::Max | Function::Min, [first, rest @ ..]) => {
            if matches!(function, Function::Gcd | Function::Lcm) && rest.is_empty() {
                return Err(StepError::Unsupported);
            }
            rest.iter().try_fold(first.clone(), |so_far, next| match function {
                Function::Gcd | Function::Lcm => gcd_or_lcm(function, so_far, next.clone(), cx),
                _ => max_or_min(so_far, next, function == Function::Max, cx),
            })
        }
        (Function::Binomial, [n, k]) => binomial(n, k, cx),
        (Function::Mod, [a, b]) => {
            let (a, b) = (a.clone().real()?, b.clone().real()?);
            let turns = a.div(&b, cx)?.floor(cx)?;
            Ok(Real(a.sub(&b.mul(&turns, cx)?, cx)?))
        }
        (_, [x]) => unary(function, x, cx),
        _ => Err(StepError::Unsupported),
    }
}

fn unary<T: Bound>(function: Function, x: &Number<T>, cx: &Context<'_>) -> Step<Number<T>> {
    let one = || Number::<T>::int(1);
    match function {
        Function::Sin => Ok(sin_cos(x, cx)?.0),
        Function::Cos => Ok(sin_cos(x, cx)?.1),
        Function::Tan | Function::Cot => {
            if let Real(Component::Pi(multiple)) = x
                && *multiple.denominator() == 4_u8.into()
            {
                let falls = multiple.numerator().bit(1);
                return Ok(Number::int(if falls { -1 } else { 1 }));
            }
            let (sin, cos) = sin_cos(x, cx)?;
            if function == Function::Tan { sin.div(&cos, cx) } else { cos.div(&sin, cx) }
        }
        Function::Sec => sin_cos(x, cx)?.1.inverse(cx),
        Function::Csc => sin_cos(x, cx)?.0.inverse(cx),
        Function::Arcsin => arcsin(x, cx),
        Function::Arccos => half_pi().sub(&arcsin(x, cx)?, cx),
        Function::Arctan => arctan(x, cx),
        Function::Arccot if x.is_zero() => Ok(half_pi()),
        Function::Arccot => arctan(&x.inverse(cx)?, cx),
        Function::Arcsec => half_pi().sub(&arcsin(&x.inverse(cx)?, cx)?, cx),
        Function::Arccsc => arcsin(&x.inverse(cx)?, cx),
        Function::Sinh => sinh(x, cx),
        Function::Csch => sinh(x, cx)?.inverse(cx),
        Function::Cosh => cosh(x, cx),
        Function::Sech => cosh(x, cx)?.inverse(cx),
        Function::Tanh => tanh(x, cx),
        Function::Coth => tanh(x, cx)?.inverse(cx),
        Function::Arsinh => match x {
            Infinite(_) => Ok(x.clone()),
            Real(part) if part.sign() == Some(Ordering::Less) => Ok(unary(function, &x.neg(), cx)?.neg()),
            _ => x.add(&x.square(cx)?.add(&one(), cx)?.sqrt(cx)?, cx)?.ln(cx),
        },
        Function::Arcosh => {
            let root = x.sub(&one(), cx)?.sqrt(cx)?.mul(&x.add(&one(), cx)?.sqrt(cx)?, cx)?;
            x.add(&root, cx)?.ln(cx)
        }
        Function::Artanh => {
            let ratio = one().add(x, cx)?.div(&one().sub(x, cx)?, cx)?;
            ratio.ln(cx)?.half(cx)
        }
        Function::Ln => x.ln(cx),
        Function::Abs => x.clone().abs(cx),
        Function::Sign => match x {
            Infinite(negative) => Ok(Number::int(if *negative { -1 } else { 1 })),
            Real(part) => match part.sign() {
                Some(sign) => Ok(Number::int(sign as i32)),
                None => Err(StepError::Imprecise),
            },
            Complex(..) => x.div(&x.clone().abs(cx)?, cx),
        },
        Function::Floor | Function::Ceil if matches!(x, Infinite(_)) => Ok(x.clone()),
        Function::Floor => Ok(Real(x.clone().real()?.floor(cx)?)),
        Function::Ceil => Ok(Real(x.clone().real()?.neg().floor(cx)?.neg())),
        Function::Factorial => factorial(x, cx),
        Function::DoubleFactorial => double_factorial(x, cx),
        Function::Gamma => match x {
            Infinite(false) => Ok(Infinite(false)),
            _ => Ok(Real(gamma(&x.clone().real()?, cx)?)),
        },
        Function::Re => Ok(Real(x.clone().parts()?.0)),
        Function::Im => Ok(Real(x.clone().parts()?.1)),
        Function::Conjugate => Ok(x.clone().conjugate()),
        Function::Arg => match x {
            Infinite(negative) => Ok(Real(Component::pi(Rational::from(i32::from(*negative))))),
            _ => Ok(Real(x.clone().arg(cx)?)),
        },
        _ => Err(StepError::Unsupported),
    }
}

fn half_pi<T: Bound>() -> Number<T> {
    Real(Component::pi(Rational::from_parts(1.into(), 2_u8.into())))
}

/// Sine and cosine of a real or complex number.
pub(super) fn sin_cos<T: Bound>(x: &Number<T>, cx: &Context<'_>) -> Step<Pair<Number<T>>> {
    match x {
        Infinite(_) => Err(StepError::Undefined),
        Real(part) => {
            let (sin, cos) = part.sin_cos(cx)?;
            Ok((Real(sin), Real(cos)))
        }
        Complex(a, b) => {
            let (sin, cos) = a.sin_cos(cx)?;
            let b = Real(b.clone());
            let (up, along) = (sinh(&b, cx)?.real()?, cosh(&b, cx)?.real()?);
            Ok((
                Number::of(sin.mul(&along, cx)?, cos.mul(&up, cx)?),
                Number::of(cos.mul(&along, cx)?, sin.mul(&up, cx)?.neg()),
            ))
        }
    }
}

fn sinh<T: Bound>(x: &Number<T>, cx: &Context<'_>) -> Step<Number<T>> {
    if x.is_zero() || matches!(x, Infinite(_)) {
        return Ok(x.clone());
    }
    let grown = x.exp(cx)?;
    grown.sub(&x.neg().exp(cx)?, cx)?.half(cx)
}

fn cosh<T: Bound>(x: &Number<T>, cx: &Context<'_>) -> Step<Number<T>> {
    match x {
        Infinite(_) => Ok(Infinite(false)),
        _ if x.is_zero() => Ok(Number::int(1)),
        _ => x.exp(cx)?.add(&x.neg().exp(cx)?, cx)?.half(cx),
    }
}

fn tanh<T: Bound>(x: &Number<T>, cx: &Context<'_>) -> Step<Number<T>> {
    if x.is_zero() {
        return Ok(x.clone());
    }
    // 1 − 2/(e^2x + 1): the argument occurs once, so that an enclosure stays tight.
    let (one, two) = (Number::int(1), Number::int(2));
    let grown = x.mul(&two, cx)?.exp(cx)?;
    one.sub(&two.div(&grown.add(&one, cx)?, cx)?, cx)
}

fn arcsin<T: Bound>(x: &Number<T>, cx: &Context<'_>) -> Step<Number<T>> {
    if let Real(part) = x {
        if let Component::Exact(value) = part {
            let doubled = value * Rational::from(2);
            if doubled.is_int() && *value >= Rational::NEG_ONE && *value <= Rational::ONE {
                let sixths = match i8::try_from(doubled.numerator()) {
                    Ok(n @ (-2 | 2)) => 3 * i32::from(n) / 2,
                    Ok(n) => i32::from(n),
                    Err(_) => 0,
                };
                return Ok(Real(Component::pi(Rational::from_parts(sixths.into(), 6_u8.into()))));
            }
        }
        match part.abs().order(&Component::int(1), cx)? {
            Some(Ordering::Greater) => {}
            Some(_) => return Ok(Real(part.map_interval(cx, interval::arcsin)?)),
            None => return Err(StepError::Imprecise),
        }
    }
    // −i·ln(iz + √(1 − z²))
    let root = Number::int(1).sub(&x.square(cx)?, cx)?.sqrt(cx)?;
    let inner = Number::i().mul(x, cx)?.add(&root, cx)?;
    Number::i().neg().mul(&inner.ln(cx)?, cx)
}

fn arctan<T: Bound>(x: &Number<T>, cx: &Context<'_>) -> Step<Number<T>> {
    match x {
        Infinite(negative) => Ok(if *negative { half_pi().neg() } else { half_pi() }),
        Real(Component::Exact(value)) if value.is_zero() => Ok(x.clone()),
        Real(Component::Exact(value)) if value.is_one() || *value == Rational::NEG_ONE => {
            Ok(Real(Component::pi(value * Rational::from_parts(1.into(), 4_u8.into()))))
        }
        Real(part) => Ok(Real(part.map_interval(cx, Interval::atan)?)),
        Complex(..) => {
            // i/2·(ln(1 − iz) − ln(1 + iz))
            let (one, turned) = (Number::int(1), Number::i().mul(x, cx)?);
            let difference = one.sub(&turned, cx)?.ln(cx)?.sub(&one.add(&turned, cx)?.ln(cx)?, cx)?;
            Number::i().half(cx)?.mul(&difference, cx)
        }
    }
}

fn gcd_or_lcm<T: Bound>(function: Function, a: Number<T>, b: Number<T>, cx: &Context<'_>) -> Step<Number<T>> {
    let (a, b) = (a.real()?, b.real()?);
    let (Some(a), Some(b)) = (a.integer(), b.integer()) else {
        return Err(StepError::Unsupported);
    };
    let result = match function {
        Function::Gcd => rational::gcd(cx, a, b)?,
        _ => rational::lcm(cx, a, b)?.ok_or(StepError::Unsupported)?,
    };
    Ok(Number::exact(result.into()))
}

fn max_or_min<T: Bound>(a: Number<T>, b: &Number<T>, largest: bool, cx: &Context<'_>) -> Step<Number<T>> {
    match (&a, b) {
        (Infinite(negative), _) => Ok(if *negative == largest { b.clone() } else { a }),
        (_, Infinite(negative)) => Ok(if *negative == largest { a } else { b.clone() }),
        (Real(x), Real(y)) => {
            if let Some(order) = x.order(y, cx)? {
                return Ok(if (order == Ordering::Less) == largest { b.clone() } else { a });
            }
            let (x, y) = (x.span(cx)?, y.span(cx)?);
            let (outer, inner) = (x.hull(&y), x.common(&y));
            let (low, high) = if largest { (inner.low, outer.high) } else { (outer.low, inner.high) };
            Ok(Real(Component::Interval(Interval { low, high })))
        }
        _ => Err(StepError::Unsupported),
    }
}

fn factorial<T: Bound>(x: &Number<T>, cx: &Context<'_>) -> Step<Number<T>> {
    if let Infinite(false) = x {
        return Ok(Infinite(false));
    }
    let x = x.clone().real()?;
    Ok(Real(gamma(&x.add(&Component::int(1), cx)?, cx)?))
}

fn double_factorial<T: Bound>(x: &Number<T>, cx: &Context<'_>) -> Step<Number<T>> {
    let x = x.clone().real()?;
    let n = x.integer().ok_or(StepError::Unsupported)?;
    if *n == IBig::NEG_ONE {
        return Ok(Number::int(1));
    }
    if n.sign() == Sign::Negative {
        return Err(StepError::Unsupported);
    }
    if let Some(value) = rational::factorial(cx, &n.unsigned_abs(), 2)? {
        return Ok(Number::exact(value));
    }
    // n!! is between √(n!) and √((n+1)!).
    let end = |n: IBig| factorial(&Number::<T>::exact(n.into()), cx)?.sqrt(cx)?.real()?.span(cx);
    Ok(Real(Component::Interval(end(n.clone())?.hull(&end(n + IBig::ONE)?))))
}

fn binomial<T: Bound>(n: &Number<T>, k: &Number<T>, cx: &Context<'_>) -> Step<Number<T>> {
    if let (Real(Component::Exact(n)), Real(Component::Exact(k))) = (n, k)
        && k.is_int()
        && let Some(value) = rational::binomial(cx, n, k.numerator())?
    {
        return Ok(Number::exact(value));
    }
    if let Real(Component::Exact(count)) = k
        && count.is_int()
        && let Ok(count) = u16::try_from(count.numerator())
        && count <= 500
    {
        let mut product = Number::int(1);
        for i in 0..i32::from(count) {
            let factor = n.sub(&Number::int(i), cx)?.div(&Number::int(i + 1), cx)?;
            product = product.mul(&factor, cx)?;
        }
        return Ok(product);
    }
    if matches!(n, Real(Component::Exact(n)) if n.is_int() && sign_of(n) == Ordering::Less) {
        return Err(StepError::Unsupported);
    }
    let (above, below) = (factorial(n, cx)?, factorial(k, cx)?);
    let rest = factorial(&n.sub(k, cx)?, cx)?;
    above.div(&below.mul(&rest, cx)?, cx)
}
