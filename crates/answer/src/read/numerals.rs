//! Numbers in words: `seven`, `twenty-one`, `two thirds`, `3 million`, `a dozen`.

use super::token::{Num, Tok, Token};
use aske_algebra::expr::{Expr, Rational};
use dashu_int::IBig;
use smol_str::SmolStr;

/// Words in one number.
const MAX_WORDS: usize = 16;

/// Numbers below twenty and the tens.
fn small(word: &str) -> Option<u64> {
    const ONES: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
                        sixteen seventeen eighteen nineteen";
    const TENS: &str = "twenty thirty forty fifty sixty seventy eighty ninety";
    let at = |list: &str| list.split(' ').position(|known| known == word).map(|at| at as u64);
    at(ONES).or_else(|| at(TENS).map(|tens| tens * 10 + 20))
}

/// What a word multiplies the number before it by.
fn scale(word: &str) -> Option<u64> {
    Some(match word {
        "hundred" => 100,
        "thousand" => 1_000,
        "million" | "millions" => 1_000_000,
        "billion" | "billions" => 1_000_000_000,
        "trillion" | "trillions" => 1_000_000_000_000,
        "dozen" | "dozens" => 12,
        _ => return None,
    })
}

/// The denominator that a word names.
fn part(word: &str) -> Option<u64> {
    Some(match word.strip_suffix('s').unwrap_or(word) {
        "half" | "halve" => 2,
        "third" => 3,
        "fourth" | "quarter" => 4,
        "fifth" => 5,
        "sixth" => 6,
        "seventh" => 7,
        "eighth" => 8,
        "ninth" => 9,
        "tenth" => 10,
        "hundredth" => 100,
        "thousandth" => 1000,
        _ => return None,
    })
}

/// The place that a word names: `third`.
pub(crate) fn ordinal(word: &str) -> Option<u64> {
    match word {
        "second" => Some(2),
        "half" | "halves" | "quarter" => None,
        word => part(word).filter(|_| !word.ends_with('s')),
    }
}

/// Whether a word in lower case is part of a number, and so no unit.
pub(crate) fn is_number_word(word: &str) -> bool {
    small(word).is_some() || scale(word).is_some() || part(word).is_some()
}

/// The number at the start of some words, and how many of them it takes.
fn number(words: &[&str]) -> Option<(Rational, usize)> {
    let (mut total, mut group) = (0_u64, None::<u64>);
    let mut taken = 0;
    let mut article = false;
    for (at, word) in words.iter().enumerate().take(MAX_WORDS) {
        let last = at.checked_sub(1).map(|before| words[before]);
        if let Some(value) = small(word) {
            // `twenty one`, `two hundred five`; but not `one two`.
            group = Some(match group {
                None => value,
                Some(known) if known % 100 >= 20 && known.is_multiple_of(10) && (1..10).contains(&value) => {
                    known + value
                }
                Some(known) if known >= 100 && known.is_multiple_of(100) && value < 100 => known + value,
                Some(_) => return None,
            });
        } else if let Some(factor) = scale(word) {
            let count = group.or((article || at == 0).then_some(1))?;
            if factor == 100 || factor == 12 {
                group = Some(count.checked_mul(factor)?);
            } else {
                total = total.checked_add(count.checked_mul(factor)?)?;
                group = None;
            }
        } else if *word == "and" && last.is_some_and(|last| scale(last).is_some()) {
            continue;
        } else if matches!(*word, "a" | "an") && at == 0 {
            article = true;
            continue;
        } else {
            break;
        }
        taken = at + 1;
    }
    let whole = |value: u64| Rational::from(value);
    let counted = (taken > 0).then(|| total + group.unwrap_or(0));
    // `two thirds`, `a half`, `half`.
    let next = words.get(if taken == 0 && article { 1 } else { taken }).copied();
    if let Some(below) = next.and_then(part)
        && (counted.is_some() || article || matches!(next, Some("half")))
    {
        let above = counted.unwrap_or(1);
        let plural = next.is_some_and(|word| word.ends_with('s'));
        if (above == 1) != plural {
            let length = taken.max(usize::from(article)) + 1;
            return Some((Rational::from_parts(IBig::from(above), below.into()), length));
        }
        return None;
    }
    // `two and a half`
    if let (Some(value), ["and", "a", next, ..]) = (counted, &words[taken.min(words.len())..])
        && let Some(below) = part(next)
    {
        return Some((whole(value) + Rational::from_parts(IBig::ONE, below.into()), taken + 3));
    }
    counted.map(|value| (whole(value), taken))
}

/// A number in words at the start of an answer, and the words behind it.
pub(crate) fn leading(text: &str) -> Option<(Expr, String)> {
    let lower = text.to_ascii_lowercase().replace('-', " ");
    let words: Vec<&str> = lower.split_whitespace().collect();
    let negative = matches!(words.first(), Some(&("minus" | "negative")));
    let words = &words[usize::from(negative)..];
    let (value, taken) = match words {
        // `half a million`
        ["half", "a", word, ..] if let Some(factor) = scale(word) => {
            (Rational::from(factor) / Rational::from(2_u8), 3)
        }
        _ => number(words)?,
    };
    let value = Expr::Number(if negative { -value } else { value });
    Some((value, words[taken..].join(" ")))
}

/// The words with `3 million` written as a product: a number before a scale is multiplied by it.
pub(crate) fn scaled(tokens: &[Token]) -> Option<Vec<Token>> {
    let first_word = |token: &Token| match &token.tok {
        Tok::Word(text) | Tok::Text(text) => {
            let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
            scale(&first.to_ascii_lowercase()).map(|factor| (factor, SmolStr::new(rest)))
        }
        _ => None,
    };
    let number = |token: &Token| matches!(token.tok, Tok::Num(_) | Tok::Op(')' | '}'));
    let at = (1..tokens.len()).find(|&at| number(&tokens[at - 1]) && first_word(&tokens[at]).is_some())?;
    let (factor, rest) = first_word(&tokens[at])?;
    let mut out = tokens[..at].to_vec();
    let value = Rational::from(factor);
    out.push(Token { tok: Tok::Op('*'), spaced: false });
    out.push(Token { tok: Tok::Num(Num { value, decimal: false, digits: None }), spaced: false });
    if !rest.is_empty() {
        out.push(Token { tok: Tok::Text(rest), spaced: true });
    }
    out.extend_from_slice(&tokens[at + 1..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, String)> {
        leading(text).map(|(value, rest)| (value.to_string(), rest))
    }

    #[test]
    fn numbers_in_words_are_read() {
        for (text, value) in [
            ("seven", "7"),
            ("Twenty-one", "21"),
            ("two hundred and five", "205"),
            ("three million two thousand", "3002000"),
            ("a dozen", "12"),
            ("one half", "1/2"),
            ("half", "1/2"),
            ("a quarter", "1/4"),
            ("two thirds", "2/3"),
            ("hundred", "100"),
        ] {
            assert_eq!(read(text), Some((value.to_owned(), String::new())), "{text}");
        }
        assert_eq!(read("three red apples"), Some(("3".into(), "red apples".into())));
    }

    #[test]
    fn words_in_the_wrong_order_are_no_number() {
        for text in ["one two", "twenty twelve", "third", "fifth", "apples", "a", "two half", "and five"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
