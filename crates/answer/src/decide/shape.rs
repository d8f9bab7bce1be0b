//! Simplification of answers before comparison: assignments, systems, named tuples.

use super::value::is_closed;
use crate::answer::{Answer, Relation, RelationOp};
use aske_algebra::expr::{Constant, Expr, Symbol};
use std::borrow::Cow;

/// `x = 5`: the name and what it is.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) name: Symbol,
    pub(crate) value: Answer,
}

/// What a relation says of one name: `x=5`, `5=x`, `x∈S`, `f(x)=…`, `x=…=5`.
pub(crate) fn assignment(relation: &Relation) -> Option<Assignment> {
    let equal = |sign: &RelationOp| matches!(sign, RelationOp::Equal | RelationOp::Approx);
    let (first, last) = (relation.sides.first()?, relation.sides.last()?);
    if relation.signs == [RelationOp::In] {
        return Some(Assignment { name: first.as_name()?, value: last.clone() });
    }
    if !relation.signs.iter().all(equal) {
        return None;
    }
    // `x = 1/3 ≈ 0.333` gives the exact value.
    let exact = relation.signs.iter().skip(1).position(|sign| *sign == RelationOp::Approx);
    let end = exact.map_or(relation.sides.len() - 1, |at| at + 1);
    let last = &relation.sides[end];
    // `x = y = 2` speaks of two names, and `x = 13 = 12` is false.
    let middle = &relation.sides[1..end];
    if middle.iter().any(|side| {
        side.as_name().is_some() || is_number(side) && is_number(last) && is_other_number(side, last)
    }) {
        return None;
    }
    if let Some(name) = first.as_name()
        && !mentions(last, &name)
    {
        return Some(Assignment { name, value: last.clone() });
    }
    let name = last.as_name()?;
    (relation.signs.len() == 1 && !mentions(first, &name)).then(|| Assignment { name, value: first.clone() })
}

/// What a relation defines: a function of distinct variables (`f(x) = …`), or a sequence by its index (`a_n = …`).
pub(crate) struct Definition<'a> {
    pub(crate) name: Symbol,
    pub(crate) arguments: Vec<Symbol>,
    pub(crate) body: &'a Answer,
}

pub(crate) fn definition(relation: &Relation) -> Option<Definition<'_>> {
    let [Answer::Value(defined), body] = relation.sides.as_slice() else { return None };
    if relation.signs != [RelationOp::Equal] {
        return None;
    }
    let (name, arguments) = match defined {
        Expr::Apply(name, arguments) => {
            let variable = |argument: &Expr| match argument {
                Expr::Symbol(x) if x.starts_with(|c: char| c.is_lowercase()) => Some(x.clone()),
                _ => None,
            };
            (name.clone(), arguments.iter().map(variable).collect::<Option<Vec<_>>>()?)
        }
        Expr::Symbol(name) => {
            let (stem, index) = name.split_once('_')?;
            if !matches!(index, "n" | "k" | "m" | "i" | "j")
                || !matches!(body, Answer::Value(body) if body.has_symbol(index))
            {
                return None;
            }
            (Symbol::new(stem), vec![Symbol::new(index)])
        }
        _ => return None,
    };
    let distinct = (1..arguments.len()).all(|at| !arguments[..at].contains(&arguments[at]));
    distinct.then_some(Definition { name, arguments, body })
}

fn mentions(answer: &Answer, name: &str) -> bool {
    let named = |part: &Expr| matches!(part, Expr::Symbol(known) | Expr::Apply(known, _) if known == name);
    matches!(answer, Answer::Value(expr) if expr.any(&named))
}

