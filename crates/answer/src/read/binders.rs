//! Operators that bind a variable: sums, products, integrals, limits, derivatives.

use super::parser::{Parser, Read, ReadError};
use super::split;
use super::token::{Tok, Token};
use aske_algebra::exact;
use aske_algebra::expr::{Bind, Constant, Expr, Over, Side, Symbol};
use smol_str::SmolStr;

/// The tokens under or over an operator.
type Script<'a> = Option<&'a [Token]>;

impl<'a> Parser<'a> {
    pub(crate) fn binder(&mut self, name: &str) -> Read<Expr> {
        match name {
            "int" => self.integral(),
            "lim" => self.limit(),
            _ => self.series(name == "sum"),
        }
    }

    /// `\sum_{k=1}^{n}` and its product.
    fn series(&mut self, adds: bool) -> Read<Expr> {
        let (below, above) = self.scripts()?;
        let below = below.ok_or(ReadError::Syntax)?;
        // `\sum_{k\ge0}` has no end.
        let endless = |t: &Token| t.is_cmd("ge") && above.is_none();
        let equals = split::find(below, |t| t.is_op('=') || endless(t)).ok_or(ReadError::Syntax)?;
        let variable = variable(&below[..equals])?;
        let from = self.within(&below[equals + 1..]).bounded()?;
        let to = match above {
            Some(above) => self.within(above).bounded()?,
            None if below[equals].is_cmd("ge") => Expr::Constant(Constant::Infinity),
            None => return Err(ReadError::Syntax),
        };
        let body = indexed(&self.bound_by(&variable, Self::term)?, &variable);
        Ok(bind(if adds { Over::Sum(from, to) } else { Over::Product(from, to) }, variable, body))
    }

    /// The tokens under and over an operator, in either order.
    fn scripts(&mut self) -> Read<(Script<'a>, Script<'a>)> {
        let (mut below, mut above) = (None, None);
        loop {
            if self.take('_') {
                below = Some(self.script()?);
            } else if self.take('^') {
                above = Some(self.script()?);
            } else {
                return Ok((below, above));
            }
        }
    }

