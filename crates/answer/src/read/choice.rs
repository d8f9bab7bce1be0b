//! Options of a multiple choice: `(A)`, `B.`, `Option C`.

use super::kinds::answer;
use super::opaque;
use super::parser::Context;
use super::token::{Tok, Token};
use crate::answer::Answer;
use smol_str::SmolStr;

/// `(A)`, `A.`, `\text{(A) }5`: an option's letter.
pub(crate) fn choice(tokens: &[Token], context: Context<'_>, level: u32) -> Option<Answer> {
    let letter = |tok: &Tok| match tok {
        Tok::Letter(c @ 'A'..='J') => Some(*c),
        _ => None,
    };
    let rest = |tokens: &[Token]| {
        (!tokens.is_empty())
            .then(|| Box::new(answer(tokens, context, level + 1).unwrap_or_else(|_| opaque::read(tokens))))
    };
    let tokens = match tokens {
        [Token { tok: Tok::Word(word) | Tok::Text(word), .. }, behind @ ..]
            if !behind.is_empty() && is_option(word) =>
        {
            if let [Token { tok: Tok::Letter(c @ ('A'..='J' | 'a'..='j')), .. }] = behind {
                return Some(Answer::Choice(c.to_ascii_uppercase(), None));
            }
            behind
        }
        _ => tokens,
    };
    match tokens {
        // Labels of items: `(b)`, `(iv)`.
        [open, Token { tok: Tok::Letter(c @ 'a'..='e'), .. }, close]
            if level == 0 && open.is_op('(') && close.is_op(')') =>
        {
            Some(Answer::Choice(c.to_ascii_uppercase(), None))
        }
        [Token { tok: Tok::Letter(c @ 'a'..='e'), .. }, close] if level == 0 && close.is_op(')') => {
            Some(Answer::Choice(c.to_ascii_uppercase(), None))
        }
        [open, Token { tok: Tok::Word(word), .. }, close]
            if open.is_op('(') && close.is_op(')') && word.chars().all(|c| matches!(c, 'i' | 'v' | 'x')) =>
        {
            Some(Answer::Letters(word.clone()))
        }
        [open, name, close, behind @ ..] if open.is_op('(') && close.is_op(')') => {
            let letter = letter(&name.tok)?;
            (behind.is_empty() || behind[0].spaced).then(|| Answer::Choice(letter, rest(behind)))
        }
        [name, mark, behind @ ..]
            if mark.is_op(')') || mark.is_op('.') || (mark.is_op(':') && !behind.is_empty()) =>
        {
            Some(Answer::Choice(letter(&name.tok)?, rest(behind)))
        }
        [Token { tok: Tok::Text(text), .. }, behind @ ..] => {
            let (letter, text) = text_choice(text)?;
            // `\text{C}(5,2)`
            if text.is_empty() && behind.first().is_some_and(|t| t.is_op('(') && !t.spaced) {
                return None;
            }
            let beside = if behind.is_empty() {
                (!text.is_empty()).then(|| Box::new(Answer::Text(SmolStr::new(text))))
            } else {
                rest(behind)
            };
            Some(Answer::Choice(letter, beside))
        }
        _ => None,
    }
}

fn is_option(word: &str) -> bool {
    ["option", "choice"].iter().any(|name| word.eq_ignore_ascii_case(name))
}

/// The letter of `(A)`, `(A) five`, `A) five`, `Option A`.
pub(crate) fn text_choice(text: &str) -> Option<(char, &str)> {
    let named = ["option ", "choice ", "answer ", "answer: "]
        .iter()
        .find(|name| text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)));
    let text = named.map_or(text, |name| &text[name.len()..]);
    let inside = text.strip_prefix('(').unwrap_or(text);
    let letter = inside.chars().next().filter(|c| matches!(c, 'A'..='J'))?;
    let rest = &inside[1..];
    let rest = match rest.chars().next() {
        Some(')') => &rest[1..],
        Some('.' | ':') if inside.len() == text.len() => &rest[1..],
        None if inside.len() == text.len() => rest,
        _ => return None,
    };
    Some((letter, rest.trim()))
}

/// `(A) and (C)`: letters of several options.
pub(crate) fn several_choices(text: &str) -> Option<Vec<char>> {
    let parts = text.replace(" and ", ",").replace(" or ", ",");
    let letters: Vec<char> = parts
        .split(',')
        .filter(|part| !part.trim().is_empty())
        .map(|part| text_choice(part.trim()).filter(|(_, rest)| rest.is_empty()).map(|(letter, _)| letter))
        .collect::<Option<_>>()?;
    (letters.len() > 1).then_some(letters)
}
