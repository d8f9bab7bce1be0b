//! Sums, integrals, limits and derivatives.

use super::near;
use crate::approx::{Agreement, EvaluationError};

/// Pairs that are equal, and how many bits must be seen to agree at least.
const EQUAL: &[(&str, &str, u32)] = &[
    ("(integral x 0 1 (^ x 2))", "1/3", 1000),
    ("(integral x 1 2 (* 3 (^ (- (* 2 x) 1) -2)))", "1", 1000),
    ("(integral x 0 1 (^ (- 1 (* 2 x)) 3))", "0", 1000),
    ("(integral x 0 1 (* x (exp x)))", "1", 35),
    ("(integral x 0 1 (* (^ x 2) (sin x)))", "(+ -2 (cos 1) (* 2 (sin 1)))", 35),
    ("(integral x 0 1 (/ 1 (+ 1 (^ x 2))))", "(/ pi 4)", 35),
    ("(integral x 1 e (/ (ln x) x))", "1/2", 35),
    ("(integral x 0 1 (sin x))", "(- 1 (cos 1))", 35),
    ("(integral x 0 (/ pi 2) (cos x))", "1", 35),
    ("(integral x 1 2 (/ 1 x))", "(ln 2)", 35),
    ("(integral x 0 1 (sqrt x))", "2/3", 30),
    ("(integral x 0 1 (ln x))", "-1", 30),
    ("(integral x 0 1 (/ 1 (sqrt x)))", "2", 30),
    ("(integral x 0 1 (/ 1 (sqrt (- 1 x))))", "2", 30),
    ("(integral x 0 inf (exp (- (^ x 2))))", "(/ (sqrt pi) 2)", 30),
    ("(integral x (- inf) inf (exp (- (^ x 2))))", "(sqrt pi)", 30),
    ("(integral x 0 inf (/ 1 (+ 1 (^ x 2))))", "(/ pi 2)", 30),
    ("(integral x 2 1 (^ x 2))", "-7/3", 35),
    ("(integral x 0 2 (abs (- x 1)))", "1", 30),
    ("(integral x -1 1 (sqrt (- 1 (^ x 2))))", "(/ pi 2)", 30),
    ("(sum k 1 100 (^ k 2))", "338350", 1000),
    ("(sum k 0 inf (^ 1/2 k))", "2", 30),
    ("(sum k 1 inf (/ 1 (^ k 2)))", "(/ (^ pi 2) 6)", 30),
    ("(sum k 1 inf (/ 1 (* k (+ k 1))))", "1", 30),
    ("(sum k 0 inf (/ 1 (factorial k)))", "e", 30),
    ("(sum k 0 inf (/ (^ -1 k) (+ (* 2 k) 1)))", "(/ pi 4)", 30),
    ("(sum k 1 inf (/ (^ -1 (+ k 1)) k))", "(ln 2)", 30),
    ("(sum k 1 inf (/ k (^ 2 k)))", "2", 30),
    ("(product k 1 10 k)", "(factorial 10)", 1000),
    ("(product k 2 inf (- 1 (/ 1 (^ k 2))))", "1/2", 20),
    ("(limit x 0 (/ (sin x) x))", "1", 30),
    ("(limit x 0 (/ (- 1 (cos x)) (^ x 2)))", "1/2", 30),
    ("(limit n inf (^ (+ 1 (/ 1 n)) n))", "e", 30),
    ("(limit x inf (/ (+ (* 3 (^ x 2)) x) (- (^ x 2) 5)))", "3", 30),
    ("(limit x inf (- (sqrt (+ (^ x 2) x)) x))", "1/2", 30),
    ("(above x 0 (^ x x))", "1", 10),
    ("(limit x 2 (/ (- (^ x 2) 4) (- x 2)))", "4", 30),
    ("(below x 3 (floor x))", "2", 30),
    ("(limit x 1 (+ x 2))", "3", 1000),
];

