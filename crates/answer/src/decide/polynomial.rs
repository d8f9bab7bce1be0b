//! Coefficients of polynomials in one variable.

use aske_algebra::expr::{Expr, Rational, Symbol};

/// The highest degree that is examined.
const MAX_DEGREE: usize = 8;

/// The coefficients from the constant one up, the last not zero; `None` where an expression is not a polynomial with
/// rational coefficients by its form, or has no variable in it.
pub(crate) fn coefficients(expr: &Expr, variable: &Symbol) -> Option<Vec<Rational>> {
    let mut found = read(expr, variable)?;
    while found.last().is_some_and(Rational::is_zero) {
        found.pop();
    }
    (found.len() > 1).then_some(found)
}

fn read(expr: &Expr, variable: &Symbol) -> Option<Vec<Rational>> {
    match expr {
        Expr::Number(value) | Expr::Decimal(value) => Some(vec![value.clone()]),
        Expr::Symbol(name) if name == variable => Some(vec![Rational::ZERO, Rational::ONE]),
        Expr::Sum(parts) => parts.iter().try_fold(Vec::new(), |mut sum: Vec<Rational>, part| {
            let part = read(part, variable)?;
            sum.resize(sum.len().max(part.len()), Rational::ZERO);
            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
            Some(sum)
        }),
        Expr::Product(parts) => parts
            .iter()
            .try_fold(vec![Rational::ONE], |product, part| times(&product, &read(part, variable)?)),
        Expr::Power(base, exponent) => {
            let Expr::Number(exponent) = &**exponent else { return None };
            let base = read(base, variable)?;
            if let ([value], true) = (base.as_slice(), *exponent == -Rational::ONE) {
                return (!value.is_zero()).then(|| vec![Rational::ONE / value]);
            }
            let power = usize::try_from(exponent.is_int().then(|| exponent.floor())?).ok()?;
            if power > MAX_DEGREE {
                return None;
            }
            (0..power).try_fold(vec![Rational::ONE], |product, _| times(&product, &base))
        }
        _ => None,
    }
}

fn times(a: &[Rational], b: &[Rational]) -> Option<Vec<Rational>> {
    if a.len() + b.len() > MAX_DEGREE + 2 {
        return None;
    }
    let mut out = vec![Rational::ZERO; (a.len() + b.len()).saturating_sub(1)];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            out[i + j] += x * y;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_algebra::expr::Function;

    #[test]
    fn forms_that_are_polynomials_are_multiplied_out() {
        let x = || Expr::symbol("x");
        let square = x().minus(Expr::int(1)).times(x().minus(Expr::int(2)));
        let expected = [2, -3, 1].map(Rational::from).to_vec();
        assert_eq!(coefficients(&square, &"x".into()), Some(expected));
        let floor = Expr::call(Function::Floor, x());
        assert_eq!(coefficients(&floor, &"x".into()), None);
        assert_eq!(coefficients(&x().minus(x()), &"x".into()), None);
    }
}
