//! Intervals, tuples, sets and set operators.

use super::{Parse, ParseError, Parser};
use crate::number;
use crate::token::{Bracket, Tok};
use crate::tree::{NamedSet, Relation, Value, is_infinite};
use aske_algebra::expr::Expr;
use aske_algebra::relation::{Interval, RelationOp};
use std::cmp::Ordering;

impl Parser<'_> {
    /// `x \in A \cup B`, or a set.
    pub(super) fn set_relation(&mut self) -> Parse<Value> {
        let Some(sign) = self.leading_names(|tok| matches!(tok, Tok::In | Tok::NotIn | Tok::Equal)) else {
            return self.difference();
        };
        let denied = self.tok(sign) == Tok::NotIn;
        let left = self.names()?;
        self.at = sign + 1;
        let right = self.nested(Self::set_relation)?;
        let relation = Box::new(Relation { sign: RelationOp::Equal, left, right });
        Ok(if denied { Value::Not(relation) } else { Value::Relation(relation) })
    }

    fn difference(&mut self) -> Parse<Value> {
        let mut left = self.union()?;
        while self.eat(Tok::Minus) {
            left = Value::Minus(Box::new(left), Box::new(self.union()?));
        }
        Ok(left)
    }

    fn union(&mut self) -> Parse<Value> {
        self.joined_sets(Tok::Union, Self::intersection, Value::Union)
    }

    fn intersection(&mut self) -> Parse<Value> {
        self.joined_sets(Tok::Intersection, Self::set_group, Value::Intersection)
    }

    /// Operands of one set operator, combined from left to right.
    fn joined_sets(
        &mut self,
        operator: Tok,
        set: impl Fn(&mut Self) -> Parse<Value>,
        join: impl Fn(Box<Value>, Box<Value>) -> Value,
    ) -> Parse<Value> {
        let mut left = set(self)?;
        let mut count = 0;
        while self.eat(operator) {
            count += 1;
            if count > 200 {
                return Err(ParseError::Bounds);
            }
            left = join(Box::new(as_set(left)), Box::new(as_set(set(self)?)));
        }
        Ok(left)
    }

    fn set_group(&mut self) -> Parse<Value> {
        self.nested(|parser| {
            let start = parser.at;
            if parser.peek() == Tok::Open(Bracket::Paren)
                && let Some(close) = parser.partner(start)
                && parser
                    .directly(start, close, |tok| matches!(tok, Tok::Union | Tok::Intersection | Tok::Minus))
            {
                parser.at += 1;
                let inside = parser.difference()?;
                parser.close(Bracket::Paren)?;
                return Ok(inside);
            }
            let value = parser.set_atom()?;
            if value.is_set_or_tuple() { Ok(value) } else { Err(ParseError::Syntax) }
        })
    }

    /// A set by its name, or brackets and what is in them.
    pub(super) fn set_atom(&mut self) -> Parse<Value> {
        if let Tok::Set(known) = self.peek() {
            self.at += 1;
            return Ok(Value::NamedSet(known));
        }
        let Tok::Open(open) = self.peek() else { return Err(ParseError::Syntax) };
        let start = self.at;
        let end = self.partner(start).ok_or(ParseError::Syntax)?;
        let Tok::Close(close) = self.tok(end) else { return Err(ParseError::Syntax) };
        if open == Bracket::Brace && end == start + 1 {
            self.at = end + 1;
            return Ok(Value::NamedSet(NamedSet::Empty));
        }
        if can_be_interval(open) && self.has_comma(start, end) {
            match self.interval(open, close, end) {
                Err(ParseError::Syntax) => self.at = start,
                found => return found,
            }
        }
        if open != close {
            return Err(ParseError::Syntax);
        }
        self.at = start + 1;
        let lists = self.list(end, true)?;
        self.at = end + 1;
        let mut values: Vec<Value> = lists.into_iter().flatten().collect();
        match open {
            Bracket::Paren | Bracket::ParenVisual | Bracket::Square => Ok(match values.len() {
                1 => values.swap_remove(0),
                _ => Value::Tuple(values),
            }),
            Bracket::Brace | Bracket::BraceVisual => Ok(Value::Set(values)),
            _ => Err(ParseError::Syntax),
        }
    }

    fn interval(&mut self, open: Bracket, close: Bracket, end: usize) -> Parse<Value> {
        self.at += 1;
        let from = Self::scalar(self.nested(Self::expression)?)?;
        self.expect(Tok::Comma)?;
        let to = Self::scalar(self.nested(Self::expression)?)?;
        if self.at != end {
            return Err(ParseError::Syntax);
        }
        self.at += 1;
        let closed = |bracket| matches!(bracket, Bracket::Square | Bracket::SquareCommand);
        self.between(from, closed(open), to, closed(close))
    }

    /// An interval, or what math-verify makes of one whose ends are out of order.
    fn between(&mut self, from: Expr, from_closed: bool, to: Expr, to_closed: bool) -> Parse<Value> {
        let order = number::order(&from, &to, self.fuel)?;
        let pair = |from, to| Value::Tuple(vec![Value::Expr(from), Value::Expr(to)]);
        Ok(match (order, from_closed, to_closed) {
            (Some(Ordering::Greater | Ordering::Equal), false, false)
            | (Some(Ordering::Greater), true, true) => pair(from, to),
            (Some(Ordering::Equal), true, true) => Value::Set(vec![Value::Expr(from)]),
            (Some(Ordering::Greater | Ordering::Equal), _, _) => Value::NamedSet(NamedSet::Empty),
            _ => {
                if !number::may_be_real(&from, self.fuel) || !number::may_be_real(&to, self.fuel) {
                    return Err(ParseError::Refused);
                }
                let from_closed = from_closed && is_infinite(&from).is_none();
                let to_closed = to_closed && is_infinite(&to).is_none();
                Value::Interval(Box::new(Interval { from, to, from_closed, to_closed }))
            }
        })
    }
}

fn can_be_interval(open: Bracket) -> bool {
    matches!(
        open,
        Bracket::Paren | Bracket::ParenVisual | Bracket::Group | Bracket::Square | Bracket::SquareCommand
    )
}

fn as_set(value: Value) -> Value {
    match value {
        Value::Tuple(parts) => Value::Set(parts),
        other => other,
    }
}