#[test]
fn equal_values_are_close() {
    for (a, b, least) in EQUAL {
        let (found, rigorous) = near(a, b);
        let bits = match found {
            Agreement::Close { bits, .. } => bits,
            Agreement::Same => 1000,
            _ => 0,
        };
        assert!(bits >= *least, "{a} against {b}: {found:?}, rigorous: {rigorous}");
    }
}

#[test]
fn different_values_are_told_apart() {
    for (a, b, proven) in [
        ("(integral x 0 1 (* (exp (- (^ x 2))) (sin (^ x 3))))", "0", true),
        ("(integral x 0 1 (^ x 2))", "0.333", true),
        ("(integral x 0 1 (ln x))", "-1.0001", false),
        ("(sum k 1 1000000000 (/ 1 (^ k 2)))", "(/ (^ pi 2) 6)", true),
        ("(sum k 1 1000000 (/ 1 k))", "14.39", true),
        ("(sum k 1 10000 (/ 1 k))", "9.7877", true),
        ("(sum k 1 inf (/ 1 (^ k 2)))", "1.6449", false),
        ("(limit x 0 (/ (sin x) x))", "0.999", false),
    ] {
        assert_eq!(near(a, b), (Agreement::Apart, proven), "{a} against {b}");
    }
}

#[test]
fn infinite_limits() {
    assert_eq!(near("(limit x 0 (/ 1 (^ x 2)))", "inf").0, Agreement::Same);
    assert_eq!(near("(above x 0 (/ 1 x))", "inf").0, Agreement::Same);
    assert_eq!(near("(below x 0 (/ 1 x))", "(- inf)").0, Agreement::Same);
    assert_eq!(near("(limit x inf (^ x 2))", "inf"), (Agreement::Same, true));
    assert_eq!(near("(limit x 0 (/ 1 x))", "0").0, Agreement::Unclear(EvaluationError::Undefined));
}

#[test]
fn what_does_not_converge_has_no_value() {
    for text in [
        "(sum k 1 inf (/ 1 k))",
        "(sum k 1 inf k)",
        "(integral x 1 inf (/ 1 x))",
        "(integral x 0 1 (/ 1 x))",
        "(integral x -1 1 (/ 1 x))",
        "(integral x -1 1 (^ x -2))",
        "(limit x inf (sin x))",
        "(limit x 0 (sin (/ 1 x)))",
    ] {
        assert!(matches!(near(text, "1").0, Agreement::Unclear(_)), "{text}: {:?}", near(text, "1"));
    }
}

#[test]
fn derivatives() {
    use crate::approx::{Point, agreement};
    use crate::expr::Rational;
    use crate::fuel::Fuel;
    let at = Point::none().with("x".into(), Rational::from_parts(3.into(), 7_u8.into()));
    for (body, slope) in [
        ("(^ x 3)", "(* 3 (^ x 2))"),
        ("(sin (^ x 2))", "(* 2 x (cos (^ x 2)))"),
        ("(^ x x)", "(* (^ x x) (+ 1 (ln x)))"),
        ("(/ (ln x) (sqrt (+ 1 x)))", "(- (/ 1 (* x (sqrt (+ 1 x)))) (/ (ln x) (* 2 (^ (+ 1 x) 3/2))))"),
        ("(atan (* 2 x))", "(/ 2 (+ 1 (* 4 (^ x 2))))"),
        ("(asin x)", "(/ 1 (sqrt (- 1 (^ x 2))))"),
        ("(tan x)", "(^ (sec x) 2)"),
        ("(tanh x)", "(^ (sech x) 2)"),
        ("(acot x)", "(/ -1 (+ 1 (^ x 2)))"),
    ] {
        let derived = super::read(&format!("(diff x {body})"));
        let (found, rigorous) = agreement(&derived, &super::read(slope), &at, 256, &Fuel::new(super::PLENTY));
        let good = matches!(found, Agreement::Same | Agreement::Close { bits: 40.., .. });
        assert!(good && rigorous, "{body}: {found:?}");
    }
}