/// The answer with lists of assignments, tuples of names and wrapped values put directly.
pub(crate) fn plain(answer: &Answer) -> Cow<'_, Answer> {
    Cow::Owned(match answer {
        Answer::Any(parts) | Answer::Bare(parts) if named_tuples(parts).is_some() => {
            Answer::Set(named_tuples(parts).unwrap_or_default())
        }
        Answer::Any(parts) | Answer::Bare(parts) | Answer::All(parts) | Answer::Set(parts) => {
            let mut parts: Vec<Answer> = parts.iter().map(|part| plain(part).into_owned()).collect();
            if let Answer::Any(_) = answer {
                if let Some(congruence) = joined_residues(&parts) {
                    return Cow::Owned(congruence);
                }
                parts = parts.into_iter().map(as_tuple).collect();
            }
            // The values of one unknown have no order, but a value that is repeated counts twice.
            if let Some(values) = of_one_name(&parts) {
                let repeats = (1..values.len()).any(|at| values[..at].contains(&values[at]));
                return Cow::Owned(if repeats { Answer::Bare(values) } else { Answer::Set(values) });
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
        Answer::Relation(relation) => {
            match named_tuple(relation).or_else(|| chained(relation)).or_else(|| from_n(relation)) {
                Some(system) => system,
                None => return Cow::Borrowed(answer),
            }
        }
        other => return Cow::Borrowed(other),
    })
}

/// `n ≡ 1 or n ≡ 3 (mod 6)` as one congruence.
fn joined_residues(parts: &[Answer]) -> Option<Answer> {
    let [Answer::Congruence(first), rest @ ..] = parts else { return None };
    let mut joined = first.clone();
    for part in rest {
        match part {
            Answer::Congruence(other) if other.left == first.left && other.modulus == first.modulus => {
                joined.residues.extend(other.residues.iter().cloned());
            }
            _ => return None,
        }
    }
    Some(Answer::Congruence(joined))
}

/// `x = 2, y = 3` as the tuple of its values, where names have a usual order.
fn as_tuple(part: Answer) -> Answer {
    match &part {
        Answer::All(rows) => match assignments(rows) {
            Some(Assignments { by_name, in_usual_order: true, .. }) => Answer::Tuple(by_name),
            _ => part,
        },
        _ => part,
    }
}

/// `a : b = 2 : 3` as the ratio of its values, in the order of the names.
pub(crate) fn named_ratio(relation: &Relation) -> Option<Answer> {
    let [Answer::Ratio(names, _), Answer::Ratio(values, None)] = relation.sides.as_slice() else {
        return None;
    };
    if relation.signs != [RelationOp::Equal] || names.len() != values.len() {
        return None;
    }
    let mut pairs = Vec::with_capacity(names.len());
    for (name, value) in names.iter().zip(values) {
        let Expr::Symbol(name) = name else { return None };
        pairs.push((name, value.clone()));
    }
    pairs.sort_by(|a, b| a.0.cmp(b.0));
    Some(Answer::Ratio(pairs.into_iter().map(|(_, value)| value).collect(), None))
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
    let infinite = |part: &Expr| matches!(part, Expr::Constant(Constant::Infinity));
    match answer {
        // An end at infinity makes an interval of a pair.
        Answer::Value(expr) | Answer::Percent(expr) | Answer::Quantity(expr, _) => {
            is_closed(expr) && !expr.any(&infinite)
        }
        Answer::Bare(parts) | Answer::Tuple(parts) => parts.iter().all(is_number),
        _ => false,
    }
}

/// Whether two numbers that were written out are two.
fn is_other_number(a: &Answer, b: &Answer) -> bool {
    matches!((a, b), (Answer::Value(Expr::Number(a)), Answer::Value(Expr::Number(b))) if a != b)
}

fn is_equation(answer: &Answer) -> bool {
    matches!(answer, Answer::Relation(relation) if relation.signs.iter().all(|sign| matches!(sign, RelationOp::Equal | RelationOp::Approx)))
}

/// The values of `x=1, x=2`; a part without a name takes the name before it (`x=1, 2`).
fn of_one_name(parts: &[Answer]) -> Option<Vec<Answer>> {
    let mut name: Option<Symbol> = None;
    let mut values = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Answer::Relation(relation) => {
                let assignment = assignment(relation)?;
                if relation.signs[0] == RelationOp::In
                    || name.as_ref().is_some_and(|known| *known != assignment.name)
                {
                    return None;
                }
                name = Some(assignment.name);
                match assignment.value {
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
    if rest.is_empty()
        || first.signs != [RelationOp::Equal]
        || names.iter().any(|name| name.as_name().is_none())
    {
        return None;
    }
    let ordered = |tuple: &Answer| match tuple {
        Answer::Tuple(values) => Answer::Tuple(by_name(names, values)),
        other => other.clone(),
    };
    let mut all = vec![ordered(value)];
    for part in rest {
        let tuple = match part {
            Answer::Relation(relation) if relation.sides.first() == first.sides.first() => {
                relation.sides.get(1)?
            }
            other => other,
        };
        all.push(matches!(tuple, Answer::Tuple(more) if more.len() == values.len()).then(|| ordered(tuple))?);
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
                        signs: vec![RelationOp::Equal],
                    })
                })
                .collect(),
        ))
    };
    if !matches!(relation.signs.as_slice(), [RelationOp::Equal | RelationOp::In])
        || names.iter().any(|name| name.as_name().is_none())
    {
        return None;
    }
    match values {
        Answer::Tuple(_) => rows(values),
        Answer::Set(all) if all.len() == 1 => rows(&all[0]),
        // Several solutions: the tuples themselves.
        Answer::Bare(all) | Answer::Set(all) => Some(Answer::Bare(
            all.iter()
                .map(|one| match one {
                    Answer::Tuple(values) => Answer::Tuple(by_name(names, values)),
                    other => other.clone(),
                })
                .collect(),
        )),
        _ => None,
    }
}

