//! Comparison of typed answers.

mod applications;
mod comparator;
mod domain;
mod equation;
mod estimate;
mod noncommutative;
mod pair;
mod points;
mod polynomial;
mod region;
mod shape;
mod truth;
mod value;

use crate::answer::Answer;
use crate::normalise;
use crate::policy::NotationPolicy;
use crate::read;
use crate::text;
use crate::vocabulary;
use aske_algebra::expr::Expr;
use aske_algebra::fuel::Fuel;
use aske_algebra::verdict::{Comparison, MAX_BYTES, Method};
use comparator::Comparator;
use truth::Truth;

/// Work for one comparison, reading included: about 20 ms at most.
const FUEL: u64 = 2_000_000;

pub(crate) fn compare(gold: &str, pred: &str, policy: &NotationPolicy) -> Comparison {
    // Both orders are one question, and get one answer.
    let (first, second) = if gold <= pred { (gold, pred) } else { (pred, gold) };
    match truth(first, second, policy) {
        Truth::Yes(method) => Comparison::decided(true, method),
        Truth::No(method) => Comparison::decided(false, method),
        Truth::Unknown => Comparison::undecided(),
    }
}

fn truth(gold: &str, pred: &str, policy: &NotationPolicy) -> Truth {
    if gold.len() > MAX_BYTES || pred.len() > MAX_BYTES {
        return if gold == pred { Truth::Yes(Method::Text) } else { Truth::Unknown };
    }
    let (normal_gold, normal_pred) = (normalise(gold), normalise(pred));
    if text::says_nothing(&normal_gold) || text::says_nothing(&normal_pred) {
        return Truth::No(Method::Text);
    }
    // `0.333...` goes on, `0.333.` ends a sentence; `~~5~~` is struck out.
    let marks = |text: &str| (text.trim_end().ends_with(".."), text.contains("~~"));
    if normal_gold == normal_pred && marks(gold) == marks(pred) {
        return Truth::Yes(Method::Text);
    }
    let fuel = Fuel::new(FUEL);
    let typed = match (read::readings(gold, &fuel), read::readings(pred, &fuel)) {
        (Ok(gold_read), Ok(pred_read)) => {
            match (Comparator { policy, fuel: &fuel }).any_reading(&gold_read, &pred_read) {
                // An answer quoted in text that is not understood may be the same, unless a word changes it.
                Truth::No(_)
                    if is_quoted(gold, &gold_read, &pred_read) && !is_modified(pred)
                        || is_quoted(pred, &pred_read, &gold_read) && !is_modified(gold) =>
                {
                    Truth::Unknown
                }
                Truth::No(_) if is_beyond_comparison(&gold_read, &pred_read) => Truth::Unknown,
                // Words that the reader drops, as in `the maximum is 5`, may say the opposite.
                Truth::Yes(_) if vocabulary::are_opposed(&normal_gold, &normal_pred) => {
                    Truth::No(Method::Text)
                }
                Truth::Yes(_) if read::are_framed_differently(gold, pred) => Truth::Unknown,
                // `(12)(13)` may be a product of cycles as well as one of numbers.
                Truth::Yes(_) if read::are_other_cycles(gold, pred) => Truth::Unknown,
                other => other,
            }
        }
        (Err(_), _) | (_, Err(_)) => Truth::Unknown,
    };
    // The last resort: the many names of "no solution".
    typed.or(|| {
        let none = text::both_no_solution(&normal_gold, &normal_pred);
        if none { Truth::Yes(Method::NoSolution) } else { Truth::No(Method::Text) }
    })
}

/// Whether one of two answers is of a kind that may equal the other, but is not evaluated: lists with dots, functions by
/// cases, products of matrices, compositions.
fn is_beyond_comparison(a: &[Answer], b: &[Answer]) -> bool {
    let ([a], [b]) = (a, b) else { return false };
    let has_dots = |answer: &Answer| matches!(answer, Answer::Set(parts) | Answer::Bare(parts) if parts.contains(&Answer::Dots));
    let by_cases = |answer: &Answer| {
        let cases = |answer: &Answer| matches!(answer, Answer::All(rows) if rows.iter().all(|row| matches!(row, Answer::Tuple(_))));
        cases(answer) || matches!(answer, Answer::Relation(relation) if relation.sides.iter().any(cases))
    };
    let opaque_with = |answer: &Answer, piece: &str| matches!(answer, Answer::Opaque(opaque) if opaque.spelling.contains(piece));
    let either = |test: &dyn Fn(&Answer, &Answer) -> bool| test(a, b) || test(b, a);
    either(&|one, other| {
        has_dots(one) && matches!(other, Answer::Numbers(_) | Answer::Family(..) | Answer::Congruence(_))
            || has_dots(one)
                && matches!(other, Answer::Where(_, numbers, _) if *numbers != crate::answer::Numbers::Reals)
    }) || either(&|one, other| {
        by_cases(one)
            && !by_cases(other)
            && matches!(other, Answer::Value(_) | Answer::Relation(_) | Answer::All(_))
    }) || either(&|one, other| opaque_with(one, "\\begin") && matches!(other, Answer::Matrix(_)))
        || either(&|one, other| opaque_with(one, "\\circ") && matches!(other, Answer::Value(Expr::Apply(..))))
        || either(&|one, other| opaque_with(one, "\\} *") && matches!(other, Answer::Set(_)))
}

/// Whether words in a text negate or change what stands beside them.
fn is_modified(text: &str) -> bool {
    text.to_lowercase()
        .split(|c: char| !c.is_alphabetic() && c != '\'')
        .any(|word| vocabulary::is_modifier(word.trim_matches('\'')))
}

/// Whether an answer that was understood stands word for word in one that was not.
fn is_quoted(text: &str, read: &[Answer], other: &[Answer]) -> bool {
    let [Answer::Opaque(whole)] = other else { return false };
    if read.iter().any(|answer| matches!(answer, Answer::Opaque(_) | Answer::Text(_) | Answer::Letters(_))) {
        return false;
    }
    let part = read::spelling(text);
    !part.is_empty() && format!(" {} ", whole.spelling).contains(&format!(" {part} "))
}
