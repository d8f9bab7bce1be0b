//! Sample points at which expressions are compared.

use super::value::wants_integers;
use aske_algebra::approx::Point;
use aske_algebra::expr::{Expr, Function, Rational, Symbol};
use dashu_int::IBig;

/// Coordinates between small primes: mostly positive, then negative, then larger.
const PLACES: &[(i64, u64)] = &[
    (37, 53),
    (71, 43),
    (19, 97),
    (113, 61),
    (-41, 67),
    (173, 79),
    (-83, 59),
    (31, 89),
    (211, 47),
    (-29, 103),
    (307, 101),
    (7, 127),
    (-151, 71),
];

/// Integers for what counts.
const COUNTS: &[i64] = &[7, 4, 9, 5, 11, 3, 8, 6, 12, 10, 13, 2];

/// Which kind of point suits a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Points {
    Fractions,
    Integers,
}

impl Points {
    pub(crate) fn for_expressions(a: &Expr, b: &Expr) -> Self {
        if wants_integers(a) || wants_integers(b) || counts(a) && counts(b) {
            Self::Integers
        } else {
            Self::Fractions
        }
    }

    /// The point of this index: every variable has a place of its own.
    pub(crate) fn point(self, names: &[Symbol], index: usize) -> Point {
        let place = |variable: usize| match self {
            Self::Fractions => {
                let (above, below) = PLACES[(index + variable * 5) % PLACES.len()];
                // TooLong the table, shifted: places stay different.
                let turn = (variable * 5 + index) / PLACES.len();
                Rational::from_parts(IBig::from(above), below.into()) + Rational::from(turn as u64)
            }
            Self::Integers => Rational::from(COUNTS[(index + variable * 5) % COUNTS.len()]),
        };
        Point::new(names.iter().enumerate().map(|(variable, name)| (name.clone(), place(variable))))
    }
}

/// Whether an expression is about integers by its letters: it rounds, and all of them usually count.
fn counts(expr: &Expr) -> bool {
    let rounds = |part: &Expr| matches!(part, Expr::Call(Function::Floor | Function::Ceil, _));
    let counting = |name: &Symbol| matches!(name.as_str(), "n" | "m" | "k" | "i" | "j" | "N");
    expr.any(&rounds) && aske_algebra::exact::free_symbols(expr).iter().all(counting)
}

/// How many points further out there are.
pub(crate) const WIDE: usize = 14;

/// Points further out, most of them whole: where functions have corners and jumps.
pub(crate) fn wide(names: &[Symbol], index: usize) -> Point {
    const PLACES: [i64; WIDE] = [1, 2, 3, 17, -4, 52, -31, 1_003, -997, 202, 1_000_003, -1_000_033, 101, 26];
    let place = |variable: usize| Rational::from(PLACES[(index + variable * 3) % WIDE]);
    Point::new(names.iter().enumerate().map(|(variable, name)| (name.clone(), place(variable))))
}

/// A negative number.
pub(crate) fn is_negative(expr: &Expr) -> bool {
    match expr {
        Expr::Number(value) | Expr::Decimal(value) => *value < Rational::ZERO,
        Expr::Product(parts) => parts.first().is_some_and(is_negative),
        _ => false,
    }
}
