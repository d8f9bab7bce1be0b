//! Answers that are words: text, numbers in words, strings of letters, formulas of chemistry.

use super::choice::{several_choices, text_choice};
use super::kinds::answer;
use super::numerals;
use super::parser::Context;
use super::quantity::quantity;
use super::token::{Tok, Token};
use super::words;
use crate::answer::{Answer, Numbers};
use crate::units;
use aske_algebra::expr::Expr;
use smol_str::SmolStr;

/// Letters that are the whole answer and whose order matters.
pub(crate) fn letters(tokens: &[Token]) -> Option<SmolStr> {
    if let [Token { tok: Tok::Word(word) | Tok::Text(word), .. }] = tokens {
        return (words::is_letters(word) && words::is_string(word)).then(|| word.clone());
    }
    let mut out = String::new();
    for token in tokens {
        match &token.tok {
            Tok::Letter(c) if c.is_uppercase() => out.push(*c),
            Tok::Word(word) if word.chars().all(char::is_uppercase) => out.push_str(word),
            _ => return None,
        }
    }
    (tokens.len() > 1).then(|| out.into())
}

/// `H2O`, `C6H12O6`: capitals and the numbers behind them, run together.
pub(crate) fn is_formula(tokens: &[Token]) -> bool {
    let capital = |token: &Token| match &token.tok {
        Tok::Letter(c) => c.is_uppercase(),
        Tok::Word(word) => word.starts_with(char::is_uppercase),
        _ => false,
    };
    let piece = |(at, token): (usize, &Token)| {
        (capital(token) || matches!(token.tok, Tok::Num(_))) && (at == 0 || !token.spaced)
    };
    tokens.len() > 2
        && capital(&tokens[0])
        && tokens.iter().filter(|token| capital(token)).count() > 1
        && tokens.iter().any(|token| matches!(token.tok, Tok::Num(_)))
        && tokens.iter().enumerate().all(piece)
}

/// A number in words, with what was counted behind it; and `1 in 6`.
pub(crate) fn in_words(tokens: &[Token]) -> Option<Answer> {
    if let [Token { tok: Tok::Num(above), .. }, middle @ .., Token { tok: Tok::Num(below), .. }] = tokens {
        let words = all_text(middle)?;
        let share = matches!(words.as_str(), "in" | "out of" | "in every" | "of every");
        let whole = above.digits.is_some() && below.digits.is_some() && !below.value.is_zero();
        return (share && whole && above.value <= below.value)
            .then(|| Answer::Value(Expr::Number(&above.value / &below.value)));
    }
    let mut text = String::new();
    for (at, token) in tokens.iter().enumerate() {
        match &token.tok {
            Tok::Word(word) | Tok::Text(word) => {
                text.push(' ');
                text.push_str(word);
            }
            Tok::Cmd(name) if name == "and" => text.push_str(" and"),
            Tok::Letter('a' | 'A') => text.push_str(" a"),
            Tok::Op('-') if at == 0 => text.push_str("minus"),
            // A hyphen: `twenty-one`.
            Tok::Op('-') if !token.spaced && tokens.get(at + 1).is_some_and(|next| !next.spaced) => {
                text.push('-');
            }
            _ => return None,
        }
    }
    let (value, behind) = numerals::leading(&text)?;
    if behind.is_empty() {
        return Some(Answer::Value(value));
    }
    // `half an hour`
    let behind = behind.strip_prefix("an ").unwrap_or(&behind);
    units::read(behind).map(|unit| quantity(value, unit))
}

/// The words, if all of them are words.
pub(crate) fn all_text(tokens: &[Token]) -> Option<String> {
    let mut out = String::new();
    let mut long = false;
    for token in tokens {
        let piece = match &token.tok {
            Tok::Text(text) => {
                long = true;
                text.clone()
            }
            Tok::Word(word) => {
                long |= !words::is_product(word, true) || word.chars().count() > 3;
                word.clone()
            }
            Tok::Letter(c) => SmolStr::new(c.encode_utf8(&mut [0; 4])),
            Tok::Op('\'') => SmolStr::new_static("'"),
            Tok::Cmd(name) if name == "or" || name == "and" => name.clone(),
            _ => return None,
        };
        if !out.is_empty() && token.spaced {
            out.push(' ');
        }
        out.push_str(&piece);
    }
    long.then_some(out)
}

/// Text set as text: a formula in disguise, or words.
pub(crate) fn text_answer(text: &str, context: Context<'_>, level: u32) -> Answer {
    if let Some((letter, rest)) = text_choice(text).filter(|_| text.contains(' ')) {
        let beside = (!rest.is_empty()).then(|| Box::new(Answer::Text(SmolStr::new(rest))));
        return Answer::Choice(letter, beside);
    }
    if let Some(numbers) = match text.to_ascii_lowercase().as_str() {
        "all integers" | "integers" | "the integers" => Some(Numbers::Integers),
        "all positive integers" | "positive integers" => Some(Numbers::Positive),
        _ => None,
    } {
        return Answer::Numbers(numbers);
    }
    let words = |part: &str| !part.trim().is_empty() && part.chars().all(|c| c.is_alphabetic() || c == ' ');
    // `Yes, it is`
    if let Some((first, rest)) = text.split_once(", ")
        && matches!(first.to_lowercase().as_str(), "yes" | "no")
        && rest
            .split(' ')
            .all(|word| matches!(word, "it" | "they" | "is" | "does" | "do" | "are" | "can" | "indeed"))
    {
        return Answer::Text(SmolStr::new(first));
    }
    if text.contains(',') && text.split(',').all(words) && several_choices(text).is_none() {
        return Answer::Bare(text.split(',').map(|part| Answer::Text(SmolStr::new(part.trim()))).collect());
    }
    if let Some(letters) = several_choices(text) {
        return Answer::Bare(letters.into_iter().map(|letter| Answer::Choice(letter, None)).collect());
    }
    // `Alice and Bob`, `I and III`
    let parts: Vec<&str> = text.split(" and ").flat_map(|part| part.split(", ")).collect();
    let name = |part: &&str| part.starts_with(char::is_uppercase) && part.chars().all(char::is_alphabetic);
    if parts.len() > 1 && level <= 2 && parts.iter().all(name) {
        let read = |part: &&str| {
            let tokens = super::lexer::tokens(part, context.notation, context.ambiguities);
            answer(&tokens, context, level + 1).ok()
        };
        if let Some(parts) = parts.iter().map(read).collect() {
            return Answer::Bare(parts);
        }
    }
    if crate::vocabulary::is_all_reals(&crate::text::fold(text)) {
        return Answer::Numbers(Numbers::Reals);
    }
    let formula = text.contains(|c: char| c.is_ascii_digit() || matches!(c, '=' | '<' | '>' | '+' | '('));
    if formula && level <= 2 {
        let tokens = super::lexer::tokens(text, context.notation, context.ambiguities);
        if all_text(&tokens).is_none()
            && let Ok(read) = answer(&tokens, context, level)
        {
            return read;
        }
    }
    Answer::Text(SmolStr::new(text))
}
