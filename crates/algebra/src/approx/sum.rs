//! Sums and products over the integers between two bounds.

use std::cmp::Ordering;

use dashu_int::IBig;

use super::bound::Bound;
use super::component::Component;
use super::context::{Context, StepError};
use super::number::Number::{self, Infinite, Real};
use super::walk::Scope;
use super::{limit, rational, tail};
use crate::expr::{Bind, Rational};

/// The most terms added one by one.
const TERMS: u32 = 20_000;
/// A running fraction longer than this goes on as an enclosure: adding to it would cost too much.
const LONGEST: usize = 1_500;

/// The bounds, as integers; none for an upper bound at infinity.
fn ends<T: Bound>(from: &Number<T>, to: &Number<T>) -> Result<(IBig, Option<IBig>), StepError> {
    let whole = |end: &Number<T>| -> Result<IBig, StepError> {
        end.clone().real()?.integer().cloned().ok_or(StepError::Unsupported)
    };
    Ok(match to {
        Infinite(false) => (whole(from)?, None),
        _ => (whole(from)?, Some(whole(to)?)),
    })
}

/// The sum.
pub(super) fn sum<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    from: &Number<T>,
    to: &Number<T>,
    cx: &Context<'_>,
) -> Result<Number<T>, StepError> {
    let (from, to) = ends(from, to)?;
    match to {
        Some(to) if &to - &from < IBig::from(TERMS) => {
            one_by_one(scope, bind, from, &to, cx, Number::int(0), Number::add)
        }
        Some(to) => tail::long(scope, bind, &from, &to, cx),
        None => {
            cx.guess()?;
            tail::endless(scope, bind, &from, cx)
        }
    }
}

/// The product.
pub(super) fn product<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    from: &Number<T>,
    to: &Number<T>,
    cx: &Context<'_>,
) -> Result<Number<T>, StepError> {
    let (from, to) = ends(from, to)?;
    match to {
        Some(to) if &to - &from < IBig::from(TERMS) => {
            one_by_one(scope, bind, from, &to, cx, Number::int(1), Number::mul)
        }
        Some(_) => Err(StepError::Unsupported),
        None => {
            cx.guess()?;
            // Partial products at doubling lengths, extrapolated.
            let mut partial = Number::int(1);
            let mut next = from;
            let mut found = Vec::new();
            for level in 3..12 {
                let to = &next + IBig::from(1 << level);
                partial = one_by_one(scope, bind, next, &to, cx, partial, Number::mul)?;
                found.push(partial.clone());
                next = to + IBig::ONE;
            }
            limit::extrapolated(&found, cx)
        }
    }
}

type Join<T> = fn(&Number<T>, &Number<T>, &Context<'_>) -> Result<Number<T>, StepError>;

fn one_by_one<'a, T: Bound>(
    scope: &mut Scope<'a, T>,
    bind: &'a Bind,
    from: IBig,
    to: &IBig,
    cx: &Context<'_>,
    start: Number<T>,
    join: Join<T>,
) -> Result<Number<T>, StepError> {
    let mut total = start;
    let mut k = from;
    while k.cmp(to) != Ordering::Greater {
        let term = scope.with(&bind.variable, Number::exact(Rational::from(k.clone())), &bind.body, cx)?;
        total = join(&total, &term, cx)?;
        if let Real(Component::Exact(value)) = &total
            && !value.is_int()
            && rational::size(value) > LONGEST
        {
            total = Real(Component::Interval(Component::Exact(value.clone()).span(cx)?));
        }
        k += IBig::ONE;
    }
    Ok(total)
}
