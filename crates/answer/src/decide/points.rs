//! Sample points at which expressions are compared.

use super::value::wants_integers;
use aske_algebra::approx::Point;
use aske_algebra::expr::{Expr, Function, Rational, Symbol};
use dashu_int::{IBig, UBig};

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

/// The longest period that is examined.
const MAX_PERIOD: i64 = 120;

/// A common period, at integers, of the parts of two functions that turn: trigonometric functions of a variable, and powers
/// of negative and complex numbers. 1 where there is none, and `None` where it is too long.
pub(crate) fn period(a: &Expr, b: &Expr) -> Option<i64> {
    let mut period = 1_i64;
    for expr in [a, b] {
        let mut turning = Vec::new();
        turning_parts(expr, &mut turning);
        for part in turning {
            period = least_common_multiple(period, 4)?;
            let mut denominators = Vec::new();
            collect_denominators(part, &mut denominators);
            for below in denominators {
                period = least_common_multiple(period, i64::try_from(below).ok()?.checked_mul(2)?)?;
            }
        }
    }
    (period <= MAX_PERIOD).then_some(period)
}

fn turning_parts<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    use Function as F;
    let varies = |expr: &Expr| !super::value::is_closed(expr);
    let turns = match expr {
        Expr::Call(F::Sin | F::Cos | F::Tan | F::Cot | F::Sec | F::Csc, inside) => inside.iter().any(varies),
        Expr::Power(base, exponent) => {
            varies(exponent) && (is_negative(base) || base.has_i() || exponent.has_i())
        }
        _ => false,
    };
    if turns {
        found.push(expr);
    } else {
        expr.children().into_iter().for_each(|part| turning_parts(part, found));
    }
}

fn collect_denominators(expr: &Expr, found: &mut Vec<UBig>) {
    if let Expr::Number(value) | Expr::Decimal(value) = expr {
        found.push(value.denominator().clone());
    }
    // A quotient is a power of -1.
    if let Expr::Power(base, exponent) = expr
        && let (Expr::Number(base), Expr::Number(exponent)) = (&**base, &**exponent)
        && *exponent < Rational::ZERO
        && let Ok(below) = UBig::try_from(base.numerator().clone())
    {
        found.push(below);
    }
    expr.children().into_iter().for_each(|part| collect_denominators(part, found));
}

fn least_common_multiple(a: i64, b: i64) -> Option<i64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b).filter(|multiple| *multiple <= 1_000_000)
}

/// A point at which one variable has this value, and the others small integers.
pub(crate) fn consecutive(names: &[Symbol], variable: usize, value: i64) -> Point {
    let place =
        |at: usize| Rational::from(if at == variable { value } else { COUNTS[(at * 5) % COUNTS.len()] });
    Point::new(names.iter().enumerate().map(|(at, name)| (name.clone(), place(at))))
}

/// How many points further out there are.
pub(crate) const WIDE: usize = 14;

/// Points further out, most of them whole: where functions have corners and jumps. What counts is positive.
pub(crate) fn wide(names: &[Symbol], index: usize, counts: bool) -> Point {
    const PLACES: [i64; WIDE] = [1, 2, 3, 17, -4, 52, -31, 1_003, -997, 202, 1_000_003, -1_000_033, 101, 26];
    let place = |variable: usize| {
        let place = PLACES[(index + variable * 3) % WIDE];
        Rational::from(if counts { place.abs() } else { place })
    };
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
