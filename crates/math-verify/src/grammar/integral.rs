//! Operators with a bound variable: sums, products, limits, integrals.

use super::{Parse, ParseError, Parser};
use crate::token::{Bracket, Tok};
use crate::tree::{symbol_name, unmarked};
use aske_algebra::exact;
use aske_algebra::expr::{Bind, Expr, Over, Side, Symbol};

impl Parser<'_> {
    /// `\sum_{k=1}^{n}` and what follows it.
    pub(super) fn sum_or_product(&mut self) -> Parse<Expr> {
        let sum = self.peek() == Tok::Sum;
        self.at += 1;
        let (mut from, mut to) = (None, None);
        for _ in 0..2 {
            match self.peek() {
                Tok::Under => from = Some(self.lower_bound()?),
                Tok::Caret => to = self.superscript()?,
                _ => return Err(ParseError::Syntax),
            }
        }
        let ((variable, from), to) = (from.ok_or(ParseError::Syntax)?, to.ok_or(ParseError::Syntax)?);
        let body = Self::scalar(self.product(false)?)?;
        let over = if sum { Over::Sum(from, to) } else { Over::Product(from, to) };
        Ok(Expr::Bind(Box::new(Bind { over, variable, body })))
    }

    /// `_{k=1}`.
    fn lower_bound(&mut self) -> Parse<(Symbol, Expr)> {
        self.at += 1;
        self.open(Bracket::Brace)?;
        let name = Self::scalar(self.expression()?)?;
        if !self.eat(Tok::Equal) {
            self.expect(Tok::Relation(aske_algebra::relation::RelationOp::Equal))?;
        }
        let start = Self::scalar(self.expression()?)?;
        self.close(Bracket::Brace)?;
        match name {
            Expr::Symbol(name) => Ok((name, start)),
            _ => Err(ParseError::Syntax),
        }
    }

    /// `\lim_{x \to a}` and what follows it; from above unless stated otherwise.
    pub(super) fn limit(&mut self) -> Parse<Expr> {
        self.at += 1;
        self.expect(Tok::Under)?;
        self.open(Bracket::Brace)?;
        let name = self.text_of(self.at).trim();
        if !matches!(self.peek(), Tok::Letter | Tok::Named) {
            return Err(ParseError::Syntax);
        }
        self.at += 1;
        let variable = symbol_name(name.strip_prefix('\\').unwrap_or(name), self.real);
        self.expect(Tok::Approach)?;
        let towards = Self::scalar(self.unbarred()?)?;
        let mut side = Side::Above;
        if self.eat(Tok::Caret) {
            self.open(Bracket::Brace)?;
            match self.peek() {
                Tok::Sub => side = Side::Below,
                Tok::Add => {}
                _ => return Err(ParseError::Syntax),
            }
            self.at += 1;
            self.close(Bracket::Brace)?;
        }
        self.close(Bracket::Brace)?;
        let body = Self::scalar(self.product(false)?)?;
        let infinite = crate::tree::is_infinite(&towards).is_some();
        let over = Over::Limit(towards, (!infinite).then_some(side));
        Ok(Expr::Bind(Box::new(Bind { over, variable, body })))
    }

    pub(super) fn integral(&mut self) -> Parse<Expr> {
        self.at += 1;
        let mut bounds = (None, None);
        for _ in 0..2 {
            match self.peek() {
                Tok::Under if bounds.0.is_none() => {
                    self.at += 1;
                    bounds.0 = Some(self.exponent()?);
                }
                Tok::Caret if bounds.1.is_none() => bounds.1 = self.superscript()?,
                _ => break,
            }
        }
        let end = self.own_differential();
        let outer = std::mem::replace(&mut self.differential, end);
        let body = if end == Some(self.at) { Ok(None) } else { self.expression().map(Some) };
        self.differential = outer;
        let mut body = body?.map_or(Ok(Expr::int(1)), Self::scalar)?;
        let name = if end == Some(self.at) {
            let name = super::atom::differential_name(self.text_of(self.at)).to_owned();
            self.at += 1;
            name
        } else {
            let (name, rest) = differential_inside(&body).unwrap_or_else(|| ("x".to_owned(), body.clone()));
            body = rest;
            name
        };
        let variable = symbol_name(&name, self.real);
        let over = match bounds {
            (Some(from), Some(to)) => Over::Integral(from, to),
            (None, None) => Over::Antiderivative,
            _ => return Err(ParseError::Syntax),
        };
        Ok(Expr::Bind(Box::new(Bind { over, variable, body })))
    }

    /// The differential that belongs to the integral sign before this position.
    fn own_differential(&self) -> Option<usize> {
        let mut open = 0_u32;
        let mut at = self.at;
        loop {
            match self.tok(at) {
                Tok::Open(_) => at = self.partner(at)?,
                Tok::Int => open += 1,
                Tok::Differential if open == 0 => return Some(at),
                Tok::Differential => open -= 1,
                Tok::Close(_) | Tok::Comma | Tok::Semicolon | Tok::Equal | Tok::Relation(_) | Tok::End => {
                    return None;
                }
                _ => {}
            }
            at += 1;
        }
    }
}

/// A factor `dx` anywhere in an integrand: its variable, and the integrand without it.
fn differential_inside(body: &Expr) -> Option<(String, Expr)> {
    let mut names = exact::free_symbols(body).into_iter();
    let found = names.find(|name| unmarked(name).len() > 1 && name.starts_with('d'))?;
    let name = unmarked(&found)[1..].to_owned();
    Some((name, exact::substitute(body, &found, &Expr::int(1))))
}

/// An unevaluated first derivative.
pub(super) fn derivative(variable: Symbol, body: Expr) -> Expr {
    Expr::Bind(Box::new(Bind { over: Over::Derivative(1), variable, body }))
}
