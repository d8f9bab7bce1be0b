//! Atoms of an expression: numbers, names, brackets, fractions, functions.

use super::names;
use super::parser::{DEGREES, Parser, Read, ReadError};
use super::token::{Num, Tok, Token};
use aske_algebra::expr::{Constant, Expr, Function, Rational};
use dashu_int::IBig;

/// The function of this name, where it is written by its name.
pub(crate) fn named(name: &str) -> Option<Function> {
    use Function as F;
    match name {
        "Re" => Some(F::Re),
        "Im" => Some(F::Im),
        _ => Function::named(name).filter(|function| {
            !matches!(
                function,
                F::Sign
                    | F::Factorial
                    | F::DoubleFactorial
                    | F::Gamma
                    | F::Binomial
                    | F::Mod
                    | F::Re
                    | F::Im
                    | F::Conjugate
            )
        }),
    }
}

fn takes_many(function: Function) -> bool {
    matches!(function, Function::Gcd | Function::Lcm | Function::Max | Function::Min)
}

fn is_trigonometric(function: Function) -> bool {
    use Function as F;
    matches!(function, F::Sin | F::Cos | F::Tan | F::Cot | F::Sec | F::Csc)
}

/// Whether a command begins an expression's part.
pub(crate) fn is_atom(name: &str) -> bool {
    named(name).is_some()
        || names::GREEK.contains(&name)
        || name.contains(' ')
        || matches!(
            name,
            "frac"
                | "sqrt"
                | "cbrt"
                | "binom"
                | "pi"
                | "infty"
                | "log"
                | "lg"
                | "exp"
                | "sum"
                | "prod"
                | "int"
                | "lim"
                | "lfloor"
                | "lceil"
                | "imath"
                | "unit_i"
                | "unit_j"
                | "unit_k"
                | "overline"
                | "partial"
                | "angle"
                | "triangle"
                | "cis"
        )
}