    /// A braced group's tokens, or one token (with its sign).
    fn script(&mut self) -> Read<&'a [Token]> {
        if self.next_is('{') {
            return self.braced();
        }
        let start = self.at;
        self.at += 1 + usize::from(self.next_is('-') || self.next_is('+'));
        self.tokens.get(start..self.at).ok_or(ReadError::Syntax)
    }

    fn bound_by(&mut self, variable: &Symbol, read: impl FnOnce(&mut Self) -> Read<Expr>) -> Read<Expr> {
        self.bound.push(variable.clone());
        let body = self.deeper(read);
        self.bound.pop();
        body
    }

    /// `\int_a^b f\,dx`; the differential may stand in a numerator.
    fn integral(&mut self) -> Read<Expr> {
        let (below, above) = self.scripts()?;
        let rest = &self.tokens[self.at..];
        let (variable, body, length) = match differential(rest) {
            Some(at) => (letter(&rest[at + 1])?, &rest[..at], at + 2),
            None => return self.integral_of_fraction(below, above),
        };
        self.at += length;
        let mut inner = self.within(body);
        inner.bound.push(variable.clone());
        let body = if body.is_empty() { Expr::int(1) } else { inner.bounded()? };
        self.integrate(below, above, variable, &body)
    }

    fn integrate(
        &mut self,
        below: Option<&'a [Token]>,
        above: Option<&'a [Token]>,
        variable: Symbol,
        body: &Expr,
    ) -> Read<Expr> {
        let body = dependent(body, &variable, FUNCTIONS);
        Ok(match (below, above) {
            (Some(below), Some(above)) => {
                let from = self.within(below).bounded()?;
                let to = self.within(above).bounded()?;
                bind(Over::Integral(from, to), variable, body)
            }
            (None, None) => bind(Over::Antiderivative, variable, body),
            _ => return Err(ReadError::Syntax),
        })
    }

    /// `\int \frac{dx}{x}`.
    fn integral_of_fraction(&mut self, below: Option<&'a [Token]>, above: Option<&'a [Token]>) -> Read<Expr> {
        if !self.take_cmd("frac") {
            return Err(ReadError::Syntax);
        }
        let numerator = self.braced()?;
        let at = differential(numerator).ok_or(ReadError::Syntax)?;
        let variable = letter(&numerator[at + 1])?;
        let mut inner = self.within(&numerator[..at]);
        inner.bound.push(variable.clone());
        let over = if at == 0 { Expr::int(1) } else { inner.bounded()? };
        let denominator = self.bound_by(&variable, Self::argument)?;
        self.integrate(below, above, variable, &over.over(denominator))
    }

    /// `\lim_{x\to 0^+} f`.
    fn limit(&mut self) -> Read<Expr> {
        let (below, _) = self.scripts()?;
        let below = below.ok_or(ReadError::Syntax)?;
        let arrow = split::find(below, |t| t.is_cmd("to")).ok_or(ReadError::Syntax)?;
        let variable = variable(&below[..arrow])?;
        let mut target = &below[arrow + 1..];
        let mut side = None;
        let sign = |t: &Token| match t.tok {
            Tok::Op('+') => Some(Side::Above),
            Tok::Op('-') => Some(Side::Below),
            _ => None,
        };
        if let [front @ .., caret, last] = target
            && caret.is_op('^')
            && let Some(from) = sign(last)
        {
            (target, side) = (front, Some(from));
        } else if let [front @ .., caret, open, last, close] = target
            && caret.is_op('^')
            && open.is_op('{')
            && close.is_op('}')
            && let Some(from) = sign(last)
        {
            (target, side) = (front, Some(from));
        }
        let target = self.within(target).bounded()?;
        let body = indexed(&self.bound_by(&variable, Self::term)?, &variable);
        let body = dependent(&body, &variable, FUNCTIONS);
        Ok(bind(Over::Limit(target, side), variable, body))
    }

    /// `\frac{d}{dx}` before what it differentiates, or around it.
    pub(crate) fn derivative(&mut self) -> Read<Option<Expr>> {
        let start = self.at;
        let (Ok(above), Ok(below)) = (self.braced(), self.braced()) else {
            self.at = start;
            return Ok(None);
        };
        let found = (|| {
            let (first, numerator) = above.split_first()?;
            if !is_d(first) {
                return None;
            }
            let (order, numerator) = power(numerator)?;
            let (first, denominator) = below.split_first()?;
            if !is_d(first) {
                return None;
            }
            let name = letter(denominator.first()?).ok()?;
            let (same, rest) = power(&denominator[1..])?;
            (rest.is_empty() && same == order).then_some((order, numerator, name))
        })();
        let Some((order, numerator, name)) = found else {
            self.at = start;
            return Ok(None);
        };
        let body = if numerator.is_empty() {
            if self.peek().is_none() {
                self.at = start;
                return Ok(None);
            }
            self.term()?
        } else {
            self.within(numerator).bounded()?
        };
        let partial = above[0].is_cmd("partial");
        // The derivative of a name alone is a name: `dy/dx` is `y'`, and `∂f/∂x` is `f_x`.
        if let Expr::Symbol(of) = &body
            && *of != name
            && (!numerator.is_empty() || VARIABLES.contains(&of.as_str()))
        {
            let order = usize::from(order);
            return Ok(Some(if partial {
                Expr::symbol(&format!("{of}_{}", name.repeat(order)))
            } else {
                derivative_name(of, name, order)
            }));
        }
        let letters = if name == "t" { VARIABLES } else { DEPENDENT };
        let body = if partial { body } else { dependent(&body, &name, letters) };
        Ok(Some(bind(Over::Derivative(order), name, body)))
    }

    /// `dy/dx` in plain text: no quotient of products, and whether it is a name or an equation's side is not known.
    pub(crate) fn is_plain_derivative(&self) -> bool {
        let [d, of, slash, below, name, ..] = &self.tokens[self.at..] else { return false };
        let is_plain_d = |token: &Token| token.tok == Tok::Letter('d');
        is_plain_d(d)
            && is_plain_d(below)
            && slash.is_op('/')
            && [of, name].into_iter().all(|token| !token.spaced && letter(token).is_ok())
    }
}

/// Letters that usually stand for functions.
const FUNCTIONS: &[&str] = &["f", "g", "h", "F", "G"];
/// Letters that usually depend on what is differentiated by.
const DEPENDENT: &[&str] = &["f", "g", "F", "G", "y", "u", "v", "w"];
/// Letters that usually depend on time, or on what they are alone differentiated or integrated by.
const VARIABLES: &[&str] = &["f", "g", "h", "F", "G", "y", "u", "v", "w", "x", "z", "r", "s"];

