//! A reader of prefix forms, for tests only.

use crate::expr::{Bind, Constant, Expr, Function, Over, Rational, Side, Symbol};

/// Reads one expression.
pub(super) fn read(text: &str) -> Expr {
    let spaced = text.replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let expr = take(&mut rest);
    assert!(rest.is_empty(), "left over in {text}: {rest:?}");
    expr
}

fn take(words: &mut &[&str]) -> Expr {
    let (first, rest) = words.split_first().unwrap();
    *words = rest;
    if *first != "(" {
        return atom(first);
    }
    let (name, rest) = words.split_first().unwrap();
    *words = rest;
    let mut args = Vec::new();
    while words[0] != ")" {
        args.push(take(words));
    }
    *words = &words[1..];
    form(name, args)
}

fn atom(word: &str) -> Expr {
    match word {
        "pi" => Expr::Constant(Constant::Pi),
        "e" => Expr::Constant(Constant::E),
        "i" => Expr::Constant(Constant::I),
        "inf" => Expr::Constant(Constant::Infinity),
        "gamma" => Expr::Constant(Constant::EulerGamma),
        _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => match word.split_once('.') {
            Some((_, places)) => {
                let digits: i64 = word.replace('.', "").parse().unwrap();
                Expr::Decimal(
                    Rational::from(digits) / Rational::from(10_i64.pow(u32::try_from(places.len()).unwrap())),
                )
            }
            None => Expr::Number(word.parse().unwrap()),
        },
        _ => Expr::symbol(word),
    }
}

fn form(name: &str, mut args: Vec<Expr>) -> Expr {
    let two = |args: Vec<Expr>| -> (Expr, Expr) { <[Expr; 2]>::try_from(args).unwrap().into() };
    match name {
        "+" => Expr::Sum(args),
        "*" => Expr::Product(args),
        "-" if args.len() == 1 => args.remove(0).negated(),
        "-" => {
            let (a, b) = two(args);
            a.minus(b)
        }
        "/" => {
            let (a, b) = two(args);
            a.over(b)
        }
        "^" => {
            let (a, b) = two(args);
            a.power(b)
        }
        "sqrt" => args.remove(0).root(Expr::int(2)),
        "exp" => Expr::Constant(Constant::E).power(args.remove(0)),
        "sum" | "product" | "integral" | "limit" | "below" | "above" | "diff" => {
            let Expr::Symbol(variable) = args.remove(0) else { panic!("no variable") };
            bind(name, variable, args)
        }
        _ => Expr::Call(function(name), args),
    }
}

fn bind(name: &str, variable: Symbol, mut args: Vec<Expr>) -> Expr {
    let body = args.pop().unwrap();
    let mut next = || args.remove(0);
    let over = match name {
        "sum" => Over::Sum(next(), next()),
        "product" => Over::Product(next(), next()),
        "integral" => Over::Integral(next(), next()),
        "limit" => Over::Limit(next(), None),
        "below" => Over::Limit(next(), Some(Side::Below)),
        "above" => Over::Limit(next(), Some(Side::Above)),
        _ => Over::Derivative(1),
    };
    Expr::Bind(Box::new(Bind { over, variable, body }))
}

/// All functions by name.
pub(super) const FUNCTIONS: [(&str, Function); 39] = {
    use Function as F;
    [
        ("sin", F::Sin),
        ("cos", F::Cos),
        ("tan", F::Tan),
        ("cot", F::Cot),
        ("sec", F::Sec),
        ("csc", F::Csc),
        ("asin", F::Arcsin),
        ("acos", F::Arccos),
        ("atan", F::Arctan),
        ("acot", F::Arccot),
        ("asec", F::Arcsec),
        ("acsc", F::Arccsc),
        ("sinh", F::Sinh),
        ("cosh", F::Cosh),
        ("tanh", F::Tanh),
        ("coth", F::Coth),
        ("sech", F::Sech),
        ("csch", F::Csch),
        ("asinh", F::Arsinh),
        ("acosh", F::Arcosh),
        ("atanh", F::Artanh),
        ("ln", F::Ln),
        ("abs", F::Abs),
        ("sign", F::Sign),
        ("floor", F::Floor),
        ("ceil", F::Ceil),
        ("gcd", F::Gcd),
        ("lcm", F::Lcm),
        ("max", F::Max),
        ("min", F::Min),
        ("factorial", F::Factorial),
        ("factorial2", F::DoubleFactorial),
        ("Gamma", F::Gamma),
        ("binomial", F::Binomial),
        ("mod", F::Mod),
        ("re", F::Re),
        ("im", F::Im),
        ("conj", F::Conjugate),
        ("arg", F::Arg),
    ]
};

fn function(name: &str) -> Function {
    FUNCTIONS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("no function {name}")).1
}
