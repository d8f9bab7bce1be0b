//! Products of capital letters, which may not commute: matrices, operators, strings.

use aske_algebra::expr::Expr;

/// Whether a product of different capitals stands in one expression and only in another order in the other.
pub(crate) fn swapped(a: &Expr, b: &Expr) -> bool {
    let (mut in_a, mut in_b) = (Vec::new(), Vec::new());
    gather(a, &mut in_a);
    gather(b, &mut in_b);
    in_a.iter().any(|one| !in_b.contains(one) && in_b.iter().any(|other| is_permutation(one, other)))
}

/// The capitals of every product that has two different ones, with their exponents and in their order.
fn gather<'a>(expr: &'a Expr, found: &mut Vec<Vec<&'a Expr>>) {
    if let Expr::Product(parts) = expr {
        let capitals: Vec<&Expr> = parts.iter().filter(|part| is_capital(part)).collect();
        if capitals.iter().any(|name| *name != capitals[0]) {
            found.push(capitals);
        }
    }
    for part in expr.children() {
        gather(part, found);
    }
}

fn is_capital(factor: &Expr) -> bool {
    match factor {
        Expr::Symbol(name) => name.starts_with(|c: char| c.is_ascii_uppercase()),
        Expr::Power(base, _) => is_capital(base),
        _ => false,
    }
}

fn is_permutation(a: &[&Expr], b: &[&Expr]) -> bool {
    let sorted = |factors: &[&Expr]| {
        let mut factors: Vec<Expr> = factors.iter().map(|&factor| factor.clone()).collect();
        factors.sort_unstable();
        factors
    };
    a.len() == b.len() && sorted(a) == sorted(b)
}
