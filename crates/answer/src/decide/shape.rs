//! Answers in their plainest shape: what an assignment assigns, what a list of them says.

use super::value::is_closed;
use crate::answer::{Answer, Relation, Sign};
use aske_algebra::expr::{Expr, Symbol};
use std::borrow::Cow;

/// `x = 5`: the name and what it is.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) name: Symbol,
    pub(crate) value: Answer,
}

/// What a relation says of one name: `x=5`, `5=x`, `x∈S`, `f(x)=…`, `x=…=5`.
pub(crate) fn claim(relation: &Relation) -> Option<Claim> {
    let equal = |sign: &Sign| matches!(sign, Sign::Equal | Sign::Near);
    let (first, last) = (relation.sides.first()?, relation.sides.last()?);
    if relation.signs == [Sign::In] {
        return Some(Claim { name: first.as_name()?, value: last.clone() });
    }
    if !relation.signs.iter().all(equal) {
        return None;
    }
    // `x = y = 2` speaks of two names, and `x = 13 = 12` is false.
    let middle = &relation.sides[1..relation.sides.len() - 1];
    if middle.iter().any(|side| {
        side.as_name().is_some() || is_number(side) && is_number(last) && is_other_number(side, last)
    }) {
        return None;
    }
    if let Some(name) = first.as_name()
        && !mentions(last, &name)
    {
        return Some(Claim { name, value: last.clone() });
    }
    let name = last.as_name()?;
    (relation.signs.len() == 1 && !mentions(first, &name)).then(|| Claim { name, value: first.clone() })
}

fn mentions(answer: &Answer, name: &str) -> bool {
    let named = |part: &Expr| matches!(part, Expr::Symbol(known) | Expr::Apply(known, _) if known == name);
    matches!(answer, Answer::Value(expr) if expr.any(&named))
}

/// The answer with lists of assignments, tuples of names and wrapped values put plainly.
pub(crate) fn plain(answer: &Answer) -> Cow<'_, Answer> {
    Cow::Owned(match answer {
        Answer::Any(parts) | Answer::Bare(parts) if named_tuples(parts).is_some() => {
            Answer::Set(named_tuples(parts).unwrap_or_default())
        }
        Answer::Any(parts) | Answer::Bare(parts) | Answer::All(parts) | Answer::Set(parts) => {
            let parts: Vec<Answer> = parts.iter().map(|part| plain(part).into_owned()).collect();
            // The values of one unknown have no order.
            if let Some(values) = of_one_name(&parts) {
                return Cow::Owned(Answer::Set(values));
            }
            match answer {
                Answer::Bare(_) if !parts.is_empty() && parts.iter().all(is_equation) => Answer::All(parts),
                Answer::Bare(_) => Answer::Bare(flat(parts)),
                Answer::All(_) => Answer::All(parts),
                Answer::Set(_) => Answer::Set(parts),
                // Numbers or tuples of them joined by "or" are a set.
                _ if parts.iter().all(is_number) => Answer::Set(flat(parts)),
                _ => Answer::Any(parts),
            }
        }
        Answer::Relation(relation) => match named_tuple(relation) {
            Some(system) => system,
            None => return Cow::Borrowed(answer),
        },
        other => return Cow::Borrowed(other),
    })
}

/// Lists inside a list without brackets are one list.
fn flat(parts: Vec<Answer>) -> Vec<Answer> {
    parts
        .into_iter()
        .flat_map(|part| match part {
            Answer::Bare(inner) => inner,
            other => vec![other],
        })
        .collect()
}

/// Whether an answer is a number, with or without a unit.
fn is_number(answer: &Answer) -> bool {
    match answer {
        Answer::Value(expr) | Answer::Percent(expr) | Answer::Quantity(expr, _) => is_closed(expr),
        Answer::Bare(parts) | Answer::Tuple(parts) => parts.iter().all(is_number),
        _ => false,
    }
}

/// Whether two numbers that were written out are two.
fn is_other_number(a: &Answer, b: &Answer) -> bool {
    matches!((a, b), (Answer::Value(Expr::Number(a)), Answer::Value(Expr::Number(b))) if a != b)
}

fn is_equation(answer: &Answer) -> bool {
    matches!(answer, Answer::Relation(relation) if relation.signs.iter().all(|sign| matches!(sign, Sign::Equal | Sign::Near)))
}

