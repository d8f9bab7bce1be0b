//! Inputs made to hang or to fill the memory: all end within the tank.

use super::{TANK, formula};
use crate::{
    exact::{normal, proportional, residues_agree, same},
    expr::{Expr, Function},
    fuel::Fuel,
};

#[test]
fn hostile_formulas_end() {
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
        for other in [&expr, &formula("x+1")] {
            let fuel = Fuel::new(TANK);
            let start = std::time::Instant::now();
            let _ = normal(&expr, &fuel);
            let first = start.elapsed();
            let _ = same(&expr, other, &Fuel::new(TANK));
            let second = start.elapsed();
            let _ = proportional(&expr, other, &Fuel::new(TANK));
            let third = start.elapsed();
            let _ = residues_agree(&expr, other, &Fuel::new(TANK));
            let fourth = start.elapsed();
            if fourth.as_millis() > 60 {
                eprintln!("{text}: {first:?} {second:?} {third:?} {fourth:?}");
            }
        }
    }
}

#[test]
fn deep_nesting_ends() {
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
        let start = std::time::Instant::now();
        let _ = same(&expr, &Expr::symbol("x"), &Fuel::new(TANK));
        let _ = normal(&expr, &Fuel::new(TANK)).map(|n| n.to_string());
        let _ = residues_agree(&expr, &Expr::symbol("x"), &Fuel::new(TANK));
        if start.elapsed().as_millis() > 60 {
            eprintln!("deep {at} {:?}", start.elapsed());
        }
    }
}

/// Prints how long common comparisons take; run with `--ignored --nocapture` and `--release`.
#[test]
#[ignore = "a measurement"]
fn times() {
    let pairs = [
        ("1/2", "0.5"),
        ("x^2+2*x+1", "(x+1)^2"),
        ("sqrt(12)", "2*sqrt(3)"),
        ("sin(2*x)", "2*sin(x)*cos(x)"),
        ("ln(8)/ln(2)", "3"),
        ("cos(pi/5)", "(1+sqrt(5))/4"),
        ("(x^2-1)/(x-1)", "x+1"),
        ("7", "8"),
        ("100!", "99!*100"),
    ];
    for (a, b) in pairs {
        let (x, y) = (formula(a), formula(b));
        let start = std::time::Instant::now();
        for _ in 0..1000 {
            let _ = std::hint::black_box(same(&x, &y, &Fuel::new(TANK)));
        }
        let fuel = Fuel::new(TANK);
        let _ = same(&x, &y, &fuel);
        eprintln!("{a} = {b}: {:?} each, {} units", start.elapsed() / 1000, TANK - fuel.left());
    }
}
