//! What a conversation has shown so far.

use crate::{Question, is_right, understand};
use aske_answer::last_boxed;
use aske_chat::{ChatRole, Message};
use aske_session::Pack;

/// Longer answers are not repeated.
const LONGEST: usize = 16;

/// A question that was asked, perhaps more than once.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) question: Question,
    /// How often it was asked.
    pub(super) times: u32,
    /// How often each solver was right.
    pub(super) right: [u32; 2],
}

/// The last round, as a turn looks back on it.
#[derive(Clone, Debug)]
pub(super) struct Round {
    /// The right answer.
    pub(super) truth: String,
    /// What each solver answered, and whether that was right.
    pub(super) given: [(String, bool); 2],
}

/// The conversation as evidence.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// Asker turns so far.
    pub(super) turns: u32,
    /// Distinct questions in the order they were asked.
    pub(super) asked: Vec<Asked>,
    /// The last round, where it had an answer.
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
            self.asked.push(Asked { question, times: 0, right: [0, 0] });
        }
        let asked = &mut self.asked[place];
        asked.times += 1;
        for (count, (_, right)) in asked.right.iter_mut().zip(&given) {
            *count += u32::from(*right);
        }
        Some(Round { truth, given })
    }
}

/// The answer of a reply, where it is short and plain enough to be repeated.
fn short(reply: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-/.,".contains(c);
    let answer = last_boxed(reply).map_or("", str::trim);
    match answer {
        "" => "-".to_owned(),
        short if short.len() <= LONGEST && short.chars().all(plain) => short.to_owned(),
        _ => "?".to_owned(),
    }
}

/// The question of an earlier turn.
fn question(turn: &str) -> Option<Question> {
    understand(turn.rsplit_once("#Question#")?.1)
}
