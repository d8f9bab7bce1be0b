//! The comparison of what was parsed: `verify`, with its options.

use crate::comparator::Comparator;
use crate::parse::Item;
use crate::tree::{Relation, Value};
use aske_algebra::exact::{free_symbols, substitute};
use aske_algebra::expr::{Expr, Symbol};
use aske_algebra::fuel::Fuel;
use aske_algebra::relation::Interval;
use aske_algebra::verdict::{Comparison, Method, Verdict};
use std::collections::BTreeSet;

/// The options of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Decimals are rounded to this many places.
    pub float_rounding: i32,
    /// Differences are computed to this many digits.
    pub numeric_precision: u32,
    /// The names of variables matter.
    pub strict: bool,
    /// A relation may equal the set of its solutions also where the gold answer is the set.
    pub set_relation: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { float_rounding: 6, numeric_precision: 15, strict: true, set_relation: false }
    }
}

/// Whether one of the gold answers equals one of the others.
pub fn verify(gold: &[Item], target: &[Item], options: &Options) -> Comparison {
    let mut out = Comparison::decided(false, Method::Text);
    for gold in gold {
        for target in target {
            let found = one(gold, target, options);
            match found.verdict {
                Verdict::Equal => return found,
                Verdict::Undecided => out = found,
                Verdict::Different if out.verdict == Verdict::Different => out = found,
                Verdict::Different => {}
            }
        }
    }
    out
}

fn one(gold: &Item, target: &Item, options: &Options) -> Comparison {
    match (gold, target) {
        (Item::Text(gold), Item::Text(target)) => {
            let (gold, target) = (gold.trim(), target.trim());
            Comparison::decided(!gold.is_empty() && gold == target, Method::Text)
        }
        (Item::Expression(gold), Item::Expression(target)) => {
            let fuel = Fuel::new(crate::FUEL);
            let comparator = Comparator::with(&fuel, *options);
            let renamed = if options.strict { None } else { renamed(&target.value, &gold.value) };
            match comparator.answers(&gold.value, renamed.as_ref().unwrap_or(&target.value)) {
                Ok(equal) => Comparison::decided(equal, comparator.method.get()),
                Err(_) => Comparison::undecided(),
            }
        }
        _ => Comparison::decided(false, Method::Kind),
    }
}

/// The value with the names of another's variables, in alphabetical order; `None` if it has other variables in number.
fn renamed(value: &Value, like: &Value) -> Option<Value> {
    let (mut from, mut to) = (BTreeSet::new(), BTreeSet::new());
    visit(value, &mut |expr| from.extend(free_symbols(expr)));
    visit(like, &mut |expr| to.extend(free_symbols(expr)));
    if from.len() != to.len() || from == to {
        return None;
    }
    // By way of names that occur nowhere, so that exchanged names stay apart.
    let between = |index: usize| Symbol::new(format!("\u{2}{index}"));
    let mut out = value.clone();
    for (index, name) in from.iter().enumerate() {
        out = map(&out, &mut |expr| substitute(expr, name, &Expr::Symbol(between(index))));
    }
    for (index, name) in to.into_iter().enumerate() {
        out = map(&out, &mut |expr| substitute(expr, &between(index), &Expr::Symbol(name.clone())));
    }
    Some(out)
}

fn visit(value: &Value, see: &mut impl FnMut(&Expr)) {
    // A copy is made and dropped: this is not done for every comparison.
    map(value, &mut |expr| {
        see(expr);
        expr.clone()
    });
}

/// The value with every expression in it replaced.
fn map(value: &Value, replace: &mut dyn FnMut(&Expr) -> Expr) -> Value {
    let relation = |one: &Relation, replace: &mut dyn FnMut(&Expr) -> Expr| Relation {
        sign: one.sign,
        left: map(&one.left, replace),
        right: map(&one.right, replace),
    };
    let mut pair = |a: &Value, b: &Value| (Box::new(map(a, replace)), Box::new(map(b, replace)));
    match value {
        Value::Union(a, b) => {
            let (a, b) = pair(a, b);
            Value::Union(a, b)
        }
        Value::Intersection(a, b) => {
            let (a, b) = pair(a, b);
            Value::Intersection(a, b)
        }
        Value::Minus(a, b) => {
            let (a, b) = pair(a, b);
            Value::Minus(a, b)
        }
        Value::Expr(expr) => Value::Expr(replace(expr)),
        Value::Matrix(matrix) => {
            let mut matrix = matrix.clone();
            matrix.entries = matrix.entries.iter().map(&mut *replace).collect();
            Value::Matrix(matrix)
        }
        Value::Set(parts) => Value::Set(parts.iter().map(|part| map(part, replace)).collect()),
        Value::Tuple(parts) => Value::Tuple(parts.iter().map(|part| map(part, replace)).collect()),
        Value::Interval(interval) => Value::Interval(Box::new(Interval {
            from: replace(&interval.from),
            to: replace(&interval.to),
            ..(**interval).clone()
        })),
        Value::NamedSet(set) => Value::NamedSet(*set),
        Value::Relation(one) => Value::Relation(Box::new(relation(one, replace))),
        Value::Chain(all) => Value::Chain(all.iter().map(|one| relation(one, replace)).collect()),
        Value::Not(one) => Value::Not(Box::new(relation(one, replace))),
    }
}
