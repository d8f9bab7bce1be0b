//! The question forms, one file per family.

mod count;
mod fraction;
mod gcd;
mod linear;
mod order;
mod percent;
mod power;
mod product;
mod remainder;
mod sequence;
mod series;
mod sum;
mod system;

use super::Family;
use super::form::{Form, Ranges};

/// The forms of a family.
pub(super) fn of(family: Family) -> &'static [Form] {
    match family {
        Family::Sum => sum::FORMS,
        Family::Product => product::FORMS,
        Family::Fraction => fraction::FORMS,
        Family::Power => power::FORMS,
        Family::Remainder => remainder::FORMS,
        Family::Gcd => gcd::FORMS,
        Family::Linear => linear::FORMS,
        Family::System => system::FORMS,
        Family::Sequence => sequence::FORMS,
        Family::Series => series::FORMS,
        Family::Count => count::FORMS,
        Family::Percent => percent::FORMS,
        Family::Order => order::FORMS,
    }
}

/// All forms.
pub(super) fn forms() -> impl Iterator<Item = &'static Form> {
    Family::ALL.iter().flat_map(|family| of(*family))
}
