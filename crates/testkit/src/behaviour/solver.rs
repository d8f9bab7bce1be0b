//! The solver and the cross-check: answer the last sum of the prompt.

use std::fmt::Write;

use super::draws::{Draw, Draws};
use super::words::pad;

/// The format of an answer.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    Plain,
    Summary,
}

/// A reply that is right with a probability of `ability` percent.
pub(crate) fn solver(prompt: &str, draws: &Draws, ability: u64, form: Form, pad_words: usize) -> String {
    let answer = sum_asked(prompt).map(|sum| {
        let slip = if draws.below(Draw::Slip, 2) == 0 { 1 } else { 10 };
        if draws.percent(Draw::Skill, ability) { sum } else { sum + slip }
    });
    reply(answer, draws, form, pad_words)
}

/// A reply with a summary, right except for 1 % that are off by one.
pub(crate) fn check(prompt: &str, draws: &Draws, pad_words: usize) -> String {
    let answer = sum_asked(prompt).map(|sum| if draws.percent(Draw::Skill, 99) { sum } else { sum + 1 });
    reply(answer, draws, Form::Summary, pad_words)
}

fn reply(answer: Option<u128>, draws: &Draws, form: Form, pad_words: usize) -> String {
    let answer = answer.unwrap_or(0);
    let mut text = String::new();
    pad(&mut text, draws, pad_words);
    // Writing to a string cannot fail.
    let _ = match form {
        Form::Plain => write!(text, "\n\\boxed{{{answer}}}"),
        Form::Summary => write!(text, "\n#Summary#\n\\boxed{{{answer}}}\nThe two numbers were added."),
    };
    text
}

/// The value of the last `What is A + B?` in a prompt.
fn sum_asked(prompt: &str) -> Option<u128> {
    prompt.rmatch_indices("What is ").find_map(|(at, opening)| sum(&prompt[at + opening.len()..]))
}

/// The value of a text that starts with `A + B?`.
fn sum(text: &str) -> Option<u128> {
    let (left, rest) = text.split_once(" + ")?;
    let (right, _) = rest.split_once('?')?;
    Some(number(left)? + number(right)?)
}

fn number(text: &str) -> Option<u128> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok().map(u128::from)).flatten()
}

#[cfg(test)]
mod tests {
    use super::sum_asked;

    #[test]
    fn the_last_sum_counts() {
        assert_eq!(sum_asked("What is 1 + 2? Then: What is 417 + 268? Thanks"), Some(685));
        assert_eq!(sum_asked("What is 1 + 2? What is love?"), Some(3));
        assert_eq!(sum_asked("What is 1 + x? What is +1 + 2?"), None);
        assert_eq!(sum_asked(""), None);
    }
}
