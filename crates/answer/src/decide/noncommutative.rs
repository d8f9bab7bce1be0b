//! Products whose factors may not commute: matrices, operators, group elements.

use aske_algebra::expr::{Expr, Rational, Symbol};
use std::collections::BTreeSet;

/// A product of generators in order, each with its exponent.
type Monomial = Vec<String>;

/// More monomials than this are not compared.
const MAX_MONOMIALS: usize = 64;
/// Integer powers up to this are multiplied out.
const MAX_POWER: usize = 4;

/// Whether two expressions that are equal in commuting variables may differ where capital letters, or letters beside
/// their own inverse (`ghg^{-1}`), do not commute.
pub(crate) fn may_differ(a: &Expr, b: &Expr) -> bool {
    let mut generators = BTreeSet::new();
    collect_generators(a, &mut generators);
    collect_generators(b, &mut generators);
    if generators.len() < 2 {
        return false;
    }
    match (monomials(a, &generators), monomials(b, &generators)) {
        (Some(a), Some(b)) => {
            let (a, b) = (mixed(a), mixed(b));
            // Coefficients are not kept: `AB - BA` and `BA - AB` have the same monomials.
            a != b || has_permutations(&a)
        }
        _ => true,
    }
}

fn collect_generators(expr: &Expr, found: &mut BTreeSet<Symbol>) {
    match expr {
        Expr::Symbol(name) if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
            found.insert(name.clone());
        }
        // Functions have numbers for values.
        Expr::Call(..) | Expr::Apply(..) | Expr::Bind(_) => return,
        Expr::Product(factors) => {
            let inverse = |factor: &Expr| match factor {
                Expr::Power(base, exponent) if **exponent == Expr::int(-1) => factors.contains(base),
                _ => false,
            };
            if factors.iter().any(inverse) {
                found.extend(factors.iter().filter_map(|factor| match factor {
                    Expr::Symbol(name) => Some(name.clone()),
                    _ => None,
                }));
            }
        }
        _ => {}
    }
    for part in expr.children() {
        collect_generators(part, found);
    }
}

/// The monomials of an expression multiplied out, without their coefficients.
fn monomials(expr: &Expr, generators: &BTreeSet<Symbol>) -> Option<BTreeSet<Monomial>> {
    let scalar = || Some(BTreeSet::from([Monomial::new()]));
    let has_generator =
        |expr: &Expr| expr.any(&|part| matches!(part, Expr::Symbol(name) if generators.contains(name)));
    match expr {
        Expr::Symbol(name) if generators.contains(name) => Some(BTreeSet::from([vec![name.to_string()]])),
        Expr::Sum(terms) => terms.iter().try_fold(BTreeSet::new(), |mut sum, term| {
            sum.extend(monomials(term, generators)?);
            Some(sum)
        }),
        Expr::Product(factors) => factors
            .iter()
            .try_fold(scalar()?, |product, factor| times(&product, &monomials(factor, generators)?)),
        Expr::Power(base, exponent) if has_generator(base) => match &**exponent {
            Expr::Number(power) if power.is_int() && *power > Rational::ZERO => {
                let power = usize::try_from(power.floor()).ok().filter(|power| *power <= MAX_POWER)?;
                let base = monomials(base, generators)?;
                (0..power).try_fold(scalar()?, |product, _| times(&product, &base))
            }
            _ if matches!(**base, Expr::Symbol(_)) => {
                Some(BTreeSet::from([vec![format!("{base}^{exponent}")]]))
            }
            _ => Some(BTreeSet::from([vec![format!("({base})^{exponent}")]])),
        },
        _ => scalar(),
    }
}

fn times(a: &BTreeSet<Monomial>, b: &BTreeSet<Monomial>) -> Option<BTreeSet<Monomial>> {
    let concatenated = |a: &Monomial, b: &Monomial| a.iter().chain(b).cloned().collect();
    (a.len() * b.len() <= MAX_MONOMIALS)
        .then(|| a.iter().flat_map(|a| b.iter().map(move |b| concatenated(a, b))).collect())
}

fn has_permutations(all: &BTreeSet<Monomial>) -> bool {
    let sorted = |monomial: &Monomial| {
        let mut factors = monomial.clone();
        factors.sort_unstable();
        factors
    };
    all.iter().map(sorted).collect::<BTreeSet<_>>().len() < all.len()
}

/// The monomials of two generators or more, in which the order can matter.
fn mixed(all: BTreeSet<Monomial>) -> BTreeSet<Monomial> {
    all.into_iter()
        .filter(|monomial| monomial.iter().any(|factor| *factor != monomial[0] || factor.starts_with('(')))
        .collect()
}
