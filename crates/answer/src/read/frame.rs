//! The sentence around an answer: what it speaks of (`The area is 5`), and remarks that say why it holds and not what it is
//! (`5, attained at x=1`, `2 (since m>0)`).

use super::split;
use super::token::{Tok, Token};
use crate::vocabulary;
use smol_str::SmolStr;

/// Words that begin a remark. Those that may begin a condition (`when`, `if`, `for`) are none.
const OPENERS: &[&str] = &["since", "because", "attained", "achieved", "reached", "obtained", "equality"];

/// Verbs between what a sentence speaks of and what it says.
const VERBS: &[&str] =
    &["is", "are", "equals", "get", "have", "has", "obtain", "needs", "takes", "costs", "contains"];

fn word(token: &Token) -> Option<String> {
    match &token.tok {
        Tok::Word(word) | Tok::Text(word) => Some(word.to_lowercase()),
        Tok::Letter(letter) => Some(letter.to_string()),
        _ => None,
    }
}

/// An answer and the remark behind it, which stands in brackets or behind a comma.
pub(super) fn remark(tokens: &[Token]) -> Option<(&[Token], &[Token])> {
    let said = |at: usize| tokens.get(at).and_then(word).unwrap_or_default();
    let opens =
        |at: usize| OPENERS.contains(&said(at).as_str()) || said(at) == "with" && said(at + 1) == "equality";
    let mut depth = 0;
    let at = (0..tokens.len()).find(|&at| {
        let outside = depth == 0;
        depth += tokens[at].nesting();
        outside
            && at > 0
            && match &tokens[at].tok {
                Tok::Op(',') => opens(at + 1),
                Tok::Op('(') => opens(at + 1) && split::closing(tokens, at) == Some(tokens.len() - 1),
                _ => false,
            }
    })?;
    let (answer, remark) = tokens.split_at(at);
    // `attained only in the limit`
    let changes = |word: String| vocabulary::is_modifier(&word) || matches!(word.as_str(), "only" | "limit");
    (!remark.iter().filter_map(word).any(changes)).then_some((answer, remark))
}

/// What a sentence speaks of, without words that name nothing in particular, and the tokens of what it says of it: `The
/// possible values are 1 and 3`, `The area of the square is 4`, `Answer: 5`. The value is no word.
pub(super) fn subject(tokens: &[Token]) -> Option<(String, &[Token])> {
    let words: Vec<String> = tokens.iter().map_while(word).collect();
    let plain = |word: &&String| vocabulary::is_plain(word);
    // A sequence has an order, which its words say.
    let known = |word: &String| match word.as_str() {
        "least" | "most" | "as" => true,
        "sequence" | "sequences" | "order" => false,
        word => {
            vocabulary::is_plain(word)
                || vocabulary::is_quantity(word)
                || !vocabulary::is_function_word(word) && word.chars().all(char::is_alphabetic)
        }
    };
    let (subject, rest) = match &tokens[words.len()..] {
        [colon, rest @ ..]
            if colon.is_op(':') && words.iter().all(|word| plain(&word) || vocabulary::is_quantity(word)) =>
        {
            (&words[..], rest)
        }
        _ => {
            let verb = words.iter().rposition(|word| VERBS.contains(&word.as_str()))?;
            let behind = &words[verb + 1..];
            let skipped = behind.iter().take_while(plain).count();
            // `is at (1, 2)`, but not `is at least 2`
            let last = matches!(&behind[skipped..], [at] if matches!(at.as_str(), "at" | "by"));
            (&words[..verb], &tokens[verb + 1 + skipped + usize::from(last)..])
        }
    };
    let value = |token: &Token| matches!(token.tok, Tok::Num(_) | Tok::Op(_) | Tok::Cmd(_) | Tok::SetOpen);
    let alone =
        subject.len() == 1 && (!vocabulary::is_plain(&subject[0]) || vocabulary::is_quantity(&subject[0]));
    if subject.is_empty()
        || subject.len() > 12
        || alone
        || !subject.iter().all(known)
        || !rest.iter().any(value)
    {
        return None;
    }
    let particular: Vec<&str> = subject.iter().filter(|word| !plain(word)).map(String::as_str).collect();
    Some((particular.join(" "), rest))
}

/// The tokens with the words of every text on their own, and the brackets and commas around them; none where no text
/// has more than one word.
pub(super) fn words(tokens: &[Token]) -> Option<Vec<Token>> {
    if !tokens.iter().any(|token| matches!(token.tok, Tok::Text(_))) {
        return None;
    }
    let mut out = Vec::with_capacity(tokens.len() + 8);
    for token in tokens {
        let Tok::Text(text) = &token.tok else {
            out.push(token.clone());
            continue;
        };
        for (at, word) in text.split(' ').enumerate() {
            let mut spaced = token.spaced || at > 0;
            let mut push = |tok: Tok| out.push(Token { tok, spaced: std::mem::take(&mut spaced) });
            let marks = |c: char| matches!(c, '(' | ')' | ',' | ':' | ';');
            let (start, bare) = (word.trim_start_matches(marks), word.trim_matches(marks));
            word[..word.len() - start.len()].chars().for_each(|mark| push(Tok::Op(mark)));
            let number = bare.parse::<u32>().ok().filter(|_| bare.starts_with(|c: char| c.is_ascii_digit()));
            let mut letters = bare.chars();
            match (letters.next(), letters.next(), number) {
                (None, ..) => {}
                (_, _, Some(number)) => push(Tok::Num(super::token::Num {
                    value: number.into(),
                    decimal: false,
                    digits: Some(SmolStr::new(bare)),
                })),
                (Some(letter), None, _) if letter.is_alphabetic() => push(Tok::Letter(letter)),
                _ if matches!(bare, "and" | "or") => push(Tok::Cmd(bare.into())),
                _ => push(Tok::Text(bare.into())),
            }
            start[bare.len()..].chars().for_each(|mark| push(Tok::Op(mark)));
        }
    }
    (out.len() > tokens.len()).then_some(out)
}
