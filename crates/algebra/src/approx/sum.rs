//! Sums and products over the integers between two bounds.

use dashu_int::IBig;

use super::bound::Bound;
use super::component::Component;
use super::context::{Context, Step, StepError};
use super::number::Number::{self, Infinite, Real};
use super::operator::Body;
use super::{limit, rational};

/// The most terms added one by one.
const TERMS: u32 = 20_000;
/// The longest exact running fraction in bits; a longer one becomes an enclosure, as adding to it costs too much.
const LONGEST: usize = 1_500;

/// The bounds, as integers; none for an upper bound at infinity.
fn ends<T: Bound>(from: &Number<T>, to: &Number<T>) -> Step<(IBig, Option<IBig>)> {
    let whole = |end: &Number<T>| end.clone().real()?.integer().cloned().ok_or(StepError::Unsupported);
    Ok(match to {
        Infinite(false) => (whole(from)?, None),
        _ => (whole(from)?, Some(whole(to)?)),
    })
}

type Join<T> = fn(&Number<T>, &Number<T>, &Context<'_>) -> Step<Number<T>>;

impl<T: Bound> Body<'_, '_, T> {
    /// The sum.
    pub(super) fn sum(&mut self, from: &Number<T>, to: &Number<T>) -> Step<Number<T>> {
        match ends(from, to)? {
            (from, Some(to)) if &to - &from < IBig::from(TERMS) => {
                self.one_by_one(from, &to, Number::int(0), Number::add)
            }
            (from, Some(to)) => self.long_sum(&from, &to),
            (from, None) => {
                self.cx.allow_estimate()?;
                self.infinite_sum(&from)
            }
        }
    }

    /// The product.
    pub(super) fn product(&mut self, from: &Number<T>, to: &Number<T>) -> Step<Number<T>> {
        match ends(from, to)? {
            (from, Some(to)) if &to - &from < IBig::from(TERMS) => {
                self.one_by_one(from, &to, Number::int(1), Number::mul)
            }
            (_, Some(_)) => Err(StepError::Unsupported),
            (mut next, None) => {
                self.cx.allow_estimate()?;
                // Partial products at doubling lengths, extrapolated.
                let mut partial = Number::int(1);
                let mut found = Vec::new();
                for level in 3..12 {
                    let to = &next + IBig::from(1 << level);
                    partial = self.one_by_one(next, &to, partial, Number::mul)?;
                    found.push(partial.clone());
                    next = to + IBig::ONE;
                }
                limit::extrapolated(&found, self.cx)
            }
        }
    }

    /// The terms from one integer to another, joined to a start in order.
    pub(super) fn one_by_one(
        &mut self,
        from: IBig,
        to: &IBig,
        start: Number<T>,
        join: Join<T>,
    ) -> Step<Number<T>> {
        let mut total = start;
        let mut k = from;
        while k <= *to {
            total = join(&total, &self.term(&k)?, self.cx)?;
            if let Real(Component::Exact(value)) = &total
                && !value.is_int()
                && rational::size(value) > LONGEST
            {
                total = Number::interval(Component::Exact(value.clone()).span(self.cx)?);
            }
            k += IBig::ONE;
        }
        Ok(total)
    }
}
