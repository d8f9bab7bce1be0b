//! From text to a typed answer, with the other readings that its notation allows.

mod binders;
mod brackets;
mod choice;
mod clock;
mod congruence;
mod cycles;
mod dates;
mod domain;
mod dress;
mod functions;
mod kinds;
mod lexer;
mod matrix;
mod names;
mod notation;
mod number;
mod numerals;
mod opaque;
mod parser;
mod phrases;
mod plain_text;
mod quantity;
mod split;
mod token;
mod unicode;
pub(crate) mod words;

use crate::answer::Answer;
use aske_algebra::fuel::Fuel;
use notation::{Met, Notation};
pub(crate) use numerals::is_number_word;
use parser::Context;
pub(crate) use parser::Stuck;

/// Longer answers are read one way only.
const MAX_AMBIGUOUS: usize = 4096;

/// Every way to read an answer: the usual one first, then those that take an open choice of notation the
/// other way. What does not read as mathematics is one opaque answer; the error says that reading it would cost
/// too much.
pub(crate) fn readings(text: &str, fuel: &Fuel) -> Result<Vec<Answer>, Stuck> {
    let text = dress::undress(text);
    if let Some(date) = dates::read(text) {
        return Ok(vec![Answer::Date(date)]);
    }
    let mut found = Vec::new();
    let met = Met::default();
    let usual = Notation::default();
    let mut bounds = false;
    let mut one = |notation: Notation, met: &Met| match read(text, notation, met, fuel) {
        Ok(answer) => {
            if !found.contains(&answer) {
                found.push(answer);
            }
        }
        Err(Stuck::Bounds) => bounds = true,
        Err(Stuck::Syntax) => {}
    };
    one(usual, &met);
    // One comma may be a decimal point; several are a list, and so is one beside a fraction.
    if text.matches(',').count() > 1 || text.contains('/') {
        met.decimal.set(false);
    }
    let others = if text.len() <= MAX_AMBIGUOUS { usual.others(&met) } else { Vec::new() };
    for other in others {
        one(other, &Met::default());
    }
    if found.is_empty() {
        if bounds {
            return Err(Stuck::Bounds);
        }
        found.push(opaque::read(&lexer::tokens(text, usual, &met)));
    }
    Ok(found)
}

fn read(text: &str, notation: Notation, met: &Met, fuel: &Fuel) -> Result<Answer, Stuck> {
    fuel.spend(8 * text.len() as u64)?;
    if dates::is_slashed(text) {
        return Err(Stuck::Syntax);
    }
    let tokens = lexer::tokens(text, notation, met);
    if tokens.iter().any(|token| token.tok == token::Tok::Beyond) {
        return Err(Stuck::Bounds);
    }
    kinds::answer(dress::trimmed(&tokens), Context { notation, met, fuel }, 0)
}

/// An answer word for word, whatever notation it is written in.
pub(crate) fn spelling(text: &str) -> String {
    let tokens = lexer::tokens(dress::undress(text), Notation::default(), &Met::default());
    opaque::spelling(dress::trimmed(&tokens))
}
