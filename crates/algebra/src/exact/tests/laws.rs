//! Laws over random expressions: rearranging changes nothing, a changed coefficient is noticed.

use proptest::prelude::*;

use super::{FUEL, formula};
use crate::{
    exact::{free_symbols, proportional, residues_agree, same, solve_linear, substitute},
    expr::{Expr, Function, Symbol},
    fuel::Fuel,
};

/// A polynomial in x, y and t as coefficients and exponents.
type Terms = Vec<(i64, [u8; 3])>;

fn terms() -> impl Strategy<Value = Terms> {
    prop::collection::vec((-9i64..10, [0u8..3, 0u8..3, 0u8..2]), 1..5)
}

fn built(terms: &Terms, names: [&str; 3]) -> Expr {
    let term = |(c, powers): &(i64, [u8; 3])| {
        let factors = names.iter().zip(powers).map(|(n, e)| Expr::symbol(n).power(Expr::int(i64::from(*e))));
        factors.fold(Expr::int(*c), Expr::times)
    };
    terms.iter().map(term).fold(Expr::int(0), Expr::plus)
}

const NAMES: [&str; 3] = ["x", "y", "t"];

fn compare(a: &Expr, b: &Expr) -> Option<bool> {
    same(a, b, &Fuel::new(FUEL)).unwrap()
}

/// Any expression of a few levels, for laws that hold for all.
fn any_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (-4i64..5).prop_map(Expr::int),
        prop::sample::select(vec!["x", "y", "n", "z"]).prop_map(Expr::symbol),
        prop::sample::select(vec!["pi", "e", "i", "sqrt(2)", "1/3", "oo"]).prop_map(formula),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let one = prop::sample::select(vec![
            Function::Sin,
            Function::Tan,
            Function::Ln,
            Function::Abs,
            Function::Floor,
            Function::Arctan,
            Function::Factorial,
            Function::Conjugate,
        ]);
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.plus(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.times(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.over(b)),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| a.power(b)),
            inner.clone().prop_map(|a| a.root(Expr::int(2))),
            (one, inner).prop_map(|(f, a)| Expr::call(f, a)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn products_commute_and_expand(a in terms(), b in terms(), c in terms()) {
        let [a, b, c] = [a, b, c].map(|t| built(&t, NAMES));
        let left = a.clone().plus(b.clone()).times(c.clone());
        let right = c.clone().times(b.clone()).plus(c.times(a));
        prop_assert_eq!(compare(&left, &right), Some(true));
        prop_assert_eq!(residues_agree(&left, &right, &Fuel::new(FUEL)), Ok(Some(true)));
    }

    #[test]
    fn quotients_cancel(a in terms(), b in terms(), shift in 1i64..9) {
        let (a, b) = (built(&a, NAMES), built(&b, NAMES));
        let square = b.clone().power(Expr::int(2)).plus(Expr::int(shift));
        let left = a.clone().times(square.clone()).over(square.clone());
        prop_assert_eq!(compare(&left, &a), Some(true));
        let sum = a.clone().over(square.clone()).plus(b.clone().over(square.clone()));
        prop_assert_eq!(compare(&sum, &a.plus(b).over(square)), Some(true));
    }

    #[test]
    fn a_changed_coefficient_is_noticed(mut a in terms(), at in 0usize..5, by in 1i64..5) {
        let before = built(&a, NAMES);
        let at = at % a.len();
        a[at].0 += by;
        let after = built(&a, NAMES);
        prop_assert_eq!(compare(&before, &after), Some(false));
        prop_assert_eq!(residues_agree(&before, &after, &Fuel::new(FUEL)), Ok(Some(false)));
    }

    #[test]
    fn multiples_are_proportional(a in terms(), factor in 1i64..9) {
        let x = built(&a, NAMES).plus(formula("7*x^5"));
        let scaled = x.clone().times(formula("-2/3")).times(Expr::int(factor));
        prop_assert_eq!(proportional(&x, &scaled, &Fuel::new(FUEL)), Ok(Some(true)));
        prop_assert_eq!(proportional(&x, &scaled.plus(formula("x^6")), &Fuel::new(FUEL)), Ok(Some(false)));
    }

    #[test]
    fn verdicts_are_symmetric_and_never_contradict(a in any_expr(), b in any_expr()) {
        let small = || Fuel::new(400_000);
        let (there, back) = (same(&a, &b, &small()), same(&b, &a, &small()));
        if let (Ok(Some(there)), Ok(Some(back))) = (there, back) {
            prop_assert_eq!(there, back);
        }
        if let (Ok(Some(proved)), Ok(Some(probable))) = (there, residues_agree(&a, &b, &small())) {
            prop_assert_eq!(proved, probable);
        }
        if let Ok(Some(false)) = same(&a, &a, &small()) {
            // Only what is undefined differs from itself.
            prop_assert!(super::canonical_form(&a, &small()).is_ok_and(|n| n.to_string() == "undefined"));
        }
    }
}

#[test]
fn equations_up_to_a_factor() {
    let ask = |a: &str, b: &str| proportional(&formula(a), &formula(b), &Fuel::new(FUEL)).unwrap();
    assert_eq!(ask("2*x-4*y+6", "3-2*y+x"), Some(true));
    assert_eq!(ask("x/2+y/3-1", "3*x+2*y-6"), Some(true));
    assert_eq!(ask("sqrt(2)*x+2", "x+sqrt(2)"), Some(true));
    assert_eq!(ask("x^2+y^2-1", "x^2-y^2-1"), Some(false));
    assert_eq!(ask("x*(x-1)", "x-1"), Some(false));
    assert_eq!(ask("x-1", "x*(x-1)"), Some(false));
    assert_eq!(ask("1/x-1/y", "y-x"), Some(false));
    assert_eq!(ask("sin(x)", "2*sin(x)"), Some(true));
}

#[test]
fn linear_variables_are_isolated() {
    let solve = |e: &str| solve_linear(&formula(e), &Symbol::new("y"));
    let is = |e: &str, value: &str| {
        let got = solve(e).unwrap();
        assert_eq!(same(&got, &formula(value), &Fuel::new(FUEL)), Ok(Some(true)), "{e}: {got:?}");
    };
    is("2*x+3*y-6", "2-2*x/3");
    is("x*y-1", "1/x");
    is("(y+1)*(y-1)-y^2+y", "1");
    assert_eq!(solve("y^2-1"), None);
    assert_eq!(solve("x-1"), None);
}

#[test]
fn bound_variables_are_not_free() {
    let names = |e: &str| free_symbols(&formula(e)).into_iter().map(|s| s.to_string()).collect::<Vec<_>>();
    assert_eq!(names("sum(a*k,k,1,n)+x"), ["a", "n", "x"]);
    // The value must not be caught: Σ_{k=1}^2 a·k at a = k is 3k.
    let caught = substitute(&formula("sum(a*k,k,1,2)"), &Symbol::new("a"), &formula("k"));
    assert_eq!(compare(&caught, &formula("3*k")), Some(true));
}
