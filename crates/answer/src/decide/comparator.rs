//! The comparator: the policy and the fuel of one comparison, and the comparison of sequences and sets.

use super::truth::Truth;
use crate::answer::Answer;
use crate::policy::NotationPolicy;
use aske_algebra::fuel::Fuel;
use aske_algebra::verdict::Method;

/// What every comparison needs.
#[derive(Clone, Copy)]
pub(crate) struct Comparator<'a> {
    pub(crate) policy: &'a NotationPolicy,
    pub(crate) fuel: &'a Fuel,
}

impl Comparator<'_> {
    /// Equal under one pair of readings.
    pub(crate) fn any_reading(self, gold: &[Answer], pred: &[Answer]) -> Truth {
        let mut found = Truth::No(Method::Kind);
        for (index, (gold, pred)) in gold.iter().flat_map(|g| pred.iter().map(move |p| (g, p))).enumerate() {
            let truth = self.same(gold, pred);
            found = if index == 0 { truth } else { found.or(|| truth) };
            if found.is_yes() {
                break;
            }
        }
        found
    }

    /// Whether two elements of lists or sets are the same: a set is not its only element here, and a string of letters
    /// is not a product.
    fn same_element(self, a: &Answer, b: &Answer) -> Truth {
        match (a, b) {
            (Answer::Set(_), Answer::Set(_)) => self.same(a, b),
            (Answer::Set(_), _) | (_, Answer::Set(_)) => Truth::No(Method::Kind),
            (Answer::Letters(a), Answer::Letters(b)) => Truth::of(a == b, Method::Text),
            _ => self.same(a, b),
        }
    }

    /// Both sequences match, element by element.
    pub(crate) fn in_order(self, a: &[Answer], b: &[Answer]) -> Truth {
        if a.len() != b.len() {
            return Truth::No(Method::Kind);
        }
        Truth::all(a.iter().zip(b).map(|(a, b)| self.same_element(a, b)))
    }

    /// Every element has a partner of its own on the other side.
    pub(crate) fn in_any_order(self, a: &[Answer], b: &[Answer]) -> Truth {
        if a.len() != b.len() {
            return Truth::No(Method::Kind);
        }
        let straight = self.in_order(a, b);
        if straight.is_yes() {
            return straight;
        }
        let mut free: Vec<&Answer> = b.iter().collect();
        let mut total = Truth::Yes(Method::Exact);
        for one in a {
            let (found, partner) = self.partner(one, free.iter().copied());
            total = total.and(|| found);
            match partner {
                Some(at) => drop(free.remove(at)),
                None if matches!(total, Truth::No(_)) || self.fuel.left() == 0 => return total,
                None => {}
            }
        }
        total
    }

    /// Whether an element is among others, and where.
    fn partner<'b>(self, one: &Answer, among: impl Iterator<Item = &'b Answer>) -> (Truth, Option<usize>) {
        let mut found = Truth::No(Method::Kind);
        for (at, other) in among.enumerate() {
            if self.fuel.spend(40).is_err() {
                return (Truth::Unknown, None);
            }
            found = found.or(|| self.same_element(one, other));
            if found.is_yes() {
                return (found, Some(at));
            }
        }
        (found, None)
    }

    /// Every element of each side is among the other's.
    pub(crate) fn as_sets(self, a: &[Answer], b: &[Answer]) -> Truth {
        if a.is_empty() || b.is_empty() {
            return Truth::of(a.is_empty() && b.is_empty(), Method::Kind);
        }
        let matched = if a.len() == b.len() { self.in_any_order(a, b) } else { Truth::No(Method::Kind) };
        matched.or(|| self.all_among(a, b).and(|| self.all_among(b, a)))
    }

    fn all_among(self, a: &[Answer], b: &[Answer]) -> Truth {
        let mut total = Truth::Yes(Method::Exact);
        for one in a {
            total = total.and(|| self.partner(one, b.iter()).0);
            if matches!(total, Truth::No(_)) || self.fuel.left() == 0 {
                break;
            }
        }
        total
    }
}
