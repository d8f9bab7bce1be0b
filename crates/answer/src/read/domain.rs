//! Sets of numbers by name (`\mathbb{R}^+`, "all odd integers"), and conditions that say what a letter may be
//! (`n\in\mathbb{Z}`, "for all real x", "where k is an integer").

use super::kinds::answer;
use super::parser::{Context, Read};
use super::split;
use super::token::{Tok, Token};
use crate::answer::{Answer, Congruence, Interval, Numbers, Relation, RelationOp};
use crate::vocabulary;
use aske_algebra::expr::{Constant, Expr, Symbol};
use smol_str::SmolStr;

/// The set of numbers that some tokens name.
pub(crate) fn numbers(tokens: &[Token]) -> Option<Numbers> {
    let (set, marks) = match tokens {
        [Token { tok: Tok::Cmd(name), .. }, marks @ ..] => (name.as_str(), marks),
        _ => return None,
    };
    let set = match set {
        "reals" => Numbers::Reals,
        "integers" => Numbers::Integers,
        "naturals" => Numbers::Naturals,
        "rationals" => Numbers::Rationals,
        "complexes" => Numbers::Complexes,
        _ => return None,
    };
    match (set, script(marks)?.as_str()) {
        (_, "") => Some(set),
        (Numbers::Integers, "+" | ">0" | "\\ge1") | (Numbers::Naturals, "+" | "*" | ">0" | "\\ge1") => {
            Some(Numbers::Positive)
        }
        (Numbers::Integers, "\\ge0") | (Numbers::Naturals, "0" | "\\ge0") => Some(Numbers::FromZero),
        _ => None,
    }
}

/// What a subscript or superscript holds; empty where there is none.
fn script(marks: &[Token]) -> Option<SmolStr> {
    match marks {
        [] => Some(SmolStr::default()),
        [script, Token { tok: Tok::Op('{'), .. }, inside @ .., Token { tok: Tok::Op('}'), .. }]
        | [script, inside @ ..]
            if (script.is_op('^') || script.is_op('_')) && inside.len() <= 2 =>
        {
            Some(split::spell(inside))
        }
        _ => None,
    }
}

/// `\mathbb{R}^+`, `2\mathbb{Z}`: sets that are part of one with a name.
pub(crate) fn subset(tokens: &[Token]) -> Option<Answer> {
    match tokens {
        [Token { tok: Tok::Num(num), .. }, set] if set.is_cmd("integers") && num.digits.is_some() => {
            Some(multiples(Expr::int(0), Expr::Number(num.value.clone())))
        }
        [set, marks @ ..] if set.is_cmd("reals") => match script(marks)?.as_str() {
            "+" | ">0" => Some(half_line(true, false)),
            "\\ge0" => Some(half_line(true, true)),
            "-" | "<0" => Some(half_line(false, false)),
            _ => None,
        },
        _ => None,
    }
}

fn multiples(residue: Expr, modulus: Expr) -> Answer {
    Answer::Congruence(Box::new(Congruence { left: None, residues: vec![residue], modulus }))
}

/// The positive or the negative numbers, with or without zero.
fn half_line(positive: bool, closed: bool) -> Answer {
    let (zero, infinity) = (Expr::int(0), Expr::Constant(Constant::Infinity));
    Answer::Interval(Box::new(if positive {
        Interval { from: zero, to: infinity, from_closed: closed, to_closed: false }
    } else {
        Interval { from: infinity.negated(), to: zero, from_closed: false, to_closed: closed }
    }))
}

/// The words inside tokens, in lower case except for letters, each with the index of the token behind it.
fn pieces(tokens: &[Token]) -> Vec<(SmolStr, usize)> {
    let mut pieces: Vec<(SmolStr, usize)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let lower = match &token.tok {
            Tok::Word(text) | Tok::Text(text) => text.to_lowercase(),
            _ => split::spell(std::slice::from_ref(token)).to_string(),
        };
        for word in lower.split_whitespace() {
            match pieces.as_mut_slice() {
                // `non-negative`
                [.., (non, _), (dash, _)] if non == "non" && dash == "-" => {
                    pieces.truncate(pieces.len() - 2);
                    pieces.push((SmolStr::new(format!("non{word}")), at + 1));
                }
                _ => pieces.push((SmolStr::new(word.trim_end_matches(['.', ','])), at + 1)),
            }
        }
    }
    pieces
}

fn is_letter(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() && c != 'a') && letters.next().is_none()
}

