//! Cases in which numerical agreement is no evidence: oscillating limits, divergent sums, poles inside an integral,
//! functions that have corners or jumps where nobody looked.

use super::comparator::Comparator;
use aske_algebra::approx::{self, Point};
use aske_algebra::expr::{Bind, Constant, Expr, Function, Over, Rational, Symbol};
use dashu_int::{IBig, UBig};

/// Numbers beyond this, or below its inverse, make a limit that no nearby value shows.
const LARGE: u32 = 1_000_000;
/// Where terms of an infinite sum are examined.
const EARLY: i64 = 11;
const LATE: i64 = 100_003;
/// Terms of a finite sum that may approximate an infinite one.
const LONG: i64 = 20;
/// Values of an integrand that are examined.
const SAMPLES: u32 = 97;

/// Whether a function of variables is made of parts that have corners, jumps or branches: agreement at points says
/// nothing about the rest.
pub(crate) fn has_corners(expr: &Expr) -> bool {
    use Function as F;
    expr.any(&|part| match part {
        Expr::Call(
            F::Abs
            | F::Sign
            | F::Floor
            | F::Ceil
            | F::Max
            | F::Min
            | F::Mod
            | F::Gcd
            | F::Lcm
            | F::Arg
            | F::Re
            | F::Im
            | F::Conjugate
            | F::Arcsin
            | F::Arccos
            | F::Arctan
            | F::Arccot
            | F::Arcsec
            | F::Arccsc,
            inside,
        ) => inside.iter().any(|e| !super::value::is_closed(e)),
        // `\binom{n}{50}` is zero wherever n is small.
        Expr::Call(F::Binomial, inside) => match inside.as_slice() {
            [of, taken] => {
                let large =
                    |part: &Expr| matches!(part, Expr::Number(value) if *value > Rational::from(3_u8));
                !super::value::is_closed(of) && taken.any(&large)
            }
            _ => false,
        },
        Expr::Power(base, exponent) => {
            matches!(&**exponent, Expr::Number(power) if !power.is_int()) && !super::value::is_closed(base)
        }
        _ => false,
    })
}

/// Whether an expression has parts that no numerical agreement shows: numbers of extreme size, and long finite sums,
/// which may be a series cut short.
pub(crate) fn has_negligible_parts(expr: &Expr) -> bool {
    let small = |value: &Rational| {
        let size = size(value);
        !size.is_zero() && size < Rational::from_parts(IBig::ONE, UBig::from(LARGE))
    };
    expr.any(&|part| match part {
        Expr::Number(value) | Expr::Decimal(value) => small(value) || size(value) > Rational::from(LARGE),
        Expr::Power(base, exponent) => match (&**base, &**exponent) {
            (Expr::Number(base), Expr::Number(exponent)) => {
                size(exponent) >= Rational::from(6_u8) && size(base) >= Rational::from(7_u8)
            }
            _ => false,
        },
        Expr::Bind(bind) => match &bind.over {
            Over::Sum(Expr::Number(from), Expr::Number(to)) => {
                to - from > Rational::from(LONG) && bind.body.any(&|part| matches!(part, Expr::Power(..)))
            }
            Over::Sum(_, to) if is_infinite(to) => {
                bind.body.any(&|part| matches!(part, Expr::Call(Function::Floor | Function::Ceil, _)))
            }
            _ => false,
        },
        _ => false,
    })
}

