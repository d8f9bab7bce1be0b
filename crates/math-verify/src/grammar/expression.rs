//! Sums, products, signs, powers and postfix operators.

use super::integral::derivative;
use super::operator::{juxtaposed, negated, product, quotient, sum};
use super::{Parse, ParseError, Parser};
use crate::token::{Bracket, Tok};
use crate::tree::{Value, complex_infinity};
use aske_algebra::expr::{Expr, Function, Symbol};

/// The most powers and factorials on one factor.
const STACK: u32 = 60;

/// The deepest nesting of derivatives.
const MAX_DERIVATIVES: usize = 6;

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parse<Value> {
        self.nested(|parser| {
            let mut left = parser.product(false)?;
            loop {
                let minus = match parser.peek() {
                    Tok::Add => false,
                    Tok::Sub => true,
                    _ => return Ok(left),
                };
                parser.at += 1;
                let right = parser.product(false)?;
                left = sum(left, if minus { negated(right) } else { right })?;
            }
        })
    }

    /// Factors with signs between them. If `plain`, as in an argument without brackets, only the first factor may be a
    /// function.
    pub(super) fn product(&mut self, plain: bool) -> Parse<Value> {
        let mut left = self.signed(plain)?;
        loop {
            match self.peek() {
                Tok::Mul => {
                    self.at += 1;
                    let right = self.signed(plain)?;
                    left = product(left, right)?;
                }
                Tok::Div => {
                    self.at += 1;
                    let right = self.signed(plain)?;
                    left = quotient(left, right)?;
                }
                Tok::Mod => {
                    self.at += 1;
                    let right = Self::scalar(self.signed(plain)?)?;
                    left = Value::Expr(Expr::Call(Function::Mod, vec![Self::scalar(left)?, right]));
                }
                _ => return Ok(left),
            }
        }
    }

    fn signed(&mut self, plain: bool) -> Parse<Value> {
        let mut minus = 0_u32;
        loop {
            match self.peek() {
                Tok::Add => {}
                Tok::Sub => minus += 1,
                _ => break,
            }
            self.at += 1;
        }
        if minus > STACK {
            return Err(ParseError::Bounds);
        }
        let mut value = self.nested(|parser| parser.factors(plain))?;
        for _ in 0..minus {
            value = negated(value);
        }
        Ok(value)
    }

    fn factors(&mut self, plain: bool) -> Parse<Value> {
        let mut factors = Vec::new();
        let mut derivatives: Vec<(usize, Symbol)> = Vec::new();
        loop {
            self.fuel.spend(4)?;
            // After a function without brackets, only the first factor may be a function.
            let begins = if plain && !(factors.is_empty() && derivatives.is_empty()) {
                self.begins_factor() && !self.begins_function()
            } else {
                self.begins_factor()
            };
            if !begins {
                break;
            }
            if self.is_bare_atom() {
                factors.push(Value::Expr(self.atom()?));
                continue;
            }
            if self.peek() == Tok::Frac
                && let Some(variable) = self.derivative_operator()
            {
                derivatives.push((factors.len(), variable));
                continue;
            }
            let plain_here = plain && !factors.is_empty();
            factors.push(self.postfix(plain_here)?);
        }
        // Every derivative makes the tree one level deeper.
        if derivatives.len() > MAX_DERIVATIVES {
            return Err(ParseError::Bounds);
        }
        for (at, variable) in derivatives.into_iter().rev() {
            let body = Self::scalar(juxtaposed(factors.split_off(at))?)?;
            factors.push(Value::Expr(derivative(variable, body)));
        }
        juxtaposed(factors)
    }

    /// A letter or a number without subscript, power, arguments and postfix operator: the common case, which skips the
    /// layers below.
    fn is_bare_atom(&self) -> bool {
        matches!(self.peek(), Tok::Letter | Tok::Number)
            && !matches!(
                self.tok(self.at + 1),
                Tok::Under | Tok::Caret | Tok::Bang | Tok::Degree | Tok::Transpose | Tok::Open(_)
            )
    }

    fn begins_factor(&self) -> bool {
        match self.peek() {
            Tok::Open(bracket) => bracket != Bracket::Angle,
            Tok::Differential => self.differential != Some(self.at),
            // A bar ends what is between bars, if it is between bars.
            Tok::Bar => !self.barred,
            tok => {
                matches!(
                    tok,
                    Tok::Vert
                        | Tok::Wrapper
                        | Tok::Frac
                        | Tok::Binom
                        | Tok::MatrixStart
                        | Tok::ArrayStart
                        | Tok::DetStart
                        | Tok::Letter
                        | Tok::Named
                        | Tok::Accent
                        | Tok::Number
                        | Tok::Scientific
                        | Tok::Percent
                        | Tok::Infinity
                        | Tok::BigE
                ) && !(tok == Tok::Vert && self.barred)
                    || self.begins_function()
            }
        }
    }

    fn begins_function(&self) -> bool {
        matches!(
            self.peek(),
            Tok::Lim
                | Tok::Int
                | Tok::Sum
                | Tok::Prod
                | Tok::Log
                | Tok::Ln
                | Tok::Exp
                | Tok::Gamma
                | Tok::Function(_)
                | Tok::Several(_)
                | Tok::Operator
                | Tok::Sqrt
                | Tok::E
        )
    }

    #[inline(never)]
    fn postfix(&mut self, plain: bool) -> Parse<Value> {
        let mut value = self.power(plain)?;
        for count in 0.. {
            match self.peek() {
                Tok::Bang => {
                    value = Value::Expr(Expr::call(Function::Factorial, Self::scalar(value)?));
                }
                Tok::Degree => {}
                Tok::Transpose => {
                    if let Value::Matrix(matrix) = value {
                        value = Value::Matrix(super::matrix::transposed(&matrix));
                    }
                }
                _ => break,
            }
            if count > STACK {
                return Err(ParseError::Bounds);
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn power(&mut self, plain: bool) -> Parse<Value> {
        let mut base = self.component(plain)?;
        for count in 0.. {
            if self.peek() != Tok::Caret || self.is_side_mark() {
                break;
            }
            if count > STACK {
                return Err(ParseError::Bounds);
            }
            self.at += 1;
            let exponent = self.exponent()?;
            if self.peek() == Tok::Under {
                self.subscript()?;
            }
            base = Self::raised(base, exponent)?;
        }
        Ok(base)
    }

    fn raised(base: Value, exponent: Expr) -> Parse<Value> {
        match base {
            Value::Expr(base) => Ok(Value::Expr(base.power(exponent))),
            Value::Matrix(matrix) => {
                let times = match &exponent {
                    Expr::Number(value) if value.is_int() => u8::try_from(value.numerator()).ok(),
                    _ => None,
                };
                match times {
                    Some(times @ 1..=16) => {
                        let mut out = Value::Matrix(matrix.clone());
                        for _ in 1..times {
                            out = product(out, Value::Matrix(matrix.clone()))?;
                        }
                        Ok(out)
                    }
                    _ => Ok(Value::Expr(complex_infinity())),
                }
            }
            _ => Err(ParseError::Syntax),
        }
    }

    /// Whether `^{+}` or `^{-}` follows: the side of a limit, not a power.
    fn is_side_mark(&self) -> bool {
        self.peek() == Tok::Caret
            && self.tok(self.at + 1) == Tok::Open(Bracket::Brace)
            && matches!(self.tok(self.at + 2), Tok::Add | Tok::Sub)
            && self.tok(self.at + 3) == Tok::Close(Bracket::Brace)
    }

    /// What follows `^`: an atom or an expression in braces.
    pub(super) fn exponent(&mut self) -> Parse<Expr> {
        if self.peek() == Tok::Open(Bracket::Brace) {
            return Self::scalar(self.nested(Self::braced)?);
        }
        self.nested(Self::atom)
    }

    fn component(&mut self, plain: bool) -> Parse<Value> {
        if !plain && (self.begins_function() || self.begins_call()) && !self.is_bare_gamma() {
            return self.function().map(Value::Expr);
        }
        match self.peek() {
            Tok::Open(bracket) => self.group(bracket),
            Tok::Wrapper => {
                self.at += 1;
                self.nested(Self::braced)
            }
            bar @ (Tok::Bar | Tok::Vert) => self.bars(bar),
            Tok::Frac => self.fraction(),
            Tok::Binom => self.binomial(),
            Tok::MatrixStart => self.matrix(Tok::MatrixEnd).map(Value::Matrix),
            Tok::ArrayStart => self.matrix(Tok::ArrayEnd).map(Value::Matrix),
            Tok::DetStart => {
                let matrix = self.matrix(Tok::DetEnd)?;
                super::matrix::determinant(&matrix, self.fuel).map(Value::Expr)
            }
            _ => self.atom().map(Value::Expr),
        }
    }

    fn is_bare_gamma(&self) -> bool {
        self.peek() == Tok::Gamma && self.tok(self.at + 1) != Tok::Open(Bracket::Paren)
    }

    fn group(&mut self, bracket: Bracket) -> Parse<Value> {
        let start = self.at;
        self.at += 1;
        let inside = self.nested(Self::unbarred)?;
        // `{n \choose k}`
        if bracket == Bracket::Brace && self.eat(Tok::Choose) {
            let below = self.nested(Self::unbarred)?;
            self.close(bracket)?;
            return super::function::choose(Self::scalar(inside)?, Self::scalar(below)?, self.fuel)
                .map(Value::Expr);
        }
        self.close(bracket)?;
        let call = |function| Ok(Value::Expr(Expr::call(function, Self::scalar(inside.clone())?)));
        match bracket {
            Bracket::Angle => Err(ParseError::Syntax),
            Bracket::ParenVisual => {
                self.at = start;
                Err(ParseError::Syntax)
            }
            Bracket::Vert => call(Function::Abs),
            Bracket::Floor | Bracket::LowerCorner => call(Function::Floor),
            Bracket::Ceil | Bracket::UpperCorner => call(Function::Ceil),
            _ => Ok(inside),
        }
    }
}
