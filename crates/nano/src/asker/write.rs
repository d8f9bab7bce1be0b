//! A turn in the three sections, as short as the sections allow.

use super::history::History;
use crate::Question;
use std::fmt::Write as _;

/// The turn that asks this question.
pub(super) fn turn(question: &Question, history: &History, is_final: bool) -> String {
    let mut text = "#Reasoning#\n".to_owned();
    if let Some([one, two]) = history.last {
        let word = |right| if right { "right" } else { "wrong" };
        let _ = write!(text, "Model 1 {}, Model 2 {}. ", word(one), word(two));
    }
    let when = if is_final { "Final" } else { "Next" };
    let level = question.level().map_or_else(|| "beyond".to_owned(), |level| level.to_string());
    let _ = write!(text, "{when}: {} {level}.\n#Draft#\n{}", question.family(), question.text());
    if let (Some(working), Some(answer)) = (question.working(), question.answer()) {
        let _ = write!(text, "\n{working}\n\\boxed{{{answer}}}");
    }
    let _ = write!(text, "\n#Question#\n{}", question.text());
    text
}
