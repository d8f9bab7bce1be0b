//! Lists and their elements: plus-minus, brackets, relations.

use super::operator::{negated, sum};
use super::{Parse, ParseError, Parser, with_separators};
use crate::token::{Bracket, Tok};
use crate::tree::{Relation, Value, only_symbols};
use aske_algebra::relation::RelationOp;

impl Parser<'_> {
    /// A whole answer.
    pub(super) fn math(&mut self) -> Parse<Value> {
        self.nested(Self::alternatives)
    }

    fn alternatives(&mut self) -> Parse<Value> {
        let end = self.tokens.len().saturating_sub(1);
        if let Some(sign) = self.leading_names(|tok| matches!(tok, Tok::In | Tok::Equal))
            && !self.directly(sign, end, is_sign)
        {
            match self.membership(end) {
                Err(ParseError::Syntax) => self.at = 0,
                found => return found,
            }
        }
        match self.list(end, true).and_then(|lists| self.finished(end).map(|()| lists)) {
            Ok(lists) => Ok(with_separators(self.text).map_or_else(|| collected(lists), Value::Expr)),
            Err(ParseError::Syntax) => {
                self.at = 0;
                let set = self.set_relation()?;
                self.finished(end)?;
                Ok(set)
            }
            Err(stop) => Err(stop),
        }
    }

    fn finished(&self, end: usize) -> Parse<()> {
        if self.at == end { Ok(()) } else { Err(ParseError::Syntax) }
    }

    /// The position of the sign after a symbol, or a tuple of symbols, at the start.
    pub(super) fn leading_names(&self, sign: impl Fn(Tok) -> bool) -> Option<usize> {
        let is_name = |at: usize| matches!(self.tok(at), Tok::Letter | Tok::Named | Tok::Accent);
        let after = if self.peek() == Tok::Open(Bracket::Paren) {
            let close = self.partner(self.at)?;
            let mut at = self.at + 1;
            loop {
                if !is_name(at) {
                    return None;
                }
                at = self.skip_atom(at)?;
                match self.tok(at) {
                    Tok::Comma => at += 1,
                    _ if at == close => break close + 1,
                    _ => return None,
                }
            }
        } else if is_name(self.at) {
            self.skip_atom(self.at)?
        } else {
            return None;
        };
        sign(self.tok(after)).then_some(after)
    }

    /// `x = 1, 2` and `x \in S`: an equation with all of the list.
    fn membership(&mut self, end: usize) -> Parse<Value> {
        let left = self.names()?;
        self.at += 1;
        let right = collected(self.list(end, false)?);
        self.finished(end)?;
        Ok(Value::Relation(Box::new(Relation { sign: RelationOp::Equal, left, right })))
    }

    /// Elements between commas, and lists of them between semicolons.
    pub(super) fn list(&mut self, end: usize, relations: bool) -> Parse<Vec<Vec<Value>>> {
        let mut lists = vec![Vec::new()];
        loop {
            let mut current = lists.pop().unwrap_or_default();
            self.element(end, relations, &mut current)?;
            lists.push(current);
            match self.peek() {
                _ if self.at == end => return Ok(lists),
                Tok::Comma => {}
                Tok::Semicolon => lists.push(Vec::new()),
                _ => return Err(ParseError::Syntax),
            }
            self.at += 1;
        }
    }

    fn element(&mut self, end: usize, relations: bool, out: &mut Vec<Value>) -> Parse<()> {
        self.fuel.spend(10)?;
        if self.eat(Tok::PlusMinus) {
            let value = self.expression()?;
            out.extend([negated(value.clone()), value]);
            return Ok(());
        }
        if let Some(close) = self.set_atom_end(end) {
            let start = self.at;
            match self.nested(Self::set_atom) {
                Ok(value) if self.at == close => {
                    out.push(value);
                    return Ok(());
                }
                Err(stop @ (ParseError::Bounds | ParseError::Refused)) => return Err(stop),
                _ => self.at = start,
            }
        }
        let first = self.expression()?;
        if self.eat(Tok::PlusMinus) {
            let second = self.expression()?;
            out.push(sum(first.clone(), second.clone())?);
            out.push(sum(first, negated(second))?);
            return Ok(());
        }
        out.push(if relations { self.relation(first)? } else { first });
        Ok(())
    }

    /// The end of a set in brackets or by name, if it is the whole element.
    fn set_atom_end(&self, end: usize) -> Option<usize> {
        let close = match self.peek() {
            Tok::Open(bracket) => {
                let close = self.partner(self.at)?;
                // These brackets contain one expression and never a set.
                if matches!(bracket, Bracket::BraceCommand | Bracket::Vert | Bracket::Floor | Bracket::Ceil) {
                    return None;
                }
                close
            }
            Tok::Set(_) => self.at,
            _ => return None,
        };
        let next = close + 1;
        (next == end || matches!(self.tok(next), Tok::Comma | Tok::Semicolon)).then_some(next)
    }

    /// A chain of relations, from left to right.
    fn relation(&mut self, first: Value) -> Parse<Value> {
        let mut left = first;
        loop {
            let sign = match self.peek() {
                Tok::Equal => RelationOp::Equal,
                Tok::Near => RelationOp::Approx,
                Tok::Relation(sign) => sign,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.expression()?;
            left = joined(left, sign, right);
        }
    }
}

/// Appends a sign and a side to a relation or chain.
fn joined(left: Value, sign: RelationOp, right: Value) -> Value {
    if sign == RelationOp::Approx {
        return if only_symbols(&left) { right } else { left };
    }
    match left {
        Value::Relation(first) => {
            let next = Relation { sign, left: first.right.clone(), right };
            Value::Chain(vec![*first, next])
        }
        Value::Chain(mut all) => {
            if let Some(last) = all.last() {
                let next = Relation { sign, left: last.right.clone(), right };
                all.push(next);
            }
            Value::Chain(all)
        }
        left => Value::Relation(Box::new(Relation { sign, left, right })),
    }
}

fn is_sign(tok: Tok) -> bool {
    matches!(tok, Tok::In | Tok::NotIn | Tok::Equal | Tok::Near | Tok::Relation(_))
}

/// A single element as it is; several as a set, of tuples if semicolons separate them.
fn collected(mut lists: Vec<Vec<Value>>) -> Value {
    if let [list] = lists.as_mut_slice() {
        return match list.len() {
            1 => list.swap_remove(0),
            _ => Value::Set(std::mem::take(list)),
        };
    }
    if lists.iter().all(|list| list.len() == 1) {
        return Value::Set(lists.into_iter().flatten().collect());
    }
    Value::Set(lists.into_iter().map(Value::Tuple).collect())
}
