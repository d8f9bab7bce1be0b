//! Exact values, undefined ones, infinities, and the edges of both.

use std::cmp::Ordering;

use super::{PLENTY, at, near, read};
use crate::approx::{Agreement, EvaluationError, Point, Value, agreement, evaluate, refine};
use crate::expr::Rational;
use crate::fuel::Fuel;

#[test]
fn exact_arithmetic_stays_exact() {
    for (text, value) in [
        ("(sqrt 4)", "2"),
        ("(^ 8 1/3)", "2"),
        ("(^ 9/4 3/2)", "27/8"),
        ("(^ -8 1/3)", "-2"),
        ("(^ -8 2/3)", "4"),
        ("(^ -27 -1/3)", "-1/3"),
        ("(^ 0 0)", "1"),
        ("(abs (+ 3 (* 4 i)))", "5"),
        ("(im (^ (+ 2 i) 2))", "4"),
        ("(^ i 2)", "-1"),
        ("(exp (* i pi))", "-1"),
        ("(sin (/ pi 6))", "1/2"),
        ("(cos (* 2/3 pi))", "-1/2"),
        ("(tan (/ pi 4))", "1"),
        ("(/ (asin 1/2) pi)", "1/6"),
        ("(floor (* 1000 pi))", "3141"),
        ("(ceil -1/2)", "0"),
        ("(gcd 12 18 27)", "3"),
        ("(lcm 4 6)", "12"),
        ("(mod -7 3)", "2"),
        ("(mod 7 -3)", "-2"),
        ("(binomial 10 3)", "120"),
        ("(binomial 1/2 2)", "-1/8"),
        ("(binomial -3 2)", "6"),
        ("(binomial 3 5)", "0"),
        ("(binomial 0 0)", "1"),
        ("(binomial 0 3)", "0"),
        ("(factorial 20)", "2432902008176640000"),
        ("(factorial2 7)", "105"),
        ("(factorial2 8)", "384"),
        ("(Gamma 5)", "24"),
        ("(max 1 5/2 -3)", "5/2"),
        ("(min 1 5/2 (- inf) 4)", "-inf"),
        ("(sign -3)", "-1"),
        ("(+ 0.1 0.2)", "3/10"),
        ("(/ 1 inf)", "0"),
        ("(* i i i i)", "1"),
    ] {
        match at(text, 53) {
            Ok(Value::Exact(found)) => assert_eq!(found, value.parse::<Rational>().unwrap(), "{text}"),
            Ok(Value::Infinite { negative: true }) => assert_eq!(value, "-inf", "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn what_has_no_value() {
    for text in [
        "(/ 1 0)",
        "(/ 0 0)",
        "(ln 0)",
        "(tan (/ pi 2))",
        "(cot pi)",
        "(^ 0 -1)",
        "(^ 0 -1/2)",
        "(- inf inf)",
        "(* 0 inf)",
        "(factorial -3)",
        "(mod 5 0)",
        "(arg 0)",
    ] {
        assert_eq!(at(text, 53).unwrap_err(), EvaluationError::Undefined, "{text}");
    }
    for text in ["x", "(+ 1 x)", "(floor (^ (sqrt 2) 2))", "(/ 1 (- (^ (sqrt 2) 2) 2))"] {
        assert_eq!(at(text, 256).unwrap_err(), EvaluationError::Unsupported, "{text}");
    }
}

#[test]
fn huge_and_tiny_numbers() {
    assert_eq!(near("(^ 9 (^ 9 (^ 9 9)))", "1"), (Agreement::Apart, true));
    assert_eq!(at("(^ 9 (^ 9 (^ 9 9)))", 53).unwrap().sign(), Some(Ordering::Greater));
    assert_eq!(near("(^ 2 10000000)", "(^ 2 10000001)"), (Agreement::Apart, true));
    assert_eq!(near("(^ 2 -10000000)", "(^ 2 -10000001)"), (Agreement::Apart, true));
    assert_eq!(near("(/ 1 (factorial 2004))", "(/ 1 (factorial 2006))"), (Agreement::Apart, true));
    assert_eq!(near("(factorial 100000)", "(factorial 100001)"), (Agreement::Apart, true));
    assert_eq!(near("(binomial 1000000 500000)", "(binomial 1000000 500001)"), (Agreement::Apart, true));
    // At the very end of the range: the exponent of a sum was once counted twice there.
    let (found, _) = near("(atan (^ 2 1099511627520))", "(/ pi 2)");
    assert!(matches!(found, Agreement::Close { bits: 500.., .. }), "{found:?}");
    // Beyond all ranges nothing is said.
    let tower = "(^ 9 (- (^ 9 (^ 9 9))))";
    assert!(matches!(near(tower, &format!("(* 2 {tower})")).0, Agreement::Close { bits: 0, .. }));
}

#[test]
fn comparisons() {
    assert_eq!(near("pi", "22/7"), (Agreement::Apart, true));
    assert_eq!(near("(+ pi pi)", "(* 2 pi)"), (Agreement::Same, true));
    assert_eq!(near("inf", "inf"), (Agreement::Same, true));
    assert_eq!(near("inf", "(- inf)"), (Agreement::Apart, true));
    assert_eq!(near("inf", "5"), (Agreement::Apart, true));
    assert_eq!(near("(sqrt -4)", "(* 2 i)"), (Agreement::Same, true));
    assert_eq!(near("(ln -1)", "(* pi i)"), (Agreement::Same, true));
    // Ramanujan's constant is an integer to 12 decimals only.
    assert_eq!(near("(exp (* pi (sqrt 163)))", "262537412640768744"), (Agreement::Apart, true));
    let (found, rigorous) = near("(sqrt (+ 5 (* 2 (sqrt 6))))", "(+ (sqrt 2) (sqrt 3))");
    assert!(rigorous && matches!(found, Agreement::Close { bits: 500.., .. }), "{found:?}");
    let (found, _) = near("(- (^ (sqrt 2) 2) 2)", "0");
    assert!(matches!(found, Agreement::Close { absolute: 500.., .. }), "{found:?}");
}

#[test]
fn order_and_sharpness() {
    let (root, pi) = (at("(sqrt 2)", 53).unwrap(), at("pi", 53).unwrap());
    assert_eq!(root.order(&pi), Some(Ordering::Less));
    assert_eq!(pi.order(&at("inf", 53).unwrap()), Some(Ordering::Less));
    assert_eq!(pi.order(&at("(- inf)", 53).unwrap()), Some(Ordering::Greater));
    assert!(at("(sqrt -2)", 53).unwrap().is_surely_not_real());
    let sharp = refine(
        &read("(- (exp 1) 271828182845904523536/100000000000000000000)"),
        &Point::none(),
        40,
        512,
        &Fuel::new(PLENTY),
    );
    assert!(sharp.unwrap().known_bits(40) == 40);
}

#[test]
fn work_is_bounded() {
    for text in [
        "(sum k 1 20000 (sum j 1 20000 (sin (* j k))))",
        "(factorial (factorial (factorial 10)))",
        "(binomial (^ 10 30) (^ 10 29))",
        "(sum k 1 inf (sum j 1 inf (/ 1 (* j j k k))))",
        "(integral x 0 1 (integral y 0 1 (integral z 0 1 (sin (* x y z)))))",
        "(^ (/ 123456789 987654321) 100000)",
        "(product k 1 20000 (^ (+ k 1/3) 5))",
        "(sum k 1 19000 (/ 1 (factorial k)))",
    ] {
        let fuel = Fuel::new(1_000_000);
        let _ = agreement(&read(text), &read("1"), &Point::none(), 512, &fuel);
    }
    let none = Fuel::new(3);
    assert_eq!(
        evaluate(&read("(sin 1)"), &Point::none(), 53, &none).unwrap_err(),
        EvaluationError::OutOfFuel
    );
}

#[test]
fn deep_trees_fit_the_stack() {
    for (levels, good) in [(190, true), (3000, false)] {
        let deep = (0..levels).fold("2".to_owned(), |inner, _| format!("(sqrt (+ 1 {inner}))"));
        let expr = read(&deep);
        let found = agreement(&expr, &read("2"), &Point::none(), 256, &Fuel::new(PLENTY)).0;
        assert_eq!(found == Agreement::Apart, good, "{found:?}");
        let nested = (0..3).fold(deep, |inner, _| format!("(integral x 0 1 {inner})"));
        let _ = agreement(&read(&nested), &read("2"), &Point::none(), 256, &Fuel::new(PLENTY));
    }
}