/// The numbers that adjectives and a noun name: `positive integers`, `real numbers`, `constant`.
fn kind(words: &[&str]) -> Option<Numbers> {
    let (noun, adjectives) = words.split_last()?;
    Some(match (*noun, adjectives) {
        ("integer" | "integers", []) => Numbers::Integers,
        ("integer" | "integers", ["positive"]) => Numbers::Positive,
        ("integer" | "integers", ["nonnegative"]) => Numbers::FromZero,
        ("number" | "numbers", ["natural"]) | ("natural" | "naturals", []) => Numbers::Naturals,
        ("number" | "numbers" | "constant" | "constants" | "value" | "values", ["real"])
        | ("real" | "reals" | "constant" | "constants", []) => Numbers::Reals,
        ("number" | "numbers", ["rational"]) | ("rational" | "rationals", []) => Numbers::Rationals,
        ("number" | "numbers", ["complex"]) => Numbers::Complexes,
        _ => return None,
    })
}

/// What a letter may be: `k \in \mathbb{Z}`, `for all real x`, `where k is an integer`, `\forall x`.
pub(crate) fn condition(tokens: &[Token]) -> Option<(Symbol, Numbers)> {
    if let Some(at) = split::find(tokens, |t| t.is_cmd("in"))
        && let [Token { tok: Tok::Letter(c), .. }] = &tokens[..at]
    {
        let set = match &tokens[at + 1..] {
            [Token { tok: Tok::Letter('Z'), .. }] => Numbers::Integers,
            [Token { tok: Tok::Letter('N'), .. }] => Numbers::Naturals,
            [Token { tok: Tok::Letter('R'), .. }] => Numbers::Reals,
            set => numbers(set)?,
        };
        return Some((SmolStr::new(c.encode_utf8(&mut [0; 4])), set));
    }
    // `n \ge 1`: natural numbers from there on.
    if let [Token { tok: Tok::Letter(c @ ('n' | 'k' | 'm')), .. }, sign, Token { tok: Tok::Num(num), .. }] =
        tokens
    {
        let numbers = match (num.digits.as_deref()?, sign) {
            ("0", sign) if sign.is_cmd("ge") => Numbers::FromZero,
            ("0", sign) if sign.is_op('>') => Numbers::Positive,
            ("1", sign) if sign.is_cmd("ge") => Numbers::Positive,
            _ => return None,
        };
        return Some((SmolStr::new(c.encode_utf8(&mut [0; 4])), numbers));
    }
    if tokens.len() > 12
        || !tokens.iter().any(|t| matches!(t.tok, Tok::Word(_) | Tok::Text(_)) || t.is_cmd("forall"))
    {
        return None;
    }
    let pieces = pieces(tokens);
    let words: Vec<&str> = pieces.iter().map(|(word, _)| word.as_str()).collect();
    let (quantified, start) = match words.as_slice() {
        ["for" | "where" | "with", "all" | "any" | "some" | "every" | "each", ..] => (true, 2),
        ["for" | "where" | "with", "a" | "an", ..] => (false, 2),
        ["\\forall", ..] => (true, 1),
        ["for" | "where" | "with", ..] => (false, 1),
        _ => (false, 0),
    };
    // `for some x` says less than `for all x`; some integer or constant is any.
    if words.get(1) == Some(&"some") && !words.iter().any(|word| matches!(*word, "integer" | "constant")) {
        return None;
    }
    match &words[start..] {
        [letter] if quantified && is_letter(letter) => Some((SmolStr::new(letter), Numbers::Reals)),
        [letter, "\\in" | "\\ge" | ">", ..] if start > 0 && is_letter(letter) => {
            condition(&tokens[pieces[start].1 - 1..])
        }
        [letter, "is", "a" | "an" | "any", kinds @ ..] | [letter, "is" | "an" | "any", kinds @ ..]
            if is_letter(letter) =>
        {
            Some((SmolStr::new(letter), kind(kinds)?))
        }
        [kinds @ .., letter] if start > 0 && is_letter(letter) => Some((SmolStr::new(letter), kind(kinds)?)),
        _ => None,
    }
}