impl Parser<'_> {
    /// The smallest part of an expression.
    pub(crate) fn atom(&mut self) -> Read<Expr> {
        self.context.fuel.spend(4)?;
        let token = self.peek().ok_or(ReadError::Syntax)?;
        match &token.tok {
            Tok::Num(num) => {
                if let Some(based) = self.mixed_digits().or_else(|| self.combinations()) {
                    return Ok(based);
                }
                self.at += 1;
                self.number(num)
            }
            Tok::Letter(letter) => match self.mixed_digits() {
                Some(based) => Ok(based),
                None => self.letter(*letter),
            },
            Tok::Op('(') => {
                if let Some(based) = self.based_bracket()? {
                    return Ok(based);
                }
                self.bracket(')')
            }
            Tok::Op('[') => self.bracket(']'),
            Tok::Op('{' | '^' | '_') if let Some(found) = self.scripted_combinations() => Ok(found),
            Tok::Op('{') => self.group(),
            Tok::Op('|') => self.bars(),
            Tok::Op('-') => {
                self.at += 1;
                Ok(self.deeper(Self::atom)?.negated())
            }
            Tok::Cmd(name) => {
                self.at += 1;
                self.command(name.as_str())
            }
            // A token is left before a bracket only where it names a function.
            Tok::Word(name) if self.tokens.get(self.at + 1).is_some_and(|t| t.is_op('(') || t.is_op('[')) => {
                self.at += 1;
                self.application(name.clone())
            }
            _ => Err(ReadError::Syntax),
        }
    }

    /// A number, in the base that its subscript names.
    fn number(&mut self, num: &Num) -> Read<Expr> {
        if self.next_is('_') {
            let digits = num.digits.clone().ok_or(ReadError::Syntax)?;
            let base = self.subscript()?.ok_or(ReadError::Syntax)?;
            return based(&digits, &base);
        }
        Ok(if num.decimal { Expr::Decimal(num.value.clone()) } else { Expr::Number(num.value.clone()) })
    }

    /// `1A_{16}`: digits and letters run together before a base.
    fn mixed_digits(&mut self) -> Option<Expr> {
        let digit = |token: &Token| {
            matches!(&token.tok, Tok::Num(Num { digits: Some(_), .. }) | Tok::Letter('A'..='Z'))
        };
        let rest = &self.tokens[self.at..];
        let length = rest
            .iter()
            .enumerate()
            .take_while(|(at, token)| digit(token) && (*at == 0 || !token.spaced))
            .count();
        let letters = rest[..length].iter().any(|token| matches!(token.tok, Tok::Letter(_)));
        let numbers = rest[..length].iter().any(|token| matches!(token.tok, Tok::Num(_))) || length > 1;
        // A single letter is a digit in base 16 only.
        let hexadecimal = || super::split::spell(&rest[length + 1..]).trim_matches(['{', '}']) == "16";
        if !letters || !rest.get(length)?.is_op('_') || !numbers && !hexadecimal() {
            return None;
        }
        let start = self.at;
        self.at += length;
        let read = self
            .subscript()
            .ok()
            .flatten()
            .and_then(|base| based(&super::split::spell(&rest[..length]), &base).ok());
        if read.is_none() {
            self.at = start;
        }
        read
    }

    /// `5C2` and `5P2`.
    fn combinations(&mut self) -> Option<Expr> {
        let [Token { tok: Tok::Num(of), .. }, letter, Token { tok: Tok::Num(taken), .. }, ..] =
            &self.tokens[self.at..]
        else {
            return None;
        };
        let name = match letter.tok {
            Tok::Letter('C') => "C",
            Tok::Letter('P') => "P",
            _ => return None,
        };
        if letter.spaced || self.tokens[self.at + 2].spaced {
            return None;
        }
        let arguments = [Expr::Number(of.value.clone()), Expr::Number(taken.value.clone())];
        let found = super::parser::counted(name, &arguments)?;
        self.at += 3;
        Some(found)
    }

    /// `{}_5C_2` and `^5P_2`.
    fn scripted_combinations(&mut self) -> Option<Expr> {
        let start = self.at;
        let found = (|| {
            if self.take('{') && !self.take('}') || !self.take('_') && !self.take('^') {
                return None;
            }
            let of = self.argument().ok()?;
            let name = match self.peek()?.tok {
                Tok::Letter('C') => "C",
                Tok::Letter('P') => "P",
                _ => return None,
            };
            self.at += 1;
            if !self.take('_') {
                return None;
            }
            let taken = self.argument().ok()?;
            super::parser::counted(name, &[of, taken])
        })();
        if found.is_none() {
            self.at = start;
        }
        found
    }

    /// `(101)_2`.
    fn based_bracket(&mut self) -> Read<Option<Expr>> {
        let Some(end) = super::split::closing(self.tokens, self.at) else { return Ok(None) };
        if !self.tokens.get(end + 1).is_some_and(|t| t.is_op('_')) {
            return Ok(None);
        }
        let digits = super::split::spell(&self.tokens[self.at + 1..end]);
        if !digits.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Ok(None);
        }
        self.at = end + 1;
        let base = self.subscript()?.ok_or(ReadError::Syntax)?;
        based(&digits, &base).map(Some)
    }

    fn bracket(&mut self, close: char) -> Read<Expr> {
        self.at += 1;
        let bars = std::mem::take(&mut self.bars);
        let inside = self.sum()?;
        self.bars = bars;
        self.expect(close)?;
        Ok(inside)
    }

    fn bars(&mut self) -> Read<Expr> {
        self.at += 1;
        self.bars += 1;
        let inside = self.sum()?;
        self.bars -= 1;
        self.expect('|')?;
        // The norm of a vector is not an absolute value.
        if inside.any(&|part| matches!(part, Expr::Symbol(name) if name.starts_with("vec "))) {
            return Ok(Expr::symbol(&format!("|{inside}|")));
        }
        Ok(Expr::call(Function::Abs, inside))
    }

    fn command(&mut self, name: &str) -> Read<Expr> {
        match name {
            "pi" => return Ok(Expr::Constant(Constant::Pi)),
            "infty" => return Ok(Expr::Constant(Constant::Infinity)),
            "imath" => return Ok(Expr::Constant(Constant::I)),
            "unit_i" | "unit_j" | "unit_k" => return Ok(Expr::symbol(name)),
            "frac" => return self.fraction(),
            "sqrt" => return self.root(),
            "cbrt" => return Ok(self.argument()?.root(Expr::int(3))),
            "binom" => {
                if let Some((above, below)) = self.two_digits() {
                    return Ok(Expr::Call(Function::Binomial, vec![above, below]));
                }
                let above = self.argument()?;
                let below = self.argument()?;
                return Ok(Expr::Call(Function::Binomial, vec![above, below]));
            }
            "lfloor" => return self.rounded("rfloor", Function::Floor),
            "lceil" => return self.rounded("rceil", Function::Ceil),
            "log" | "lg" | "exp" => return self.logarithm(name),
            "sum" | "prod" | "int" | "lim" => return self.binder(name),
            // Between two sets it is their symmetric difference.
            "triangle" if self.at > 1 && matches!(self.tokens[self.at - 2].tok, Tok::Letter(_)) => {
                return Err(ReadError::Syntax);
            }
            command @ ("angle" | "triangle") => {
                let start = self.at;
                while matches!(self.peek().map(|t| &t.tok), Some(Tok::Letter(_))) {
                    self.at += 1;
                }
                let name = super::split::spell(&self.tokens[start..self.at]);
                return points(name.as_str(), command == "angle")
                    .map(|name| Expr::symbol(&name))
                    .ok_or(ReadError::Syntax);
            }
            "overline" => {
                let inside = self.braced()?;
                // A segment is the same from either end.
                if let [Token { tok: Tok::Letter(a), .. }, Token { tok: Tok::Letter(b), .. }] = inside
                    && a.is_uppercase()
                    && b.is_uppercase()
                {
                    return Ok(Expr::symbol(&format!("{}{}̄", a.min(b), a.max(b))));
                }
                if let Ok(value) = self.within(inside).bounded()
                    && value.has_i()
                {
                    return Ok(Expr::call(Function::Conjugate, value));
                }
                return Ok(Expr::symbol(&format!("{}̄", super::split::spell(inside))));
            }
            _ => {}
        }
        if let Some(function) = named(name) {
            return self.function(function);
        }
        if let Some(letter) = name.strip_prefix("hat ") {
            return Ok(Expr::symbol(&format!("{letter}̂")));
        }
        if name.contains(' ') {
            let subscript = self.subscript()?;
            return Ok(Expr::symbol(&subscript.map_or_else(|| name.to_owned(), |s| format!("{name}_{s}"))));
        }
        if name == "cis" {
            let angle = in_radians(self.function_argument()?);
            let imaginary = Expr::Constant(Constant::I).times(Expr::call(Function::Sin, angle.clone()));
            return Ok(Expr::call(Function::Cos, angle).plus(imaginary));
        }
        if names::GREEK.contains(&name) {
            if self.next_is('(') && self.is_greek_function(name) {
                return match self.application(name.into())? {
                    Expr::Apply(_, arguments) if name == "Gamma" && arguments.len() == 1 => {
                        Ok(Expr::Call(Function::Gamma, arguments))
                    }
                    Expr::Apply(name, arguments) if name == "zeta" => {
                        Ok(zeta(&arguments).unwrap_or(Expr::Apply(name, arguments)))
                    }
                    other => Ok(other),
                };
            }
            // The change of a quantity is one name: `\Delta x`.
            if let ("Delta", Some(Tok::Letter(of @ ('r'..='z' | 'h')))) = (name, self.peek().map(|t| &t.tok))
            {
                self.at += 1;
                return Ok(Expr::symbol(&format!("Δ{of}")));
            }
            let subscript = self.subscript()?;
            return Ok(Expr::symbol(&subscript.map_or_else(|| name.to_owned(), |s| format!("{name}_{s}"))));
        }
        Err(ReadError::Syntax)
    }

    /// Whether a Greek letter before this bracket names a function: `\phi(12)`, `\Gamma(x+1)`; but `\lambda(1-\lambda)`
    /// is a product.
    fn is_greek_function(&self, name: &str) -> bool {
        if matches!(name, "Gamma" | "zeta" | "phi" | "Phi" | "sigma" | "tau" | "psi" | "Psi" | "chi") {
            return true;
        }
        let inside = super::split::closing(self.tokens, self.at).map(|end| &self.tokens[self.at + 1..end]);
        matches!(inside, Some([Token { tok: Tok::Num(_) | Tok::Letter(_), .. }]))
    }

    /// `\frac{a}{b}`, `\frac12`, `\frac\pi4`, and the derivative that is written as one.
    pub(crate) fn fraction(&mut self) -> Read<Expr> {
        if let Some(derivative) = self.derivative()? {
            return Ok(derivative);
        }
        if let Some((above, below)) = self.two_digits() {
            return Ok(above.over(below));
        }
        let above = self.argument()?;
        let below = self.argument()?;
        Ok(above.over(below))
    }

    /// `\frac12` and `\binom52`: the first digit is the first argument, the rest the second.
    fn two_digits(&mut self) -> Option<(Expr, Expr)> {
        let Some(Tok::Num(Num { digits: Some(digits), .. })) = self.peek().map(|t| &t.tok) else {
            return None;
        };
        if digits.len() < 2 || self.tokens.get(self.at + 1).is_some_and(|t| t.is_op('{')) {
            return None;
        }
        let (above, below) = digits.split_at(1);
        let value = |text: &str| text.parse::<IBig>().ok().map(Expr::integer);
        let both = (value(above)?, value(below)?);
        self.at += 1;
        Some(both)
    }

    fn root(&mut self) -> Read<Expr> {
        let mut degree = Expr::int(2);
        if self.next_is('[') {
            let end = super::split::closing(self.tokens, self.at).ok_or(ReadError::Syntax)?;
            degree = self.within(&self.tokens[self.at + 1..end]).bounded()?;
            self.at = end + 1;
        }
        // `\sqrt12` is the root of 1 next to a 2 in LaTeX, but rarely meant so.
        let inside = self.argument()?;
        Ok(inside.root(degree))
    }

    fn rounded(&mut self, close: &str, function: Function) -> Read<Expr> {
        let bars = std::mem::take(&mut self.bars);
        let inside = self.sum()?;
        self.bars = bars;
        if self.take_cmd(close) { Ok(Expr::call(function, inside)) } else { Err(ReadError::Syntax) }
    }

    /// `\log_2 8`, `\lg x`, `\exp(x)`.
    fn logarithm(&mut self, name: &str) -> Read<Expr> {
        let mut base = None;
        let mut power = None;
        loop {
            if self.next_is('_') && name == "log" && base.is_none() {
                self.at += 1;
                base = Some(self.argument()?);
            } else if self.next_is('^') && power.is_none() {
                self.at += 1;
                power = Some(self.exponent()?);
            } else {
                break;
            }
        }
        let argument = self.function_argument()?;
        let result = if name == "exp" {
            Expr::Constant(Constant::E).power(argument)
        } else {
            let natural = Expr::call(Function::Ln, argument);
            let base = match base {
                Some(base) => Some(base),
                None if name == "lg" => Some(Expr::int(10)),
                None => {
                    self.context.ambiguities.log.set(true);
                    (!self.context.notation.natural_log).then(|| Expr::int(10))
                }
            };
            match base {
                Some(base) => natural.over(Expr::call(Function::Ln, base)),
                None => natural,
            }
        };
        Ok(match power {
            Some(power) => result.power(power),
            None => result,
        })
    }

    /// A function, its power, and its argument.
    fn function(&mut self, mut function: Function) -> Read<Expr> {
        let mut power = None;
        if self.take('^') {
            let exponent = self.exponent()?;
            match function.inverse() {
                Some(inverse) if exponent == Expr::int(-1) => function = inverse,
                _ => power = Some(exponent),
            }
        }
        let result = if takes_many(function) {
            Expr::Call(function, self.arguments()?)
        } else {
            let argument = self.function_argument()?;
            let argument = if is_trigonometric(function) { in_radians(argument) } else { argument };
            Expr::call(function, argument)
        };
        Ok(match power {
            Some(power) => result.power(power),
            None => result,
        })
    }

    /// `(a, b, c)` or `\{a, b\}` after a function of several arguments.
    fn arguments(&mut self) -> Read<Vec<Expr>> {
        let open = self.peek().ok_or(ReadError::Syntax)?;
        if !open.is_op('(') && !open.is_op('{') && open.tok != Tok::SetOpen && !open.is_op('[') {
            return Err(ReadError::Syntax);
        }
        let end = super::split::closing(self.tokens, self.at).ok_or(ReadError::Syntax)?;
        let inside = &self.tokens[self.at + 1..end];
        self.at = end + 1;
        super::split::at(inside, |t| t.is_op(','))
            .into_iter()
            .map(|part| self.within(part).bounded())
            .collect()
    }

    /// A bracket or group directly behind the function's name, or the factors that follow up to the next function.
    fn function_argument(&mut self) -> Read<Expr> {
        if self.next_is('(') || self.next_is('{') || self.next_is('[') {
            let bracketed = self.deeper(Self::atom)?;
            // `\sin(x)^2` squares the sine, but `\sin{2}x` and `\sin\{2x\}` go on.
            return Ok(bracketed);
        }
        let negative = self.take('-');
        let mut factors = vec![self.power()?];
        while self.starts_factor() && !self.peek().is_some_and(is_function_name) {
            factors.push(self.power()?);
        }
        let mut argument = if factors.len() == 1 { factors.remove(0) } else { Expr::Product(factors) };
        // A quotient of plain parts belongs to the argument: `\sin \pi/6`.
        if self.next_is('/') && self.tokens.get(self.at + 1).is_some_and(|t| matches!(t.tok, Tok::Num(_))) {
            self.at += 1;
            argument = argument.over(self.power()?);
        }
        Ok(if negative { argument.negated() } else { argument })
    }
}

