//! Comparison of sets of real numbers by membership at all their endpoints and between them.

use super::number;
use super::tree::{NamedSet, Value};
use aske_algebra::expr::Expr;
use aske_algebra::fuel::{Fuel, OutOfFuel};
use std::cmp::Ordering;

/// The most endpoints that are sorted.
const ENDS: usize = 200;

/// A position among the sorted endpoints: on one of them, or in the gap before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    On(usize),
    Before(usize),
}

/// The finite endpoints of some sets, sorted and without repetitions.
pub(super) struct Endpoints<'f> {
    pub(super) at: Vec<Expr>,
    fuel: &'f Fuel,
}

/// Whether two sets have the same members; `None` where one of them cannot be analysed.
pub(super) fn same(a: &Value, b: &Value, fuel: &Fuel) -> Result<Option<bool>, OutOfFuel> {
    // A difference is computed against a union only.
    let minus = |set: &Value| matches!(set, Value::Minus(..));
    let union = |set: &Value| matches!(set, Value::Union(..));
    if (minus(a) && !union(b)) || (minus(b) && !union(a)) {
        return Ok(None);
    }
    let Some(ends) = Endpoints::of(&[a, b], fuel)? else { return Ok(None) };
    for place in ends.places() {
        match (ends.has(a, place)?, ends.has(b, place)?) {
            (Some(a), Some(b)) if a == b => {}
            (Some(_), Some(_)) => return Ok(Some(false)),
            _ => return Ok(None),
        }
    }
    Ok(Some(true))
}

impl<'f> Endpoints<'f> {
    pub(super) fn of(sets: &[&Value], fuel: &'f Fuel) -> Result<Option<Self>, OutOfFuel> {
        let mut found = Vec::new();
        if !sets.iter().all(|set| collect_ends(set, &mut found)) || found.len() > ENDS {
            return Ok(None);
        }
        let mut ends: Vec<Expr> = Vec::with_capacity(found.len());
        for end in found {
            // Insertion sort, as the order of two endpoints may be unknown.
            let mut at = ends.len();
            let mut fresh = true;
            while at > 0 {
                match number::order(&end, &ends[at - 1], fuel)? {
                    Some(Ordering::Less) => at -= 1,
                    Some(Ordering::Equal) => {
                        fresh = false;
                        break;
                    }
                    Some(Ordering::Greater) => break,
                    None => return Ok(None),
                }
            }
            if fresh {
                ends.insert(at, end);
            }
        }
        Ok(Some(Self { at: ends, fuel }))
    }

    pub(super) fn places(&self) -> impl Iterator<Item = Position> + use<> {
        let position = |at| if at % 2 == 0 { Position::Before(at / 2) } else { Position::On(at / 2) };
        (0..=2 * self.at.len()).map(position)
    }

    /// Whether a set contains the numbers at a position.
    pub(super) fn has(&self, set: &Value, place: Position) -> Result<Option<bool>, OutOfFuel> {
        self.fuel.spend(4)?;
        Ok(match set {
            Value::NamedSet(NamedSet::Reals) => Some(true),
            Value::NamedSet(NamedSet::Empty) => Some(false),
            Value::Set(elements) => {
                let mut found = false;
                for element in elements {
                    let Value::Expr(element) = element else { return Ok(None) };
                    match self.compared(place, element)? {
                        Some(order) => found |= order == Ordering::Equal,
                        None => return Ok(None),
                    }
                }
                Some(found)
            }
            Value::Interval(interval) => {
                let (Some(from), Some(to)) =
                    (self.compared(place, &interval.from)?, self.compared(place, &interval.to)?)
                else {
                    return Ok(None);
                };
                let above = from == Ordering::Greater || (from == Ordering::Equal && interval.from_closed);
                let below = to == Ordering::Less || (to == Ordering::Equal && interval.to_closed);
                Some(above && below)
            }
            Value::Union(a, b) => self.has(a, place)?.zip(self.has(b, place)?).map(|(a, b)| a || b),
            Value::Minus(a, b) => self.has(a, place)?.zip(self.has(b, place)?).map(|(a, b)| a && !b),
            _ => None,
        })
    }

    /// The order of the numbers at a position relative to an endpoint.
    fn compared(&self, place: Position, end: &Expr) -> Result<Option<Ordering>, OutOfFuel> {
        if let Some(negative) = super::tree::is_infinite(end) {
            return Ok(Some(if negative { Ordering::Greater } else { Ordering::Less }));
        }
        let mut index = None;
        for (at, known) in self.at.iter().enumerate() {
            if number::order(known, end, self.fuel)? == Some(Ordering::Equal) {
                index = Some(at);
                break;
            }
        }
        let Some(index) = index else { return Ok(None) };
        Ok(Some(match place {
            Position::On(at) => at.cmp(&index),
            Position::Before(at) if at <= index => Ordering::Less,
            Position::Before(_) => Ordering::Greater,
        }))
    }
}

/// Collects the finite endpoints of a set; returns false if it is not a set of real numbers or is not computed.
fn collect_ends(set: &Value, out: &mut Vec<Expr>) -> bool {
    let mut push = |end: &Expr| {
        if super::tree::is_infinite(end).is_none() {
            out.push(end.clone());
        }
    };
    match set {
        Value::NamedSet(NamedSet::Reals | NamedSet::Empty) => true,
        Value::Set(elements) => elements.iter().all(|element| match element {
            Value::Expr(element) => {
                push(element);
                true
            }
            _ => false,
        }),
        Value::Interval(interval) => {
            push(&interval.from);
            push(&interval.to);
            true
        }
        Value::Union(a, b) => collect_ends(a, out) && collect_ends(b, out),
        // math-verify does not simplify a difference of a difference.
        Value::Minus(a, b) => !has_minus(a) && !has_minus(b) && collect_ends(a, out) && collect_ends(b, out),
        _ => false,
    }
}

fn has_minus(set: &Value) -> bool {
    match set {
        Value::Minus(..) => true,
        Value::Union(a, b) => has_minus(a) || has_minus(b),
        _ => false,
    }
}
