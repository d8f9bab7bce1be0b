//! The kind of an answer: lists, relations, sets, and the kinds that the other modules of the reader recognise.

use super::delimiters::strip_punctuation;
use super::parser::{Context, Read, ReadError};
use super::token::{Tok, Token};
use super::{
    brackets, choice, clock, congruence, cycles, domain, opaque, phrases, plain_text, quantity, split,
    vectors, wording,
};
use crate::answer::{Answer, Numbers, Relation, RelationOp};
use aske_algebra::expr::Symbol;

/// Lists inside lists, beyond which nothing is read.
const MAX_LEVEL: u32 = 12;

/// Signs in one chain of equations or inequalities.
const MAX_CHAIN: usize = 64;

/// Signs ± that are taken apart.
const MAX_SIGNS: usize = 3;

/// Reads all the tokens as one answer.
pub(crate) fn answer(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Answer> {
    context.fuel.spend(20 + 6 * tokens.len() as u64)?;
    if level > MAX_LEVEL {
        return Err(ReadError::Bounds);
    }
    let tokens = strip_punctuation(tokens);
    let [first, rest @ ..] = tokens else { return Err(ReadError::Syntax) };
    if first.is_cmd("approx") || first.is_cmd("sim") && matches!(rest, [Token { tok: Tok::Num(_), .. }]) {
        return answer(rest, context, level + 1);
    }
    // `= 2`
    if first.is_op('=') {
        return answer(rest, context, level + 1);
    }
    if level == 0
        && let Some(found) = wording::read(tokens, context, level)?
    {
        return Ok(found);
    }
    if let Some(rest) = phrases::without_hedge(tokens, level) {
        return answer(rest, context, level + 1);
    }
    if let Some(found) = phrases::special(tokens, context, level)? {
        return Ok(found);
    }
    if let Some(clock) = clock::hour(tokens) {
        return Ok(Answer::Ratio(Vec::new(), Some(clock)));
    }
    if let Some(permutation) = cycles::read(tokens) {
        return Ok(permutation);
    }
    if let Some(bound) = phrases::bound(tokens, context, level)? {
        return Ok(bound);
    }
    if let Some((front, condition)) =
        phrases::bracketed_condition(tokens).or_else(|| domain::trailing_condition(tokens))
    {
        let found = answer(front, context, level + 1)?;
        return Ok(conditioned(found, vec![condition]));
    }
    if phrases::is_labelled(tokens) {
        return Err(ReadError::Syntax);
    }
    if let Some(gloss) = phrases::gloss(tokens, context, level) {
        return Ok(gloss);
    }
    if let Some(answer) = choice::choice(tokens, context, level) {
        return Ok(answer);
    }
    if let Some(letters) = plain_text::letters(tokens) {
        return Ok(Answer::Letters(letters));
    }
    if let Some(answer) = plain_text::in_words(tokens) {
        return Ok(answer);
    }
    if let Some(text) = plain_text::all_text(tokens) {
        return Ok(plain_text::text_answer(&text, context, level));
    }
    if plain_text::is_formula(tokens) {
        return Err(ReadError::Syntax);
    }
    structured(tokens, context, level)
}

/// Reads an answer by its operators: connectives first, then relations, sets, brackets and values.
fn structured(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Answer> {
    if let Some(at) = split::find(tokens, |t| t.is_cmd("implies")) {
        return conclusion(&tokens[..at], &tokens[at + 1..], context, level);
    }
    if brackets::is_french(tokens) {
        return brackets::set_expression(tokens, context, level);
    }
    // `x = k or x = 2k, where k is an integer`: the condition is on all of them.
    if let Some(comma) = tokens.iter().rposition(|t| t.is_op(','))
        && split::find(&tokens[..comma], |t| t.is_cmd("or")).is_some()
        && let Some(condition) = domain::condition(&tokens[comma + 1..])
    {
        return Ok(conditioned(answer(&tokens[..comma], context, level + 1)?, vec![condition]));
    }
    // `1, 2, or 3` is a list.
    if let Some(tokens) = without_last_or(tokens) {
        return answer(&tokens, context, level + 1);
    }
    if let Some(congruence) = congruence::read(tokens, context)? {
        return Ok(congruence);
    }
    if let Some(parts) = connected(tokens, |t| t.is_cmd("or") || t.is_cmd("lor")) {
        return parts
            .into_iter()
            .map(|part| answer(part, context, level + 1))
            .collect::<Read<_>>()
            .map(Answer::Any);
    }
    if let Some(parts) = connected(tokens, |t| t.is_cmd("land")) {
        return parts
            .into_iter()
            .map(|part| answer(part, context, level + 1))
            .collect::<Read<_>>()
            .map(Answer::All);
    }
    if let Some(named) = named_list(tokens, context, level)? {
        return Ok(named);
    }
    if let Some(total) = quantity::compound(tokens, context) {
        return Ok(total);
    }
    if let Some(parts) = connected(tokens, |t| t.is_op(';') || t.tok == Tok::Row)
        .or_else(|| connected(tokens, |t| t.is_op(',') || t.is_cmd("and")))
    {
        return listed(&parts, context, level).map(|found| joined(found, tokens));
    }
    if let Some(answer) = relation(tokens, context, level)? {
        return Ok(answer);
    }
    // `\mathbb{R} - \{1\}`
    if let Some(at) = split::find_opening(tokens, |t| t.tok == Tok::SetOpen).filter(|&at| at > 1)
        && tokens[at - 1].is_op('-')
    {
        let mut tokens = tokens.to_vec();
        tokens[at - 1].tok = Tok::Cmd("setminus".into());
        return brackets::set_expression(&tokens, context, level);
    }
    if split::find(tokens, brackets::is_set_operator).is_some() {
        return brackets::set_expression(tokens, context, level);
    }
    if matches!(tokens, [dots] if dots.is_cmd("dots")) {
        return Ok(Answer::Dots);
    }
    if let Some(answer) = brackets::bracketed(tokens, context, level)? {
        return Ok(answer);
    }
    if let Some(answer) = vectors::read(tokens, context)? {
        return Ok(answer);
    }
    if tokens.iter().any(|t| t.is_cmd("pm") || t.is_cmd("mp")) {
        return both_signs(tokens, context, level);
    }
    if let Some(answer) = clock::ratio(tokens, context)? {
        return Ok(answer);
    }
    quantity::value(tokens, context)
}

/// `x, y = 2, 3`: as many values as names, in the order of the names.
fn named_list(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    let sides = split::at(tokens, |t| sign(t).is_some());
    let [names, values] = sides.as_slice() else { return Ok(None) };
    if split::find(names, |t| t.is_op(',')).is_none() || split::find(tokens, |t| t.is_op('=')).is_none() {
        return Ok(None);
    }
    let is_separator = |t: &Token| t.is_op(',') || t.is_cmd("and");
    let (names, values) = (split::at(names, is_separator), split::at(values, is_separator));
    if names.len() != values.len() || values.iter().any(|value| value.is_empty()) {
        return Ok(None);
    }
    let name = |part: &&[Token]| {
        let short = matches!(part, [one, ..] if matches!(one.tok, Tok::Letter(_) | Tok::Cmd(_)));
        let name = answer(part, context, level + 1).ok().filter(|_| short);
        name.filter(|name| name.as_name().is_some())
    };
    let Some(names) = names.iter().map(name).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let values =
        values.into_iter().map(|value| answer(value, context, level + 1)).collect::<Read<Vec<_>>>()?;
    let sides = vec![Answer::Tuple(names), Answer::Tuple(values)];
    Ok(Some(Answer::Relation(Relation { sides, signs: vec![RelationOp::Equal] })))
}

/// A list without the `or` before its last part, which a comma precedes; none where inequalities are joined.
fn without_last_or(tokens: &[Token]) -> Option<Vec<Token>> {
    let at = split::find(tokens, |t| t.is_cmd("or")).filter(|&at| at > 0 && tokens[at - 1].is_op(','))?;
    let single = tokens.iter().filter(|t| t.is_cmd("or")).count() == 1;
    let orders = tokens.iter().any(|t| sign(t).is_some_and(|sign| sign != RelationOp::Equal));
    let words = tokens.iter().any(|t| matches!(t.tok, Tok::Word(_) | Tok::Text(_)));
    (single && !orders && !words).then(|| [&tokens[..at], &tokens[at + 1..]].concat())
}

/// The parts between connectives, where there are two or more; an empty part at a doubled connective is skipped.
fn connected(tokens: &[Token], connective: impl Fn(&Token) -> bool) -> Option<Vec<&[Token]>> {
    split::find(tokens, &connective)?;
    let parts: Vec<_> = split::at(tokens, connective).into_iter().filter(|part| !part.is_empty()).collect();
    Some(parts)
}

/// What follows from a statement: `2x=10 \implies x=5` says that x is 5. Where the statement speaks of something
/// else, it is part of the answer, which is then not understood.
fn conclusion(before: &[Token], after: &[Token], context: Context<'_>, level: u32) -> Read<Answer> {
    let found = answer(after, context, level + 1)?;
    if before.is_empty() {
        return Ok(found);
    }
    let names = |answer: &Answer| match answer {
        Answer::Relation(relation) => Some(relation.free_symbols()),
        _ => None,
    };
    let given = names(&answer(before, context, level + 1)?).ok_or(ReadError::Syntax)?;
    let concluded = names(&found).ok_or(ReadError::Syntax)?;
    if concluded.is_empty() || !concluded.iter().all(|name| given.contains(name)) {
        return Err(ReadError::Syntax);
    }
    Ok(found)
}

/// An element of a list or set; what is not understood is an element of its own.
pub(crate) fn element(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Answer> {
    match answer(tokens, context, level + 1) {
        Err(ReadError::Syntax) if !tokens.is_empty() => Ok(opaque::read(tokens)),
        other => other,
    }
}

/// A list with what its connectives mean: `x > 1 and x < 2` hold together, and `x \ne 1, 2` excludes both.
fn joined(found: Answer, tokens: &[Token]) -> Answer {
    let Answer::Bare(mut parts) = found else { return found };
    let only_and = split::find(tokens, |t| t.is_op(',') || t.is_op(';')).is_none();
    if only_and && parts.iter().all(is_inequality) {
        return Answer::All(parts);
    }
    if let [Answer::Relation(first), rest @ ..] = parts.as_mut_slice()
        && first.signs == [RelationOp::NotEqual]
        && rest.iter().all(|part| matches!(part, Answer::Value(_)))
    {
        for part in rest {
            let sides = vec![first.sides[0].clone(), part.clone()];
            *part = Answer::Relation(Relation { sides, signs: vec![RelationOp::NotEqual] });
        }
        return Answer::All(parts);
    }
    Answer::Bare(parts)
}

/// Parts of a list without brackets; a condition on a letter is not a part.
fn listed(parts: &[&[Token]], context: Context<'_>, level: u32) -> Read<Answer> {
    if let [one] = parts {
        return answer(one, context, level + 1);
    }
    let mut answers = Vec::with_capacity(parts.len());
    let mut conditions = Vec::new();
    for part in parts {
        // `2\pi k, k\in\mathbb{Z}`: says what k may be.
        if let Some(condition) = domain::condition(part) {
            conditions.push(condition);
            continue;
        }
        match element(part, context, level)? {
            // What ± stands for are answers of their own.
            Answer::Bare(both) if part.iter().any(|t| t.is_cmd("pm")) => answers.extend(both),
            other => answers.push(other),
        }
    }
    if answers.is_empty() {
        // `n \ge 1, n \in \mathbb{Z}`: the bound is the answer, and the set a condition.
        if let [bound, set] = parts
            && split::find(bound, |t| sign(t).is_some_and(RelationOp::is_order)).is_some()
            && set.iter().any(|t| t.is_cmd("in"))
        {
            let condition = domain::condition(set).into_iter().collect();
            return Ok(conditioned(answer(bound, context, level + 1)?, condition));
        }
        // Conditions alone are the answer.
        return parts
            .iter()
            .map(|part| answer(part, context, level + 1))
            .collect::<Read<_>>()
            .map(Answer::Bare);
    }
    let mut answers = brackets::without_dots(answers);
    let found = if answers.len() == 1 { answers.remove(0) } else { Answer::Bare(answers) };
    Ok(conditioned(found, conditions))
}

/// An answer with what its letters may be. A condition on the unknown of inequalities makes a set of numbers.
fn conditioned(found: Answer, conditions: Vec<(Symbol, Numbers)>) -> Answer {
    if conditions.is_empty() {
        return found;
    }
    let inequalities = match &found {
        Answer::Bare(parts) | Answer::Any(parts) | Answer::All(parts) => parts.iter().all(is_inequality),
        other => is_inequality(other),
    };
    match conditions.as_slice() {
        [(name, numbers)] if inequalities => Answer::Where(name.clone(), *numbers, Box::new(found)),
        _ => Answer::Family(Box::new(found), conditions),
    }
}

fn is_inequality(answer: &Answer) -> bool {
    let orders = |sign: &RelationOp| sign.is_order() || *sign == RelationOp::NotEqual;
    matches!(answer, Answer::Relation(relation) if relation.signs.iter().all(orders))
}

pub(crate) fn sign(token: &Token) -> Option<RelationOp> {
    Some(match &token.tok {
        Tok::Op('=') => RelationOp::Equal,
        Tok::Op('<') => RelationOp::Less,
        Tok::Op('>') => RelationOp::Greater,
        Tok::Cmd(name) => match name.as_str() {
            "le" => RelationOp::LessEqual,
            "ge" => RelationOp::GreaterEqual,
            "ne" => RelationOp::NotEqual,
            // Congruences have been read before.
            "equiv" => RelationOp::Equal,
            "approx" => RelationOp::Approx,
            "in" => RelationOp::In,
            "notin" => RelationOp::NotIn,
            _ => return None,
        },
        _ => return None,
    })
}

/// Sides with signs between them.
fn relation(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    if split::find(tokens, |t| sign(t).is_some()).is_none() {
        return Ok(None);
    }
    let mut signs = Vec::new();
    let mut depth = 0;
    for token in tokens {
        depth += token.nesting();
        if depth == 0 {
            signs.extend(sign(token));
        }
    }
    if signs.len() > MAX_CHAIN {
        return Err(ReadError::Bounds);
    }
    let mut sides = Vec::with_capacity(signs.len() + 1);
    for side in split::at(tokens, |t| sign(t).is_some()) {
        context.fuel.spend(50)?;
        sides.push(match side {
            [] => return Err(ReadError::Syntax),
            // What is named need not be understood: `P(A|B) = 1/2`.
            _ if sides.is_empty() && signs.iter().all(|sign| *sign == RelationOp::Equal) => {
                answer(side, context, level + 1).or_else(|error| {
                    let name = split::spell(side);
                    let named = error == ReadError::Syntax && super::words::is_name(&name);
                    if named { Ok(Answer::Text(name)) } else { Err(error) }
                })?
            }
            _ => answer(side, context, level + 1)?,
        });
    }
    // `x \ne \pm 1` excludes both.
    if let ([RelationOp::NotEqual], [left, Answer::Bare(values)]) = (signs.as_slice(), sides.as_slice()) {
        let unequal = values.iter().map(|value| {
            let sides = vec![left.clone(), value.clone()];
            Answer::Relation(Relation { sides, signs: vec![RelationOp::NotEqual] })
        });
        return Ok(Some(Answer::All(unequal.collect())));
    }
    Ok(Some(Answer::Relation(Relation { sides, signs })))
}

/// Both values of every ±; where ∓ stands too, all signs turn together.
pub(crate) fn both_signs(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Answer> {
    let marks: Vec<usize> =
        (0..tokens.len()).filter(|&at| tokens[at].is_cmd("pm") || tokens[at].is_cmd("mp")).collect();
    let together = tokens.iter().any(|t| t.is_cmd("mp"));
    if marks.len() > MAX_SIGNS && !together {
        return Err(ReadError::Bounds);
    }
    let variants = if together { 2 } else { 1_usize << marks.len() };
    let mut answers = Vec::new();
    for variant in 0..variants {
        let mut tokens = tokens.to_vec();
        for (index, &at) in marks.iter().enumerate() {
            let bit = if together { variant } else { variant >> index & 1 };
            let minus = (bit == 1) != tokens[at].is_cmd("mp");
            tokens[at].tok = Tok::Op(if minus { '-' } else { '+' });
        }
        answers.push(answer(&tokens, context, level + 1)?);
    }
    Ok(Answer::Bare(answers))
}
