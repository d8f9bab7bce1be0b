//! From text to a typed answer, with the other readings that its notation allows.

mod binders;
mod brackets;
mod dress;
mod functions;
mod kinds;
mod lexer;
mod matrix;
mod names;
mod notation;
mod number;
mod parser;
mod split;
mod token;
mod unicode;
mod words;

use crate::answer::Answer;
use crate::fuel::Fuel;
use notation::{Met, Notation};
use parser::Context;
pub(crate) use parser::Stuck;

/// Longer answers are read one way only.
const MAX_AMBIGUOUS: usize = 4096;

/// Every way to read an answer: the usual one first, then those that take an open choice of notation the
/// other way. Empty where it reads as nothing; the error says that reading it would cost too much.
pub(crate) fn readings(text: &str, fuel: &Fuel) -> Result<Vec<Answer>, Stuck> {
    let text = dress::undress(text);
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
    let others = if text.len() <= MAX_AMBIGUOUS { usual.others(&met) } else { Vec::new() };
    for other in others {
        one(other, &Met::default());
    }
    if bounds && found.is_empty() { Err(Stuck::Bounds) } else { Ok(found) }
}

fn read(text: &str, notation: Notation, met: &Met, fuel: &Fuel) -> Result<Answer, Stuck> {
    fuel.spend(8 * text.len() as u64)?;
    let tokens = lexer::tokens(text, notation, met);
    if tokens.iter().any(|token| token.tok == token::Tok::Beyond) {
        return Err(Stuck::Bounds);
    }
    kinds::answer(dress::trimmed(&tokens), Context { notation, met, fuel }, 0)
}
