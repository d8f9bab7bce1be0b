//! Writes an asker turn in its three sections.

use super::history::{History, Round};
use crate::Question;
use std::fmt::Write as _;

/// The turn that asks this question.
pub(super) fn turn(question: &Question, history: &History, is_final: bool) -> String {
    let mut text = "#Reasoning#\n".to_owned();
    if let Some(Round { truth, given: [one, two] }) = &history.last {
        let verdict =
            |(answer, right): &(String, bool)| format!("{answer} {}", if *right { "right" } else { "wrong" });
        let _ = write!(text, "{truth}: Model 1 {}, Model 2 {}. ", verdict(one), verdict(two));
    }
    let when = if is_final { "Final" } else { "Next" };
    let level = question.level().map_or_else(|| "beyond".to_owned(), |level| level.to_string());
    let _ = write!(text, "{when}: {} {level}", question.family());
    // Questions constructed from their solution state it first.
    if let Some(plan) = question.plan() {
        let plan: Vec<String> = plan.iter().map(i128::to_string).collect();
        let _ = write!(text, " of {}", plan.join(", "));
    }
    let _ = write!(text, ".\n#Draft#\n{}", question.text());
    if let (Some(working), Some(answer)) = (question.working(), question.answer()) {
        let _ = write!(text, "\n{working}\n\\boxed{{{answer}}}");
    }
    let _ = write!(text, "\n#Question#\n{}", question.text());
    text
}