/// `a_{n+1} = 2a_n` as `a_n = 2a_{n-1}`: a sequence defined at n.
fn from_n(relation: &Relation) -> Option<Answer> {
    let [Answer::Value(Expr::Symbol(first)), Answer::Value(_)] = relation.sides.as_slice() else {
        return None;
    };
    let (stem, letter, by) = indexed(first)?;
    if relation.signs != [RelationOp::Equal] || by == 0 {
        return None;
    }
    let shifted = |side: &Answer| {
        let Answer::Value(side) = side else { return None };
        let mut out = side.clone();
        // From the end that no shifted name takes.
        let mut names: Vec<(i64, Symbol)> = aske_algebra::exact::free_symbols(side)
            .into_iter()
            .filter_map(|name| {
                let (of, with, at) = indexed(&name)?;
                (of == stem && with == letter).then(|| (at, name.clone()))
            })
            .collect();
        names.sort();
        if by < 0 {
            names.reverse();
        }
        for (at, name) in names {
            let index = match at - by {
                0 => letter.to_string(),
                more if more > 0 => format!("{letter}+{more}"),
                less => format!("{letter}{less}"),
            };
            out = aske_algebra::exact::substitute(&out, &name, &Expr::symbol(&format!("{stem}_{index}")));
        }
        let back = Expr::symbol(letter).minus(Expr::int(by));
        Some(Answer::Value(aske_algebra::exact::substitute(&out, &Symbol::new(letter), &back)))
    };
    let sides = relation.sides.iter().map(shifted).collect::<Option<Vec<_>>>()?;
    Some(Answer::Relation(Relation { sides, signs: relation.signs.clone() }))
}

/// The letter of `a_{n+1}`, its index and what is added to it.
fn indexed(name: &str) -> Option<(&str, &str, i64)> {
    let (stem, index) = name.split_once('_')?;
    let letter = index.get(..1).filter(|letter| matches!(*letter, "n" | "k" | "m"))?;
    let by = match &index[1..] {
        "" => 0,
        rest => rest.parse().ok().filter(|by: &i64| rest.starts_with(['+', '-']) && by.abs() < 100)?,
    };
    Some((stem, letter, by))
}

