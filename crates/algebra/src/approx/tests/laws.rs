//! Properties of all expressions: enclosures contain the sharper value, and nothing panics.

use proptest::prelude::*;

use super::PLENTY;
use super::read::FUNCTIONS;
use crate::approx::{Agreement, Point, agreement, evaluate};
use crate::expr::{Bind, Constant, Expr, Over, Rational};
use crate::fuel::Fuel;

fn leaf() -> impl Strategy<Value = Expr> {
    prop_oneof![
        (-20_i64..20).prop_map(Expr::int),
        (-200_i64..200, 1_u32..40).prop_map(|(n, d)| Expr::Number(Rational::from_parts(n.into(), d.into()))),
        (-2000_i64..2000).prop_map(|n| Expr::Decimal(Rational::from_parts(n.into(), 100_u8.into()))),
        Just(Expr::Constant(Constant::Pi)),
        Just(Expr::Constant(Constant::E)),
        Just(Expr::Constant(Constant::I)),
        Just(Expr::Constant(Constant::EulerGamma)),
        Just(Expr::symbol("x")),
        any::<i64>().prop_map(Expr::int),
        Just(Expr::Constant(Constant::Infinity)),
    ]
}

fn expression(binds: bool) -> impl Strategy<Value = Expr> {
    leaf().prop_recursive(5, 24, 3, move |inner| {
        let operator = (inner.clone(), inner.clone(), inner.clone(), 0_u8..6).prop_map(move |(a, b, body, kind)| {
            let over = match kind {
                0 => Over::Sum(a, b),
                1 => Over::Product(a, b),
                2 => Over::Integral(a, b),
                3 => Over::Limit(a, None),
                4 => Over::Derivative(2),
                _ => Over::Antiderivative,
            };
            if !binds {
                return body;
            }
            Expr::Bind(Box::new(Bind {
                over,
                variable: "x".into(),
                body,
            }))
        });
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 0..4).prop_map(Expr::Sum),
            3 => prop::collection::vec(inner.clone(), 0..4).prop_map(Expr::Product),
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a.power(b)),
            4 => (inner.clone(), 0..FUNCTIONS.len()).prop_map(|(a, f)| Expr::call(FUNCTIONS[f].1, a)),
            1 => (inner.clone(), inner, 0..FUNCTIONS.len()).prop_map(|(a, b, f)| Expr::Call(FUNCTIONS[f].1, vec![a, b])),
            1 => operator,
        ]
    })
}

fn somewhere() -> Point {
    Point::none().with("x".into(), Rational::from_parts(5.into(), 7_u8.into()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn the_double_enclosure_meets_the_sharp_one(expr in expression(false)) {
        let fuel = Fuel::new(PLENTY);
        let values = [53, 128, 256].map(|bits| evaluate(&expr, &somewhere(), bits, &fuel));
        for pair in values.windows(2) {
            if let [Ok(coarse), Ok(sharp)] = pair {
                prop_assert_eq!(coarse.is_infinite(), sharp.is_infinite());
                let ((a, b), (c, d)) = (coarse.spans(), sharp.spans());
                prop_assert!(a.meets(&c) && b.meets(&d), "{:?} against {:?}", coarse, sharp);
            }
        }
    }

    #[test]
    fn an_expression_is_never_apart_from_itself(expr in expression(true)) {
        let found = agreement(&expr, &expr.clone(), &somewhere(), 256, &Fuel::new(200_000)).0;
        prop_assert_ne!(found, Agreement::Apart);
    }

    #[test]
    fn a_sum_is_symmetric(a in expression(false), b in expression(false)) {
        let (one, other) = (a.clone().plus(b.clone()), b.plus(a));
        let fuel = Fuel::new(PLENTY);
        prop_assert_ne!(agreement(&one, &other, &somewhere(), 128, &fuel).0, Agreement::Apart);
    }
}