/// The values of `x=1, x=2`; a part without a name takes the name before it (`x=1, 2`).
fn of_one_name(parts: &[Answer]) -> Option<Vec<Answer>> {
    let mut name: Option<Symbol> = None;
    let mut values = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Answer::Relation(relation) => {
                let claim = claim(relation)?;
                if relation.signs[0] == Sign::In || name.as_ref().is_some_and(|known| *known != claim.name) {
                    return None;
                }
                name = Some(claim.name);
                match claim.value {
                    Answer::Bare(both) => values.extend(both),
                    one => values.push(one),
                }
            }
            Answer::Value(_) | Answer::Quantity(..) if name.is_some() => values.push(part.clone()),
            _ => return None,
        }
    }
    (name.is_some() && parts.len() > 1).then_some(values)
}

/// The tuples of `(x, y) = (1, 4) or (4, 1)`.
fn named_tuples(parts: &[Answer]) -> Option<Vec<Answer>> {
    let [Answer::Relation(first), rest @ ..] = parts else { return None };
    let [Answer::Tuple(names), value @ Answer::Tuple(values)] = first.sides.as_slice() else { return None };
    if rest.is_empty() || first.signs != [Sign::Equal] || names.iter().any(|name| name.as_name().is_none()) {
        return None;
    }
    let mut all = vec![value.clone()];
    for part in rest {
        let tuple = match part {
            Answer::Relation(relation) if relation.sides.first() == first.sides.first() => {
                relation.sides.get(1)?
            }
            other => other,
        };
        all.push(matches!(tuple, Answer::Tuple(more) if more.len() == values.len()).then(|| tuple.clone())?);
    }
    Some(all)
}

/// `(x, y) = (1, 2)` as a system.
fn named_tuple(relation: &Relation) -> Option<Answer> {
    let [Answer::Tuple(names), values] = relation.sides.as_slice() else { return None };
    let rows = |tuple: &Answer| -> Option<Answer> {
        let Answer::Tuple(values) = tuple else { return None };
        if values.len() != names.len() || names.iter().any(|name| name.as_name().is_none()) {
            return None;
        }
        Some(Answer::All(
            names
                .iter()
                .zip(values)
                .map(|(name, value)| {
                    Answer::Relation(Relation {
                        sides: vec![name.clone(), value.clone()],
                        signs: vec![Sign::Equal],
                    })
                })
                .collect(),
        ))
    };
    if !matches!(relation.signs.as_slice(), [Sign::Equal | Sign::In])
        || names.iter().any(|name| name.as_name().is_none())
    {
        return None;
    }
    match values {
        Answer::Tuple(_) => rows(values),
        // Several solutions: the tuples themselves.
        Answer::Bare(all) | Answer::Set(all) => Some(Answer::Bare(all.clone())),
        _ => None,
    }
}

/// The values of a system of assignments.
pub(crate) struct Assigned {
    /// In the order in which they were written.
    pub(crate) written: Vec<Answer>,
    /// In the order of their names.
    pub(crate) by_name: Vec<Answer>,
    /// Whether a tuple of them is usually in the order of their names: `(x, y)`, `(a, b, c)`, `(x_1, x_2)`.
    pub(crate) in_usual_order: bool,
}

pub(crate) fn assigned(parts: &[Answer]) -> Option<Assigned> {
    let mut claims = Vec::with_capacity(parts.len());
    for part in parts {
        let Answer::Relation(relation) = part else { return None };
        claims.push(claim(relation)?);
    }
    let written = claims.iter().map(|claim| claim.value.clone()).collect();
    claims.sort_by(|a, b| a.name.cmp(&b.name));
    let follows = |pair: &[Claim]| {
        let letter = |claim: &Claim| {
            let mut letters = claim.name.chars();
            letters.next().filter(|_| letters.next().is_none()).map(u32::from)
        };
        letter(&pair[0]).zip(letter(&pair[1])).is_some_and(|(a, b)| a + 1 == b)
    };
    let in_usual_order = claims.windows(2).all(follows) || numbered(parts);
    Some(Assigned { written, by_name: claims.into_iter().map(|claim| claim.value).collect(), in_usual_order })
}

/// Whether all names are one letter with different subscripts.
pub(crate) fn numbered(parts: &[Answer]) -> bool {
    let stem = |part: &Answer| match part {
        Answer::Relation(relation) => claim(relation)?.name.split_once('_').map(|(stem, _)| stem.to_owned()),
        _ => None,
    };
    let Some(first) = parts.first().and_then(stem) else { return false };
    parts.iter().all(|part| stem(part).is_some_and(|stem| stem == first))
}
