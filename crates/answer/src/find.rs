//! Finds the answer that a reply without a box states: for general use, not for sessions.
//!
//! In doubt there is none: no answer is taken from a question, a condition, a guess, a negation or a reply that breaks off.

mod candidate;
mod chain;
mod cue;
mod sentence;

use crate::extract::last_boxed;
use sentence::Sentence;

/// Where in a reply the answer is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The last `\boxed{…}`.
    Box,
    /// The last sentence that announces an answer: `The answer is 5, since …`.
    Statement,
    /// What the last sentence concludes: `So there are 5 of them.`
    Conclusion,
    /// The last formula of the last sentence.
    Formula,
    /// The last number of the last sentence, with its unit.
    Number,
}

impl Place {
    /// All places, in the usual order.
    pub const ORDER: [Self; 5] = [Self::Box, Self::Statement, Self::Conclusion, Self::Formula, Self::Number];

    /// The name of the place.
    pub fn name(self) -> &'static str {
        match self {
            Self::Box => "box",
            Self::Statement => "statement",
            Self::Conclusion => "conclusion",
            Self::Formula => "formula",
            Self::Number => "number",
        }
    }

    /// The place with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ORDER.into_iter().find(|place| place.name() == name)
    }
}

/// Replies longer than this are searched at their end.
const TAIL: usize = 16 * 1024;
/// The most sentences that are looked through from the end.
const SENTENCES: usize = 200;

/// The answer of a reply: the whole text if it is nothing but an answer, else what stands in the first of these places
/// that has one.
///
/// ```
/// use aske_answer::{Place, find_answer};
/// let found = |reply| find_answer(reply, &Place::ORDER);
/// assert_eq!(found("The answer is not 6 but 5.").as_deref(), Some("5"));
/// assert_eq!(found("So we get $5$.").as_deref(), Some("$5$"));
/// assert_eq!(found("The answer depends on n."), None);
/// ```
pub fn find_answer(reply: &str, order: &[Place]) -> Option<String> {
    let text = after_thinking(reply)?;
    let mut unboxed = None;
    for place in order {
        if *place == Place::Box {
            if let Some(boxed) = last_boxed(text) {
                return Some(boxed.to_owned());
            }
            continue;
        }
        let search = unboxed.get_or_insert_with(|| Search::new(text));
        match search.look(*place) {
            Found::Answer(answer) => return Some(answer),
            Found::Nothing => {}
            Found::Refused => return None,
        }
    }
    None
}

/// What was found in a place.
enum Found {
    Answer(String),
    Nothing,
    /// The reply speaks of its answer, but gives none.
    Refused,
}

/// The text behind the reasoning; none if the reasoning never ends.
fn after_thinking(reply: &str) -> Option<&str> {
    match reply.rsplit_once("</think>") {
        Some((_, text)) => Some(text),
        None => (!reply.contains("<think>")).then_some(reply),
    }
}

/// A reply and its sentences.
struct Search<'t> {
    sentences: Vec<Sentence<'t>>,
    /// The whole text, if it is nothing but an answer.
    bare: Option<&'t str>,
}

impl<'t> Search<'t> {
    fn new(text: &'t str) -> Self {
        let text = text.trim();
        let mut from = text.len().saturating_sub(TAIL);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let sentences = sentence::split(&text[from..], SENTENCES);
        let bare = Some(text).filter(|text| from == 0 && candidate::is_answer(text));
        Self { sentences, bare }
    }

    fn look(&self, place: Place) -> Found {
        if let Some(bare) = self.bare {
            return Found::Answer(chain::last_side(candidate::undressed(bare)));
        }
        match place {
            Place::Box => Found::Nothing,
            Place::Statement => self.statement(),
            Place::Conclusion => answer(cue::concluding(&self.sentences).find_map(candidate::concluded)),
            Place::Formula => answer(cue::concluding(&self.sentences).find_map(candidate::last_formula)),
            Place::Number => answer(cue::concluding(&self.sentences).find_map(candidate::last_number)),
        }
    }

    fn statement(&self) -> Found {
        for (at, sentence) in self.sentences.iter().enumerate().rev() {
            let Some(value) = cue::announced(sentence.text) else { continue };
            let after = &self.sentences[at + 1..];
            if after.iter().any(|later| cue::is_correction(later.text)) {
                return match cue::concluding(after).find_map(candidate::concluded) {
                    Some(found) => Found::Answer(found),
                    None => Found::Refused,
                };
            }
            // A heading announces the answer below it.
            let value =
                if candidate::is_blank(value) { after.first().map_or("", |next| next.text) } else { value };
            return match cue::asserted(value).and_then(candidate::first) {
                Some(found) => Found::Answer(found),
                None => Found::Refused,
            };
        }
        Found::Nothing
    }
}

fn answer(found: Option<String>) -> Found {
    found.map_or(Found::Nothing, Found::Answer)
}