/// The name of an angle, the same from either side, or of a triangle, whatever its first corner.
fn points(letters: &str, angle: bool) -> Option<String> {
    let mut points: Vec<char> = letters.chars().collect();
    if points.is_empty() {
        return None;
    }
    if !angle {
        points.sort_unstable();
    } else if points.first() > points.last() {
        points.reverse();
    }
    let name: String = points.into_iter().collect();
    Some(format!("{}{name}", if angle { '∠' } else { '△' }))
}

fn is_function_name(token: &super::token::Token) -> bool {
    matches!(&token.tok, Tok::Cmd(name) if named(name).is_some() || matches!(name.as_str(), "log" | "lg" | "exp" | "sum" | "prod" | "int" | "lim"))
}

/// Digits in the base that a subscript names.
fn based(digits: &str, base: &str) -> Read<Expr> {
    let base: u32 = match base {
        "two" => 2,
        "three" => 3,
        "four" => 4,
        "five" => 5,
        "six" => 6,
        "seven" => 7,
        "eight" => 8,
        "nine" => 9,
        "ten" => 10,
        "eleven" => 11,
        "twelve" => 12,
        "sixteen" => 16,
        other => other.parse().map_err(|_| ReadError::Syntax)?,
    };
    if !(2..=36).contains(&base) {
        return Err(ReadError::Syntax);
    }
    IBig::from_str_radix(digits, base).map(Expr::integer).map_err(|_| ReadError::Syntax)
}