/// `f(x) = 2x \text{ for all real } x`: what stands before the condition, and the condition.
pub(crate) fn trailing_condition(tokens: &[Token]) -> Option<(&[Token], (Symbol, Numbers))> {
    let opens = |token: &Token| match &token.tok {
        Tok::Word(word) | Tok::Text(word) => {
            let word = word.trim_start();
            ["for", "where", "with"].iter().any(|opener| {
                word.strip_prefix(opener).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
        }
        _ => token.is_cmd("forall"),
    };
    let at = split::find(tokens, opens).filter(|&at| at > 0)?;
    Some((&tokens[..at], condition(&tokens[at..])?))
}

/// A set of numbers in words: `all real numbers except 3`, `all positive integers`, `all odd integers`, `all k \ge 2`.
pub(crate) fn in_words(tokens: &[Token], context: Context<'_>, level: u32) -> Read<Option<Answer>> {
    if !matches!(tokens.first().map(|t| &t.tok), Some(Tok::Word(_) | Tok::Text(_))) {
        return Ok(None);
    }
    let pieces = pieces(tokens);
    let words: Vec<&str> = pieces.iter().map(|(word, _)| word.as_str()).collect();
    let quantified = usize::from(matches!(words.as_slice(), ["for", "all" | "every" | "any", ..]));
    let all = matches!(words.get(quantified), Some(&("all" | "every" | "any")));
    let mut at = quantified + usize::from(all);
    let first = at;
    while words.get(at).is_some_and(|word| vocabulary::is_kind_of_number(word)) {
        at += 1;
    }
    let named = &words[first..at];
    let letter = words.get(at).copied().filter(|word| is_letter(word));
    let base = named_set(named);
    // `all n`: the letter ranges over what the problem says.
    if base.is_none() && !(all && named.is_empty() && letter.is_some()) {
        return Ok(None);
    }
    let from = at.checked_sub(1).map_or(0, |last| pieces[last].1);
    at += usize::from(letter.is_some());
    let rest = &words[at..];
    let behind = |skipped: usize| pieces.get(at + skipped - 1).map_or(&[][..], |(_, next)| &tokens[*next..]);
    let excluded = match rest {
        [] => return Ok(base),
        ["except" | "excluding", "for", ..] | ["other", "than", ..] => behind(2),
        ["except" | "excluding" | "but", ..] => behind(1),
        ["<" | ">" | "\\le" | "\\ge" | "\\ne", ..] if letter.is_some() => {
            let found = answer(&tokens[from..], context, level + 1)?;
            let (Answer::Relation(relation), Some(letter)) = (&found, letter) else { return Ok(None) };
            if !relation.signs.iter().all(|sign| sign.is_order() || *sign == RelationOp::NotEqual) {
                return Ok(None);
            }
            let numbers = match base {
                None | Some(Answer::Numbers(Numbers::Reals)) => return Ok(Some(found)),
                Some(Answer::Numbers(numbers)) => numbers,
                Some(_) => return Ok(None),
            };
            return Ok(Some(Answer::Where(SmolStr::new(letter), numbers, Box::new(found))));
        }
        _ => return Ok(None),
    };
    if excluded.is_empty() {
        return Ok(None);
    }
    let values = match answer(excluded, context, level + 1)? {
        value @ Answer::Value(_) => vec![value],
        Answer::Bare(values) | Answer::Set(values)
            if values.iter().all(|v| matches!(v, Answer::Value(_))) =>
        {
            values
        }
        _ => return Ok(None),
    };
    Ok(match (base, letter) {
        (Some(base), _) => Some(Answer::Minus(Box::new(base), Box::new(Answer::Set(values)))),
        (None, Some(letter)) => {
            let unequal = values.into_iter().map(|value| {
                let sides = vec![Answer::Value(Expr::symbol(letter)), value];
                Answer::Relation(Relation { sides, signs: vec![RelationOp::NotEqual] })
            });
            Some(Answer::All(unequal.collect()))
        }
        (None, None) => None,
    })
}

/// The set that adjectives and a noun name.
fn named_set(words: &[&str]) -> Option<Answer> {
    let reals = || Box::new(Answer::Numbers(Numbers::Reals));
    Some(match words {
        ["positive", "real", "numbers"] | ["positive", "reals"] => half_line(true, false),
        ["negative", "real", "numbers"] | ["negative", "reals"] => half_line(false, false),
        ["nonnegative", "real", "numbers"] | ["nonnegative", "reals"] => half_line(true, true),
        ["nonzero", "real", "numbers"] | ["nonzero", "reals"] => {
            Answer::Minus(reals(), Box::new(Answer::Set(vec![Answer::Value(Expr::int(0))])))
        }
        ["odd", "integers" | "integer" | "numbers"] => multiples(Expr::int(1), Expr::int(2)),
        ["even", "integers" | "integer" | "numbers"] => multiples(Expr::int(0), Expr::int(2)),
        words => Answer::Numbers(kind(words)?),
    })
}

/// `n is odd`, `n even`, `odd n`, `all odd n`: a congruence to 2.
pub(crate) fn parity(tokens: &[Token]) -> Option<Answer> {
    if tokens.len() > 6 {
        return None;
    }
    let pieces = pieces(tokens);
    let words: Vec<&str> = pieces.iter().map(|(word, _)| word.as_str()).collect();
    let (letter, parity) = match words.as_slice() {
        [letter, "is", "an", parity, "number" | "integer"]
        | [letter, "is", parity]
        | [letter, parity]
        | ["all", parity, letter] => (*letter, *parity),
        _ => return None,
    };
    let (letter, parity) = if is_letter(parity) { (parity, letter) } else { (letter, parity) };
    let residue = match parity {
        "odd" => 1,
        "even" => 0,
        _ => return None,
    };
    is_letter(letter).then(|| {
        Answer::Congruence(Box::new(Congruence {
            left: Some(Expr::symbol(letter)),
            residues: vec![Expr::int(residue)],
            modulus: Expr::int(2),
        }))
    })
}
