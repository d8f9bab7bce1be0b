//! The asker: asks for a sum.

use std::fmt::Write;

use super::Finish;
use super::draws::{Draw, Draws};
use super::words::pad;

/// The kinds of replies.
enum ReplyKind {
    Complete,
    NoQuestion,
    Truncated,
}

/// A reply with reasoning, draft and question; 2 % lack the question, 1 % are truncated before it.
pub(crate) fn reply(draws: &Draws, pad_words: usize) -> (String, Finish) {
    let kind = match draws.below(Draw::ReplyKind, 100) {
        0 => ReplyKind::Truncated,
        1 | 2 => ReplyKind::NoQuestion,
        _ => ReplyKind::Complete,
    };
    let (left, right) = numbers(draws);
    let mut text = String::from("#Reasoning#\n");
    if matches!(kind, ReplyKind::Truncated) {
        pad(&mut text, draws, pad_words / 2);
        return (text, Finish::Length);
    }
    pad(&mut text, draws, pad_words);
    // Writing to a string cannot fail.
    let _ = write!(text, "\n#Draft#\nAsk for {left} plus {right}.\n");
    if matches!(kind, ReplyKind::Complete) {
        let _ = write!(text, "#Question#\nWhat is {left} + {right}?");
    }
    (text, Finish::Stop)
}

/// Two numbers of the same length, one to six digits.
fn numbers(draws: &Draws) -> (u64, u64) {
    let digits = draws.below(Draw::Digits, 6);
    let low = (0..digits).fold(1, |power, _| power * 10);
    (low + draws.below(Draw::Left, 9 * low), low + draws.below(Draw::Right, 9 * low))
}
