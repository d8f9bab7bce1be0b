//! Extracts questions and answers from a conversation.

use crate::{Question, is_right, parse_question};
use aske_answer::last_boxed;
use aske_chat::{ChatRole, Message};
use aske_session::Pack;

/// Longer answers are not quoted.
const MAX_ANSWER: usize = 16;

/// A question and its results.
#[derive(Clone, Debug)]
pub(super) struct AskedQuestion {
    pub(super) question: Question,
    /// How often it was asked.
    pub(super) times: u32,
    /// Correct answers of each solver.
    pub(super) right: [u32; 2],
}

/// The last round.
#[derive(Clone, Debug)]
pub(super) struct Round {
    /// The correct answer.
    pub(super) truth: String,
    /// The answer of each solver, and whether it was correct.
    pub(super) given: [(String, bool); 2],
}

/// The results of a conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// Asker turns so far.
    pub(super) turns: u32,
    /// Distinct questions in the order they were asked.
    pub(super) asked: Vec<AskedQuestion>,
    /// The last round, if its question was valid.
    pub(super) last: Option<Round>,
}

impl History {
    pub(super) fn read(messages: &[Message], pack: &Pack) -> Self {
        let mut history = Self::default();
        for (i, message) in messages.iter().enumerate() {
            if message.role != ChatRole::Assistant {
                continue;
            }
            history.turns += 1;
            let shown = messages.get(i + 1).and_then(|next| pack.answers(&next.content));
            history.last = match (question(&message.content), shown) {
                (Some(question), Some(shown)) => history.add(question, shown),
                _ => None,
            };
        }
        history
    }

    fn add(&mut self, question: Question, shown: [&str; 2]) -> Option<Round> {
        let truth = question.answer()?.to_string();
        let given = shown.map(|text| (short(text), is_right(&question, text)));
        let known = self.asked.iter().position(|asked| asked.question.text() == question.text());
        let place = known.unwrap_or(self.asked.len());
        if known.is_none() {
            self.asked.push(AskedQuestion { question, times: 0, right: [0, 0] });
        }
        let asked = &mut self.asked[place];
        asked.times += 1;
        for (count, (_, right)) in asked.right.iter_mut().zip(&given) {
            *count += u32::from(*right);
        }
        Some(Round { truth, given })
    }
}

/// The answer of a reply, if it is short and plain enough to be quoted.
fn short(reply: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-/.,".contains(c);
    let answer = last_boxed(reply).map_or("", str::trim);
    match answer {
        "" => "-".to_owned(),
        short if short.len() <= MAX_ANSWER && short.chars().all(plain) => short.to_owned(),
        _ => "?".to_owned(),
    }
}

/// The question of an earlier turn.
fn question(turn: &str) -> Option<Question> {
    parse_question(turn.rsplit_once("#Question#")?.1)
}
