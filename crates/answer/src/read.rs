//! The reader: from text to typed answers, one for each reading that ambiguous notation allows.

mod binders;
mod brackets;
mod choice;
mod clock;
mod congruence;
mod cycles;
pub(crate) mod dates;
mod delimiters;
mod domain;
mod frame;
mod functions;
mod kinds;
mod lexer;
mod logic;
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
mod vectors;
pub(crate) mod wording;
pub(crate) mod words;

use crate::answer::Answer;
use aske_algebra::fuel::Fuel;
pub(crate) use cycles::are_other_cycles;
pub(crate) use delimiters::strip_delimiters;
use notation::{Ambiguities, Notation};
pub(crate) use numerals::is_number_word;
use parser::Context;
pub(crate) use parser::ReadError;

/// Longer answers are read one way only.
const MAX_AMBIGUOUS: usize = 4096;

/// Every way to read an answer: the usual one first, then those that take an open choice of notation the
/// other way. What does not read as mathematics is one opaque answer; the error says that reading it would cost
/// too much.
pub(crate) fn readings(text: &str, fuel: &Fuel) -> Result<Vec<Answer>, ReadError> {
    let text = delimiters::strip_delimiters(text);
    let plain = text.strip_prefix("\\text{").and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    if let Some(date) = dates::read(plain) {
        return Ok(vec![Answer::Date(date)]);
    }
    let mut found = Vec::new();
    let ambiguities = Ambiguities::default();
    let usual = Notation::default();
    let mut bounds = false;
    let mut one =
        |notation: Notation, ambiguities: &Ambiguities| match read(text, notation, ambiguities, fuel) {
            Ok(answer) => {
                if !found.contains(&answer) {
                    found.push(answer);
                }
            }
            Err(ReadError::Bounds) => bounds = true,
            Err(ReadError::Syntax) => {}
        };
    one(usual, &ambiguities);
    // One comma may be a decimal point; several are a list, and so is one beside a fraction or behind a name.
    if text.matches(',').count() > 1 || text.contains(['/', '=']) {
        ambiguities.decimal.set(false);
    }
    let others = if text.len() <= MAX_AMBIGUOUS { usual.others(&ambiguities) } else { Vec::new() };
    for other in others {
        one(other, &Ambiguities::default());
    }
    if found.is_empty() {
        if bounds {
            return Err(ReadError::Bounds);
        }
        found.push(opaque::read(&lexer::tokens(text, usual, &ambiguities)));
    }
    Ok(found)
}

fn read(text: &str, notation: Notation, ambiguities: &Ambiguities, fuel: &Fuel) -> Result<Answer, ReadError> {
    fuel.spend(8 * text.len() as u64)?;
    if dates::is_slashed(text) {
        return Err(ReadError::Syntax);
    }
    let tokens = lexer::tokens(text, notation, ambiguities);
    if tokens.iter().any(|token| token.tok == token::Tok::TooLong) {
        return Err(ReadError::Bounds);
    }
    let context = Context { notation, ambiguities, fuel };
    let tokens = delimiters::strip_punctuation(&tokens);
    let words = frame::words(tokens);
    if let Some((answer, _)) = frame::remark(words.as_deref().unwrap_or(tokens)) {
        return kinds::answer(answer, context, 0);
    }
    match (kinds::answer(tokens, context, 0), words) {
        // What is not understood with its text as written may be with its text as separate words.
        (Err(ReadError::Syntax), Some(words)) => match kinds::answer(&words, context, 0)? {
            Answer::Bare(parts)
                if parts.iter().any(|part| matches!(part, Answer::Text(_) | Answer::Opaque(_))) =>
            {
                Err(ReadError::Syntax)
            }
            answer => Ok(answer),
        },
        (read, _) => read,
    }
}

/// Whether two answers stand in sentences that speak of different things: `5, attained at x=1` and `5, attained at x=2`,
/// `The red area is 5` and `The blue area is 5`.
pub(crate) fn are_framed_differently(a: &str, b: &str) -> bool {
    let frames = |text: &str| {
        let tokens =
            lexer::tokens(delimiters::strip_delimiters(text), Notation::default(), &Ambiguities::default());
        let tokens = delimiters::strip_punctuation(&tokens);
        let words = frame::words(tokens);
        let tokens = words.as_deref().unwrap_or(tokens);
        let (answer, remark) = frame::remark(tokens).unwrap_or((tokens, &[]));
        let subject = frame::subject(answer).map(|(subject, _)| subject);
        [subject.unwrap_or_default(), opaque::spelling(remark)]
    };
    let first = frames(a);
    first.iter().any(|frame| !frame.is_empty())
        && first.iter().zip(frames(b)).any(|(a, b)| !a.is_empty() && !b.is_empty() && *a != b)
}

/// An answer word for word, whatever notation it is written in.
pub(crate) fn spelling(text: &str) -> String {
    let tokens =
        lexer::tokens(delimiters::strip_delimiters(text), Notation::default(), &Ambiguities::default());
    opaque::spelling(delimiters::strip_punctuation(&tokens))
}