/// The name of a derivative of a name.
fn derivative_name(of: &str, name: Symbol, order: usize) -> Expr {
    let primes = "'".repeat(order);
    if of == "y" && name == "x" {
        Expr::symbol(&format!("y{primes}"))
    } else if matches!(of, "f" | "g" | "h") {
        Expr::Apply(SmolStr::new(format!("{of}{primes}")), vec![Expr::Symbol(name)])
    } else {
        Expr::symbol(&format!("d{of}/d{name}{primes}"))
    }
}

/// A body in which letters that usually depend on the bound variable are functions of it: `\int f\,dx`,
/// `\frac{d}{dx}(xy)`. So is a letter that is all of the body, as in `\int u\,dv`.
fn dependent(body: &Expr, variable: &Symbol, letters: &[&str]) -> Expr {
    let whole = matches!(body, Expr::Symbol(name) if VARIABLES.contains(&name.as_str()));
    let letters = if whole { VARIABLES } else { letters };
    let names = exact::free_symbols(body);
    names.iter().filter(|name| letters.contains(&name.as_str()) && *name != variable).fold(
        body.clone(),
        |body, name| {
            // `\int f\,dt` need not be `\int f\,dx`.
            let function = if variable == "x" { name.clone() } else { format!("{name}[{variable}]").into() };
            exact::substitute(&body, name, &Expr::Apply(function, vec![Expr::Symbol(variable.clone())]))
        },
    )
}

/// A body in which letters with the bound variable as their index are functions of it: `a_k`.
fn indexed(body: &Expr, variable: &Symbol) -> Expr {
    let names = exact::free_symbols(body);
    names.iter().fold(body.clone(), |body, name| match name.split_once('_') {
        Some((stem, index)) if index == variable.as_str() => {
            let applied = Expr::Apply(SmolStr::new(stem), vec![Expr::Symbol(variable.clone())]);
            exact::substitute(&body, name, &applied)
        }
        _ => body,
    })
}

fn bind(over: Over, variable: Symbol, body: Expr) -> Expr {
    Expr::Bind(Box::new(Bind { over, variable, body }))
}

fn is_d(token: &Token) -> bool {
    token.tok == Tok::Letter('d') || token.is_cmd("partial")
}

/// `^2` at the front, else 1, and what follows.
fn power(tokens: &[Token]) -> Option<(u8, &[Token])> {
    let [caret, rest @ ..] = tokens else { return Some((1, tokens)) };
    if !caret.is_op('^') {
        return Some((1, tokens));
    }
    let order = |token: &Token| match &token.tok {
        Tok::Num(num) => num.digits.as_ref()?.parse::<u8>().ok().filter(|order| (1..=6).contains(order)),
        _ => None,
    };
    match rest {
        [open, number, close, rest @ ..] if open.is_op('{') && close.is_op('}') => {
            Some((order(number)?, rest))
        }
        [number, rest @ ..] => Some((order(number)?, rest)),
        [] => None,
    }
}

/// Where `d` and its variable stand, outside every bracket.
fn differential(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0;
    // Integrals inside have differentials of their own, which come first.
    let mut inner = 0;
    for (at, token) in tokens.iter().enumerate() {
        inner += u32::from(depth == 0 && token.is_cmd("int"));
        depth += token.nesting();
        if depth < 0 {
            return None;
        }
        if depth > 0 {
            continue;
        }
        if token.tok == Tok::Letter('d') && tokens.get(at + 1).is_some_and(|next| letter(next).is_ok()) {
            if inner == 0 {
                return Some(at);
            }
            inner -= 1;
        }
    }
    None
}

fn letter(token: &Token) -> Read<Symbol> {
    match &token.tok {
        Tok::Letter(c) => Ok(SmolStr::new(c.encode_utf8(&mut [0; 4]))),
        Tok::Cmd(name) if super::names::GREEK.contains(&name.as_str()) => Ok(name.clone()),
        _ => Err(ReadError::Syntax),
    }
}

fn variable(tokens: &[Token]) -> Read<Symbol> {
    match tokens {
        [one] => letter(one),
        _ => Err(ReadError::Syntax),
    }
}
