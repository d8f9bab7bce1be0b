//! Inputs with very large canonical forms: the fuel bounds both the work and the size of the result.

use super::{FUEL, formula};
use crate::{
    exact::{canonical_form, proportional, residues_agree, same},
    expr::{Expr, Function},
    fuel::Fuel,
};

/// Bytes of a canonical form written out, for one unit of fuel: a term that costs a unit is at most a few digits long.
const BYTES_PER_UNIT: u64 = 4;

/// Runs every operation on a pair within `FUEL`. An operation that fails has spent all of its fuel, unless the expression
/// is too deep; one that succeeds has a result in proportion to what it spent. An expression is never proved different from itself.
fn check(text: &str, expr: &Expr, other: &Expr, deep: bool) {
    let fuel = Fuel::new(FUEL);
    match canonical_form(expr, &fuel) {
        Ok(form) => {
            let (written, spent) = (form.to_string().len() as u64, FUEL - fuel.left());
            assert!(written <= 1_000 + BYTES_PER_UNIT * spent, "{text}: {written} bytes for {spent} units");
        }
        Err(_) => assert!(deep || fuel.left() == 0, "{text} failed with fuel left"),
    }
    for (name, operation) in [
        ("same", same as fn(&Expr, &Expr, &Fuel) -> _),
        ("proportional", proportional),
        ("residues_agree", residues_agree),
    ] {
        let fuel = Fuel::new(FUEL);
        match operation(expr, other, &fuel) {
            Ok(found) => assert!(expr != other || found != Some(false), "{name}: {text} differs from itself"),
            Err(_) => assert!(deep || fuel.left() == 0, "{name}: {text} failed with fuel left"),
        }
        // The same work with the same fuel has the same result.
        let again = Fuel::new(FUEL);
        assert_eq!(
            operation(expr, other, &again),
            operation(expr, other, &Fuel::new(FUEL)),
            "{name}: {text}"
        );
        assert_eq!(fuel.left(), again.left(), "{name}: {text}");
    }
}

#[test]
fn hostile_formulas_stay_within_their_fuel() {
    let all = [
        "9^(9^(9^9))",
        "2^(10^9)",
        "2^(-10^9)",
        "(1/3)^(10^18)",
        "x^(10^30)",
        "1000000!",
        "(1000000!)!",
        "(a+b+c+d)^1000",
        "(a+b+c+d)^1000*(a+b+c)^1000/(a+b)^1000",
        "(a+b+c+d+f+g+h)^40",
        "((x+1)^100+1)^100",
        "(sqrt(2)+sqrt(3)+sqrt(5)+sqrt(7))^1000",
        "1/(sqrt(2)+sqrt(3)+sqrt(5)+sqrt(7)+sqrt(11)+sqrt(13))",
        "sum(1/k,k,1,1000)",
        "sum(sum(sum(i*j*k,k,1,900),j,1,900),m,1,900)",
        "sum(sum(sum(1/(a+b+c),a,1,900),b,1,900),c,1,900)",
        "prod(x+k,k,1,1000)",
        "sum(2^k*k!,k,1,1000)",
        "cos(pi/997)+sin(pi/991)",
        "cos(pi/100000007)",
        "tan(pi/97)*tan(pi/89)*tan(pi/83)",
        "sin(sin(sin(sin(sin(sin(x))))))",
        "tan(tan(tan(tan(tan(x)))))",
        "sqrt(1+sqrt(2+sqrt(3+sqrt(4+sqrt(5+sqrt(6+x))))))",
        "binom(100000,50000)",
        "binom(10^12,10^6)",
        "sin(1000*x)-cos(999*x)^50",
        "ln(10^1000+1)",
        "sqrt(10^2000+1)",
        "(10^300+7)^(1/3)",
        "0.000001^1000000",
        "gcd(10^5000+1,10^4999+3)",
        "(x^(1/7)+y^(1/11)+3)^60",
        "int((x+1)^60,x,0,1)",
        "diff(x^x^x^x,x)",
    ];
    for text in all {
        let expr = formula(text);
        check(text, &expr, &expr, false);
        check(text, &expr, &formula("x+1"), false);
    }
}

#[test]
fn deep_nesting_stays_within_its_fuel() {
    let shapes: [fn(Expr) -> Expr; 6] = [
        |e| e.power(Expr::int(2)).plus(Expr::symbol("x")),
        |e| Expr::int(1).over(e.plus(Expr::int(1))),
        |e| Expr::call(Function::Sin, e),
        |e| e.plus(Expr::int(1)).root(Expr::int(2)),
        |e| Expr::call(Function::Abs, Expr::call(Function::Ln, e)),
        |e| Expr::int(2).power(e),
    ];
    for (at, shape) in shapes.into_iter().enumerate() {
        let mut expr = Expr::symbol("x");
        for _ in 0..256 {
            expr = shape(expr);
        }
        check(&format!("nested {at}"), &expr, &Expr::symbol("x"), true);
    }
}
