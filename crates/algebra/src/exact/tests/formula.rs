//! A reader for test formulas: `2*x^2 - sqrt(3)/f(x)!`, with `sum(body, k, 1, n)` and friends.

use dashu_ratio::RBig;

use crate::expr::{Bind, Constant, Expr, Function, Over, Symbol};

/// Reads a formula; tests only, so it panics on anything odd.
pub(super) fn formula(text: &str) -> Expr {
    let tokens = tokens(text);
    let mut reader = Reader { tokens, at: 0 };
    let out = reader.sum();
    assert_eq!(reader.at, reader.tokens.len(), "left over in {text}");
    out
}

fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut joins = false;
    for c in text.chars() {
        let word = c.is_alphanumeric() || c == '.';
        match out.last_mut() {
            Some(last) if word && joins => last.push(c),
            _ if !c.is_whitespace() => out.push(c.to_string()),
            _ => {}
        }
        joins = word;
    }
    out
}

struct Reader {
    tokens: Vec<String>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn sum(&mut self) -> Expr {
        let mut out = self.product();
        loop {
            if self.take("+") {
                out = out.plus(self.product());
            } else if self.take("-") {
                out = out.minus(self.product());
            } else {
                return out;
            }
        }
    }

    fn product(&mut self) -> Expr {
        let mut out = self.signed();
        loop {
            if self.take("*") {
                out = out.times(self.signed());
            } else if self.take("/") {
                out = out.over(self.signed());
            } else {
                return out;
            }
        }
    }

    fn signed(&mut self) -> Expr {
        if self.take("-") { self.signed().negated() } else { self.power() }
    }

    fn power(&mut self) -> Expr {
        let base = self.postfix();
        if self.take("^") { base.power(self.signed()) } else { base }
    }

    fn postfix(&mut self) -> Expr {
        let mut out = self.atom();
        while self.take("!") {
            out = Expr::call(Function::Factorial, out);
        }
        out
    }

    fn atom(&mut self) -> Expr {
        if self.take("(") {
            let out = self.sum();
            assert!(self.take(")"));
            return out;
        }
        let word = self.peek().to_string();
        self.at += 1;
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            let (whole, part) = word.split_once('.').unwrap_or((&word, ""));
            let scale = RBig::from(10).pow(isize::try_from(part.len()).unwrap());
            let digits: dashu_int::IBig = format!("{whole}{part}").parse().unwrap();
            return Expr::Number(RBig::from(digits) / scale);
        }
        if !self.take("(") {
            return match word.as_str() {
                "pi" => Expr::Constant(Constant::Pi),
                "e" => Expr::Constant(Constant::E),
                "i" => Expr::Constant(Constant::I),
                "oo" => Expr::Constant(Constant::Infinity),
                name => Expr::symbol(name),
            };
        }
        let mut args = Vec::new();
        while !self.take(")") {
            args.push(self.sum());
            self.take(",");
        }
        call(&word, args)
    }
}

fn call(name: &str, mut args: Vec<Expr>) -> Expr {
    use Function as F;
    let function = match name {
        "sin" => F::Sin,
        "cos" => F::Cos,
        "tan" => F::Tan,
        "cot" => F::Cot,
        "sec" => F::Sec,
        "csc" => F::Csc,
        "asin" => F::Arcsin,
        "acos" => F::Arccos,
        "atan" => F::Arctan,
        "acot" => F::Arccot,
        "asec" => F::Arcsec,
        "sinh" => F::Sinh,
        "cosh" => F::Cosh,
        "tanh" => F::Tanh,
        "asinh" => F::Arsinh,
        "acosh" => F::Arcosh,
        "atanh" => F::Artanh,
        "ln" => F::Ln,
        "abs" => F::Abs,
        "sign" => F::Sign,
        "floor" => F::Floor,
        "ceil" => F::Ceil,
        "gcd" => F::Gcd,
        "lcm" => F::Lcm,
        "max" => F::Max,
        "min" => F::Min,
        "gamma" => F::Gamma,
        "binom" => F::Binomial,
        "mod" => F::Mod,
        "re" => F::Re,
        "im" => F::Im,
        "conj" => F::Conjugate,
        "arg" => F::Arg,
        "sqrt" => return args.remove(0).root(Expr::int(2)),
        "cbrt" => return args.remove(0).root(Expr::int(3)),
        "exp" => return Expr::Constant(Constant::E).power(args.remove(0)),
        "log" => {
            let base = Expr::call(F::Ln, args.remove(0));
            return Expr::call(F::Ln, args.remove(0)).over(base);
        }
        "sum" | "prod" | "int" | "prim" | "lim" | "diff" => return bind(name, args),
        other => return Expr::Apply(Symbol::new(other), args),
    };
    Expr::Call(function, args)
}

fn bind(name: &str, args: Vec<Expr>) -> Expr {
    let mut args = args.into_iter();
    let body = args.next().unwrap();
    let Some(Expr::Symbol(variable)) = args.next() else { panic!("a variable comes second") };
    let mut next = || args.next().unwrap();
    let over = match name {
        "sum" => Over::Sum(next(), next()),
        "prod" => Over::Product(next(), next()),
        "int" => Over::Integral(next(), next()),
        "lim" => Over::Limit(next(), None),
        "diff" => Over::Derivative(1),
        _ => Over::Antiderivative,
    };
    Expr::Bind(Box::new(Bind { over, variable, body }))
}