impl Comparator<'_> {
    /// Whether an estimate of some limit, sum or integral in it may be far from the truth.
    pub(crate) fn is_doubtful(self, expr: &Expr) -> bool {
        let own = match expr {
            Expr::Bind(bind) => match &bind.over {
                Over::Limit(towards, _) => doubtful_limit(bind, towards),
                Over::Sum(from, to) if is_infinite(to) => !self.fades(bind, from, &Rational::ZERO),
                Over::Product(from, to) if is_infinite(to) => !self.fades(bind, from, &Rational::ONE),
                Over::Integral(from, to) => self.is_doubtful_integral(bind, from, to),
                _ => false,
            },
            _ => false,
        };
        own || expr.children().into_iter().any(|part| self.is_doubtful(part))
    }

    /// Whether terms come nearer to what they must tend to.
    fn fades(self, bind: &Bind, from: &Expr, towards: &Rational) -> bool {
        if is_infinite(from) {
            return true;
        }
        let distance = |at: i64| {
            let at = Point::new([(bind.variable.clone(), Rational::from(at))]);
            let value = approx::evaluate(&bind.body, &at, 53, self.fuel).ok()?.to_f64();
            Some((value - towards.to_f64_fast()).abs())
        };
        match (distance(EARLY), distance(LATE)) {
            (Some(early), Some(late)) => late < 0.7 * early || late < 1e-12,
            // A term with other variables, or one that vanishes below the smallest double.
            _ => true,
        }
    }

    /// Whether an integral may be far from its estimate: the integrand changes its sign through large values (a pole whose
    /// two sides may cancel), or a tail is cut off.
    fn is_doubtful_integral(self, bind: &Bind, from: &Expr, to: &Expr) -> bool {
        let end = |expr: &Expr| {
            approx::evaluate(expr, &Point::none(), 53, self.fuel)
                .ok()
                .map(|value| value.to_f64())
                .filter(|v| v.is_finite())
        };
        let (Some(from), Some(to)) = (end(from), end(to)) else { return false };
        let mut values = Vec::with_capacity(SAMPLES as usize);
        for step in 1..SAMPLES {
            let at = from + (to - from) * f64::from(step) / f64::from(SAMPLES);
            let Ok(at) = Rational::try_from(at) else { return false };
            let at = Point::new([(bind.variable.clone(), at)]);
            match approx::evaluate(&bind.body, &at, 53, self.fuel) {
                Ok(value) => values.push(value.to_f64()),
                Err(_) => return false,
            }
        }
        let mut sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
        // An exponential that has nearly vanished at an end hides how far the integral goes.
        let exponential =
            |part: &Expr| matches!(part, Expr::Power(base, _) if **base == Expr::Constant(Constant::E));
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let vanishes = |end: Option<&f64>| end.is_some_and(|end| *end < 1e-12 * largest);
        if bind.body.any(&exponential) && (vanishes(sizes.first()) || vanishes(sizes.last())) {
            return true;
        }
        sizes.sort_by(f64::total_cmp);
        let usual = sizes.get(sizes.len() / 2).copied().unwrap_or(0.0).max(1e-9);
        values
            .windows(2)
            .any(|pair| pair[0] * pair[1] < 0.0 && pair[0].abs().min(pair[1].abs()) > 8.0 * usual)
    }
}

/// A limit whose body may oscillate on the way, or shows its value only beyond what is examined.
fn doubtful_limit(bind: &Bind, towards: &Expr) -> bool {
    use Function as F;
    let speaks = |expr: &Expr| mentions(expr, &bind.variable);
    let endless = is_infinite(towards);
    bind.body.any(&|part| match part {
        Expr::Call(F::Floor | F::Ceil | F::Mod | F::Gcd | F::Lcm | F::Sign, inside) => inside.iter().any(speaks),
        Expr::Call(F::Sin | F::Cos | F::Tan | F::Cot | F::Sec | F::Csc, inside) => {
            inside.iter().any(|e| if endless { grows(e, &bind.variable) } else { divides(e, &bind.variable) })
        }
        Expr::Power(base, exponent) => {
            let turns = matches!(&**base, Expr::Number(value) | Expr::Decimal(value) if *value < Rational::ZERO)
                || base.has_i();
            let large = matches!(&**exponent, Expr::Number(power) if power.is_int() && size(power) > Rational::from(20_u8));
            turns && speaks(exponent) || large
        }
        Expr::Number(value) | Expr::Decimal(value) => {
            let large = Rational::from(LARGE);
            let size = size(value);
            !size.is_zero() && (size > large || size < Rational::from_parts(IBig::ONE, UBig::from(LARGE)))
        }
        _ => false,
    })
}

fn size(value: &Rational) -> Rational {
    if *value < Rational::ZERO { -value.clone() } else { value.clone() }
}

/// Whether an argument may leave every bound as the variable does: it is no quotient by the variable alone.
fn grows(expr: &Expr, variable: &Symbol) -> bool {
    mentions(expr, variable) && !divides(expr, variable)
}

/// Whether a variable stands under a fraction line.
fn divides(expr: &Expr, variable: &Symbol) -> bool {
    expr.any(&|part| {
        matches!(part, Expr::Power(base, exponent) if mentions(base, variable)
            && matches!(&**exponent, Expr::Number(power) if *power < Rational::ZERO))
    })
}

fn mentions(expr: &Expr, variable: &Symbol) -> bool {
    expr.has_symbol(variable)
}

fn is_infinite(expr: &Expr) -> bool {
    expr.any(&|part| matches!(part, Expr::Constant(Constant::Infinity)))
}