/// Degrees inside a function's argument, as radians.
fn in_radians(expr: Expr) -> Expr {
    map_degrees(expr, &|inside| {
        Expr::Product(vec![
            inside,
            Expr::Constant(Constant::Pi),
            Expr::Number(Rational::from_parts(IBig::ONE, 180_u8.into())),
        ])
    })
}

/// Every part in degrees, replaced.
pub(crate) fn map_degrees(expr: Expr, replace: &impl Fn(Expr) -> Expr) -> Expr {
    let all = |parts: Vec<Expr>| parts.into_iter().map(|part| map_degrees(part, replace)).collect::<Vec<_>>();
    match expr {
        Expr::Apply(name, mut inside) if name == DEGREES && inside.len() == 1 => {
            replace(map_degrees(inside.remove(0), replace))
        }
        Expr::Sum(parts) => Expr::Sum(all(parts)),
        Expr::Product(parts) => Expr::Product(all(parts)),
        Expr::Call(function, parts) => Expr::Call(function, all(parts)),
        Expr::Apply(name, parts) => Expr::Apply(name, all(parts)),
        Expr::Power(base, exponent) => map_degrees(*base, replace).power(map_degrees(*exponent, replace)),
        other => other,
    }
}

/// The Riemann zeta function at a small even number: `\zeta(2)` is `\pi^2/6`.
fn zeta(arguments: &[Expr]) -> Option<Expr> {
    let [Expr::Number(at)] = arguments else { return None };
    // Euler's values: ζ(2n) is π^{2n} over these.
    let (power, below) = [(2, 6), (4, 90), (6, 945), (8, 9450)]
        .into_iter()
        .find(|(power, _)| *at == aske_algebra::expr::Rational::from(*power))?;
    Some(Expr::Constant(Constant::Pi).power(Expr::int(power)).over(Expr::int(below)))
}