/// `x = y = 2` as a system.
fn chained(relation: &Relation) -> Option<Answer> {
    let (value, names) = relation.sides.split_last()?;
    let equal = relation.signs.iter().all(|sign| *sign == RelationOp::Equal);
    if names.len() < 2
        || !equal
        || value.as_name().is_some()
        || names.iter().any(|name| name.as_name().is_none())
    {
        return None;
    }
    let sides = |name: &Answer| vec![name.clone(), value.clone()];
    let rows = names
        .iter()
        .map(|name| Answer::Relation(Relation { sides: sides(name), signs: vec![RelationOp::Equal] }));
    Some(Answer::All(rows.collect()))
}

/// The values of a named tuple in the usual order of its names: `(y, x) = (1, 2)` is the point (2, 1). Names without a
/// usual order keep the one they are written in.
pub(crate) fn by_name(names: &[Answer], values: &[Answer]) -> Vec<Answer> {
    let Some(symbols) = names.iter().map(Answer::as_name).collect::<Option<Vec<_>>>() else {
        return values.to_vec();
    };
    let mut order: Vec<usize> = (0..symbols.len()).collect();
    // A fourth unknown beside x, y and z may come first or last.
    if symbols.iter().any(|name| name == "w") && symbols.iter().any(|name| name == "x") {
        return values.to_vec();
    }
    order.sort_by_key(|&at| &symbols[at]);
    let sorted: Vec<&Symbol> = order.iter().map(|&at| &symbols[at]).collect();
    if symbols.len() != values.len() || !is_usual_order(&sorted) {
        return values.to_vec();
    }
    order.into_iter().map(|at| values[at].clone()).collect()
}

/// Whether sorted names are consecutive letters (`x, y, z`), or one letter with different subscripts.
fn is_usual_order(sorted: &[&Symbol]) -> bool {
    let letter = |name: &str| {
        let mut letters = name.chars();
        letters.next().filter(|_| letters.next().is_none()).map(u32::from)
    };
    let follows = |pair: &[&Symbol]| letter(pair[0]).zip(letter(pair[1])).is_some_and(|(a, b)| a + 1 == b);
    let stem = |name: &Symbol| name.split_once('_').map(|(stem, _)| stem.to_owned());
    sorted.windows(2).all(follows)
        || sorted
            .first()
            .and_then(|name| stem(name))
            .is_some_and(|first| sorted.iter().all(|name| stem(name).is_some_and(|stem| stem == first)))
}

/// The values of a system of assignments.
pub(crate) struct Assignments {
    /// In the order in which they were written.
    pub(crate) written: Vec<Answer>,
    /// In the order of their names.
    pub(crate) by_name: Vec<Answer>,
    /// Whether a tuple of them is usually in the order of their names: `(x, y)`, `(a, b, c)`, `(x_1, x_2)`.
    pub(crate) in_usual_order: bool,
}

pub(crate) fn assignments(parts: &[Answer]) -> Option<Assignments> {
    let mut assignments = Vec::with_capacity(parts.len());
    for part in parts {
        let Answer::Relation(relation) = part else { return None };
        assignments.push(assignment(relation)?);
    }
    let written = assignments.iter().map(|assignment| assignment.value.clone()).collect();
    assignments.sort_by(|a, b| a.name.cmp(&b.name));
    let in_usual_order =
        is_usual_order(&assignments.iter().map(|assignment| &assignment.name).collect::<Vec<_>>());
    Some(Assignments {
        written,
        by_name: assignments.into_iter().map(|assignment| assignment.value).collect(),
        in_usual_order,
    })
}

/// Whether all names are one letter with different subscripts.
pub(crate) fn numbered(parts: &[Answer]) -> bool {
    let stem = |part: &Answer| match part {
        Answer::Relation(relation) => {
            assignment(relation)?.name.split_once('_').map(|(stem, _)| stem.to_owned())
        }
        _ => None,
    };
    let Some(first) = parts.first().and_then(stem) else { return false };
    parts.iter().all(|part| stem(part).is_some_and(|stem| stem == first))
}
