//! Remarks behind an answer, which say why it holds and not what it is: `5, attained at x=1`, `2 (since m>0)`.

use super::split;
use super::token::{Tok, Token};
use smol_str::SmolStr;

/// Words that begin a remark. Those that may begin a condition (`when`, `if`, `for`) are none.
const OPENERS: &[&str] =
    &["since", "because", "attained", "achieved", "reached", "obtained", "equality", "with equality"];

/// An answer and the remark behind it, which stands in brackets or behind a comma.
pub(super) fn split(tokens: &[Token]) -> Option<(&[Token], &[Token])> {
    let opens = |text: &str| {
        OPENERS.iter().any(|opener| {
            text.strip_prefix(opener).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
        })
    };
    let (mut depth, mut found) = (0, None);
    for (at, token) in tokens.iter().enumerate() {
        if depth == 0 && at > 0 {
            let before = &tokens[at - 1];
            match &token.tok {
                // The bracket or the comma may be part of the text.
                Tok::Text(text) => {
                    let bare = text.to_lowercase();
                    let bare = bare.trim_start_matches(['(', ',', ' ']);
                    if opens(bare) && (bare.len() < text.len() || before.is_op(',')) {
                        found = Some(at - usize::from(before.is_op(',')));
                    }
                }
                Tok::Word(word) if before.is_op(',') && opens(&word.to_lowercase()) => found = Some(at - 1),
                Tok::Op('(') if token.spaced && split::closing(tokens, at) == Some(tokens.len() - 1) => {
                    let is_opener = |next: &Token| match &next.tok {
                        Tok::Text(word) | Tok::Word(word) => opens(&word.to_lowercase()),
                        _ => false,
                    };
                    // `with equality` is two words.
                    let skipped = usize::from(tokens[at + 1].tok == Tok::Word("with".into()));
                    found = tokens.get(at + 1 + skipped).filter(|next| is_opener(next)).map(|_| at);
                }
                _ => {}
            }
        }
        if found.is_some() {
            break;
        }
        depth += token.nesting();
    }
    found.filter(|&at| at > 0).map(|at| tokens.split_at(at))
}

/// The tokens with the words of every text on their own, and the brackets and commas around them; none where no text
/// has more than one word.
pub(super) fn words(tokens: &[Token]) -> Option<Vec<Token>> {
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
