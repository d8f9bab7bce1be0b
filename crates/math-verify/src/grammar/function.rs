//! Functions: known ones with or without brackets, and unknown ones by their name.

use super::atom::differential_name;
use super::integral::derivative;
use super::operator::{exponential, quotient, root};
use super::{Parse, ParseError, Parser};
use crate::token::{Bracket, Tok};
use crate::tree::{Value, complex_infinity, integer, symbol_name};
use aske_algebra::expr::{Constant, Expr, Function, Symbol};
use aske_algebra::fuel::Fuel;
use aske_algebra::integer::{binomial, factorial};
use smol_str::SmolStr;

/// Binomials up to this size are computed at once.
const LARGEST: i64 = 2000;

impl Parser<'_> {
    pub(super) fn function(&mut self) -> Parse<Expr> {
        self.nested(|parser| match parser.peek() {
            Tok::E => {
                parser.at += 1;
                Ok(exponential(parser.superscript()?.unwrap_or_else(|| Expr::int(1))))
            }
            Tok::Sqrt => parser.square_root(),
            Tok::Sum | Tok::Prod => parser.sum_or_product(),
            Tok::Lim => parser.limit(),
            Tok::Int => parser.integral(),
            Tok::Several(function) => {
                parser.at += 1;
                parser.several(function)
            }
            Tok::Operator => parser.operator(),
            Tok::Letter | Tok::Named | Tok::Accent => parser.call(),
            _ => parser.single(),
        })
    }

    fn square_root(&mut self) -> Parse<Expr> {
        self.at += 1;
        let degree = if self.eat(Tok::Open(Bracket::Square)) {
            let degree = Self::scalar(self.unbarred()?)?;
            self.close(Bracket::Square)?;
            degree
        } else {
            Expr::int(2)
        };
        Ok(root(Self::scalar(self.braced()?)?, degree))
    }

    /// A known function of one argument.
    fn single(&mut self) -> Parse<Expr> {
        let tok = self.peek();
        self.at += 1;
        self.applied(tok)
    }

    /// The scripts and the argument of a known function, whose name has been read.
    fn applied(&mut self, tok: Tok) -> Parse<Expr> {
        let (base, mut power) = self.scripts()?;
        let argument = Self::scalar(self.argument()?)?;
        let ln = |of| Expr::call(Function::Ln, of);
        let call = match tok {
            Tok::Ln if base.is_none() => ln(argument),
            Tok::Log | Tok::Ln => {
                let base = base.unwrap_or_else(|| Expr::int(10));
                if base == Expr::Constant(Constant::E) {
                    ln(argument)
                } else {
                    ln(argument).times(ln(base).power(Expr::int(-1)))
                }
            }
            Tok::Exp => Expr::Constant(Constant::E).power(argument),
            Tok::Gamma => gamma(argument, self.fuel)?,
            Tok::Function(function) => {
                let inverse = function.inverse().filter(|_| power == Some(Expr::int(-1)));
                power = power.filter(|_| inverse.is_none());
                Expr::call(inverse.unwrap_or(function), argument)
            }
            _ => return Err(ParseError::Syntax),
        };
        Ok(raised(call, power))
    }

    /// A base below and a power above, in either order.
    fn scripts(&mut self) -> Parse<(Option<Expr>, Option<Expr>)> {
        let (mut base, mut power) = (None, None);
        loop {
            match self.peek() {
                Tok::Under if base.is_none() => {
                    self.at += 1;
                    base = Some(self.exponent()?);
                }
                Tok::Caret if power.is_none() => power = self.superscript()?,
                _ => return Ok((base, power)),
            }
        }
    }

    fn argument(&mut self) -> Parse<Value> {
        if self.peek() == Tok::Open(Bracket::Paren) {
            self.at += 1;
            let inside = self.unbarred()?;
            self.close(Bracket::Paren)?;
            return Ok(inside);
        }
        self.product(true)
    }

    /// `\operatorname{…}` of the few names that are known.
    fn operator(&mut self) -> Parse<Expr> {
        self.at += 1;
        self.open(Bracket::Brace)?;
        let name = self.text_of(self.at);
        self.expect(Tok::Word)?;
        self.close(Bracket::Brace)?;
        let function = match name {
            "gcd" => return self.several(Function::Gcd),
            "lcm" => return self.several(Function::Lcm),
            "floor" => Function::Floor,
            "ceil" => Function::Ceil,
            "arsinh" | "arcsinh" => Function::Arsinh,
            "arcosh" | "arccosh" => Function::Arcosh,
            "artanh" | "arctanh" => Function::Artanh,
            _ => return Err(ParseError::Syntax),
        };
        self.applied(Tok::Function(function))
    }

    /// A known function of several arguments, always in brackets.
    fn several(&mut self, function: Function) -> Parse<Expr> {
        let (_, power) = self.scripts()?;
        let start = self.at;
        self.open(Bracket::Paren)?;
        let end = self.partner(start).ok_or(ParseError::Syntax)?;
        let arguments = self.arguments(start + 1, end)?;
        self.at = end + 1;
        Ok(raised(Expr::Call(function, arguments), power))
    }

    /// Arguments between commas, each read as an answer of its own.
    fn arguments(&self, from: usize, to: usize) -> Parse<Vec<Expr>> {
        let text = self.joined(from, to);
        let mut parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 1 && parts.last().is_some_and(|part| part.is_empty()) {
            parts.pop();
        }
        parts.into_iter().map(|part| self.inner_scalar(part)).collect()
    }

    /// Whether a symbol here is applied to arguments: to one atom, or to what has a comma in it.
    pub(super) fn begins_call(&self) -> bool {
        matches!(self.peek(), Tok::Letter | Tok::Named | Tok::Accent) && self.call_brackets().is_some()
    }

    /// Where the name ends, and the brackets around the arguments.
    fn call_brackets(&self) -> Option<(usize, usize, usize)> {
        let mut at = self.at + 1;
        if self.tok(at) == Tok::Under {
            at = self.skip_script(at + 1)?;
        }
        let name_end = at;
        if self.tok(at) == Tok::Caret {
            at = self.skip_script(at + 1)?;
        }
        let wrapped = self.tok(at) == Tok::Open(Bracket::Brace);
        let open = if wrapped { at + 1 } else { at };
        let Tok::Open(kind @ (Bracket::Paren | Bracket::Square)) = self.tok(open) else { return None };
        let close = self.partner(open)?;
        if self.tok(close) != Tok::Close(kind)
            || (wrapped && self.tok(close + 1) != Tok::Close(Bracket::Brace))
        {
            return None;
        }
        let one = self.skip_atom(open + 1) == Some(close);
        (one || self.has_comma(open, close)).then_some((name_end, open, close))
    }

    /// A comma directly between two brackets.
    pub(super) fn has_comma(&self, open: usize, close: usize) -> bool {
        self.directly(open, close, |tok| tok == Tok::Comma)
    }

    /// Some token directly between two brackets, not in brackets of its own.
    pub(super) fn directly(&self, open: usize, close: usize, wanted: impl Fn(Tok) -> bool) -> bool {
        let mut at = open + 1;
        while at < close {
            match self.tok(at) {
                Tok::Open(_) => at = self.partner(at).filter(|end| *end > at).map_or(at + 1, |end| end + 1),
                tok if wanted(tok) => return true,
                _ => at += 1,
            }
        }
        false
    }

    fn call(&mut self) -> Parse<Expr> {
        let (name_end, open, close) = self.call_brackets().ok_or(ParseError::Syntax)?;
        let name = self.joined(self.at, name_end);
        let arguments = self.arguments(open + 1, close)?;
        self.at = name_end;
        let power = self.superscript()?;
        self.at = close + 1;
        if self.tok(open - 1) == Tok::Open(Bracket::Brace) && self.peek() == Tok::Close(Bracket::Brace) {
            self.at += 1;
        }
        Ok(raised(Expr::Apply(SmolStr::new(name), arguments), power))
    }

    /// Where the braces of a fraction here open, and where the second ones close.
    fn fraction_braces(&self) -> Option<(usize, usize, usize)> {
        let above = self.at + 1;
        let below = self.partner(above)? + 1;
        let end = self.partner(below)?;
        let brace = Tok::Open(Bracket::Brace);
        (self.tok(above) == brace && self.tok(below) == brace).then_some((above, below, end))
    }

    /// A fraction here of something over one differential, as `\frac{dy}{dx}`: the text above, the variable, and where
    /// the fraction ends.
    fn quotient_of_differentials(&self) -> Option<(String, Symbol, usize)> {
        let (above, below, end) = self.fraction_braces()?;
        if end != below + 2 || self.tok(below + 1) != Tok::Differential {
            return None;
        }
        let variable = symbol_name(differential_name(self.text_of(below + 1)), self.real);
        Some((self.joined(above + 1, below - 1), variable, end + 1))
    }

    /// `\frac{d}{dx}`: the variable of a derivative of all that follows.
    pub(super) fn derivative_operator(&mut self) -> Option<Symbol> {
        let (_, variable, end) = self.quotient_of_differentials().filter(|(above, ..)| above == "d")?;
        self.at = end;
        Some(variable)
    }

    /// A fraction; of differentials, a derivative.
    pub(super) fn fraction(&mut self) -> Parse<Value> {
        if let Some((above, variable, end)) = self.quotient_of_differentials()
            && let Some(body) = above.strip_prefix('d')
        {
            let body = self.inner_scalar(body)?;
            self.at = end;
            return Ok(Value::Expr(derivative(variable, body)));
        }
        self.fraction_braces().ok_or(ParseError::Syntax)?;
        self.at += 1;
        let top = self.nested(Self::braced)?;
        let low = self.nested(Self::braced)?;
        quotient(top, low)
    }

    pub(super) fn binomial(&mut self) -> Parse<Value> {
        self.at += 1;
        let top = Self::scalar(self.nested(Self::braced)?)?;
        let low = Self::scalar(self.nested(Self::braced)?)?;
        choose(top, low, self.fuel).map(Value::Expr)
    }
}

