//! Near misses: none of them may be proved equal, and where a proof of difference is due it must come.

use super::{decide, formula, shown};

/// Pairs that differ, and are proved to.
const DIFFERENT: &[(&str, &str)] = &[
    ("1/3", "0.333333"),
    ("2", "3"),
    ("x+1", "x-1"),
    ("(x+1)^2", "x^2+1"),
    ("1/(x+1)", "1/x+1"),
    ("x*y", "x+y"),
    ("x^2", "y^2"),
    ("sqrt(2)", "1.41421356"),
    ("sqrt(2)+sqrt(3)", "sqrt(5)"),
    ("sqrt(2)+sqrt(3)", "sqrt(10)"),
    ("cbrt(2)", "sqrt(2)"),
    ("(1+i)^2", "2"),
    ("(-8)^(1/3)", "2"),
    ("sqrt(3+2*sqrt(2))", "sqrt(2)-1"),
    ("pi", "22/7"),
    ("pi", "3.14159265358979"),
    ("pi^2/6", "sum(1/k^2,k,1,1000000000)"),
    ("e", "2.718281828"),
    ("pi", "sqrt(10)"),
    ("cos(pi/5)", "(1-sqrt(5))/4"),
    ("cos(pi/7)", "9/10"),
    ("e^(i*pi/4)", "i"),
    ("n*(n+1)/2", "n*(n-1)/2"),
    ("x+sqrt(2)", "x+sqrt(3)"),
    ("a*x+pi", "a*x+3"),
    ("oo", "-oo"),
    ("oo", "5"),
    ("1/0", "1/0"),
    ("tan(pi/2)", "0"),
    ("x/(y-y)", "x"),
    ("100!", "99!*101"),
];

/// Pairs that differ somewhere; whether that can be proved is left open.
const NOT_EQUAL: &[(&str, &str)] = &[
    ("sqrt(x^2)", "x"),
    ("sqrt(x^2)", "-x"),
    ("sqrt(x^3*y)", "x*sqrt(x*y)"),
    ("sqrt(x*y^3)", "y*sqrt(x*y)"),
    ("sqrt(-x)*sqrt(-y)", "-sqrt(x*y)"),
    ("abs(x+y)", "abs(x)+abs(y)"),
    ("abs(x)", "x"),
    ("abs(z)^2", "z^2"),
    ("(x^4)^(1/4)", "x"),
    ("ln(x+y)", "ln(x)+ln(y)"),
    ("ln(x)/ln(y)", "ln(x)-ln(y)"),
    ("ln(-x)", "ln(x)"),
    ("ln(1-x)", "ln(x-1)"),
    ("(-x)^n", "x^n"),
    ("(1-x)^n", "(x-1)^n"),
    ("e^(x*y)", "e^x*e^y"),
    ("2^(x+1)", "2^x+2"),
    ("x^(a*b)", "x^a*x^b"),
    ("sin(x+y)", "sin(x)+sin(y)"),
    ("sin(x)^2", "sin(x^2)"),
    ("cos(x+pi)", "cos(x)"),
    ("sin(2*x)", "2*sin(x)"),
    ("tan(x)", "1/tan(x)"),
    ("asin(x)", "1/sin(x)"),
    ("atan(1/2)+atan(1/3)", "pi/3"),
    ("atan(2)+atan(3)", "-pi/4"),
    ("asin(sin(x))", "x"),
    ("atan(x)+atan(1/x)", "pi/2"),
    ("acot(x)", "atan(1/x)"),
    ("n!", "(n+1)!"),
    ("(2*n)!", "2*n!"),
    ("binom(n,k)", "binom(n,k+1)"),
    ("floor(x)", "x"),
    ("floor(-x)", "-floor(x)"),
    ("mod(x,3)", "x"),
    ("max(x,y)", "x"),
    ("gcd(x,y)", "1"),
    ("sum(k,k,1,n)", "n^2"),
    ("sum(1/k,k,1,n)", "ln(n)"),
    ("sum(2^k,k,0,oo)", "-1"),
    ("sum(f(k),k,1,n)", "sum(f(k),k,0,n)"),
    ("int(1/x,x,-1,1)", "0"),
    ("int(1/x^2,x,-1,1)", "-2"),
    ("f(x)", "f(y)"),
    ("f(x)", "g(x)"),
    ("f(x)", "x"),
    ("oo-oo", "0"),
    ("oo*0", "0"),
    ("oo/oo", "1"),
    ("sqrt(2+sqrt(2))", "sqrt(2-sqrt(2))"),
    ("sqrt(2+sqrt(3))", "(sqrt(6)-sqrt(2))/2"),
    ("sin(2*pi/5)", "sqrt(10-2*sqrt(5))/4"),
    ("cos(1/10)", "1"),
    ("e^pi", "pi^e"),
    ("e^(pi*sqrt(163))", "262537412640768744"),
    ("(x^2)^a", "abs(x)"),
    ("(e^(2*pi*i))^(1/2)", "-1"),
    ("(e^(i*x))^(1/2)", "e^(i*x/2)"),
    ("ln(e^(i*x))", "i*x"),
    ("ln(i^6)", "3*pi*i"),
    ("sqrt(i^6)", "i^3"),
    ("((-1)^2)^(1/2)", "-1"),
    ("sqrt((1-sqrt(2))^2)", "1-sqrt(2)"),
    ("sqrt((x-y)^2)", "x-y"),
    ("sign(x)*x", "x"),
    ("x^x", "x^2"),
    ("0^x", "0"),
    ("lim(abs(x)/x,x,0)", "1"),
    ("(x+1)^500", "(x+1)^501"),
    ("9^(9^(9^9))", "9^(9^(9^8))"),
    ("cbrt(2)*i", "cbrt(2)"),
    ("(-1)^(1/4)", "1"),
    ("2^(1/3)+4^(1/3)", "3"),
    ("sqrt(x+1)", "sqrt(x)+1"),
    ("sqrt(1-x^2)", "1-x"),
];

#[test]
fn differences_are_proved() {
    let mut missed = Vec::new();
    for (a, b) in DIFFERENT {
        for (a, b) in [(a, b), (b, a)] {
            if decide(a, b) != Some(false) {
                missed.push(format!(
                    "{a} ≠ {b}: {:?}, {} | {}",
                    decide(a, b),
                    shown(&formula(a)),
                    shown(&formula(b))
                ));
            }
        }
    }
    assert!(missed.is_empty(), "{} not proved:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn near_misses_are_never_equal() {
    for (a, b) in NOT_EQUAL {
        for (a, b) in [(a, b), (b, a)] {
            assert_ne!(
                decide(a, b),
                Some(true),
                "{a} | {b}: {} | {}",
                shown(&formula(a)),
                shown(&formula(b))
            );
        }
    }
}