/// n choose k, computed where both are small integers.
pub(super) fn choose(n: Expr, k: Expr, fuel: &Fuel) -> Parse<Expr> {
    let small = |expr: &Expr| integer(expr).and_then(|value| i64::try_from(&value).ok());
    match (small(&n), small(&k)) {
        (Some(top @ 0..=LARGEST), Some(low)) => {
            if low < 0 || low > top {
                return Ok(Expr::int(0));
            }
            fuel.spend(50 * low.min(top - low).unsigned_abs())?;
            Ok(Expr::integer(binomial(top.unsigned_abs(), low.unsigned_abs()).into()))
        }
        (_, Some(0)) => Ok(Expr::int(1)),
        (_, Some(1)) => Ok(n),
        _ => Ok(Expr::Call(Function::Binomial, vec![n, k])),
    }
}

fn raised(base: Expr, power: Option<Expr>) -> Expr {
    match power {
        Some(power) => base.power(power),
        None => base,
    }
}

/// The gamma function, computed at small integers.
fn gamma(of: Expr, fuel: &Fuel) -> Parse<Expr> {
    Ok(match integer(&of).and_then(|value| i64::try_from(&value).ok()) {
        Some(n) if n <= 0 => complex_infinity(),
        Some(n @ 1..=LARGEST) => {
            fuel.spend(50 * n.unsigned_abs())?;
            Expr::integer(factorial(n.unsigned_abs() - 1, 1).into())
        }
        _ => Expr::call(Function::Gamma, of),
    })
}
