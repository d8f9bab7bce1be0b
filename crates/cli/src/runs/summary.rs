//! How work on a run ended: exit status, failures, what is left, and grades that are out of date.

use crate::error::Exit;
use crate::output::{BAD, hint, note, paint, safe};
use crate::runtime::Interrupt;
use crate::shell::this_command;
use aske_bench::{JobSummary, is_current};
use aske_chat::Hint;
use aske_config::{ModelSection, ProviderKind, Settings};
use aske_model::{ModelError, Waiting};
use aske_record::GradeLine;
use aske_report::number::counted;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The unit of an evaluation.
pub(crate) const SAMPLES: &str = "samples";

/// The exit status for the end of a run.
pub(crate) fn exit_status(ended: &JobSummary, interrupt: &Interrupt) -> Exit {
    if interrupt.happened() {
        Exit::Interrupted
    } else if ended.budget_limit.is_some() {
        Exit::Budget
    } else if ended.open > 0 {
        Exit::Failures
    } else {
        Exit::Done
    }
}

/// Reports failures and what is left to do.
pub(crate) fn report_unfinished(ended: &JobSummary, unit: &str) {
    report_failures(ended, unit);
    if ended.open > 0 {
        let why = ended.budget_limit.map(|reached| format!("{reached}; ")).unwrap_or_default();
        report_left(&why, ended.open, unit);
    }
}

/// Says how many units are left, after the reason, and how to go on.
pub(crate) fn report_left(why: &str, open: usize, unit: &str) {
    let are = if open == 1 { "is" } else { "are" };
    note(format_args!("\n{why}{} {are} left", counted(open, unit.trim_end_matches('s'))));
    hint(resume());
}

/// How to continue.
pub(crate) fn resume() -> String {
    format!(
        "run the same command again to continue, no stored reply is requested again: `{}`",
        this_command()
    )
}

/// Reports the calls that were waiting when the user dropped them.
pub(crate) fn report_dropped(waiting: &[Waiting], next: &str) {
    for waiting in waiting {
        note(format_args!("\n{} {}", paint(BAD.bold(), "dropped:"), safe(&waiting.to_string())));
    }
    hint(next);
}

/// Reports failures by cause, with a hint for each.
pub(crate) fn report_failures(ended: &JobSummary, unit: &str) {
    for (failure, count) in ended.causes() {
        let advice = hint_for(failure, unit);
        let unit = if count == 1 { unit.trim_end_matches('s') } else { unit };
        note(format_args!("\n{} {count} {unit} without an outcome: {failure}", paint(BAD.bold(), "failed:")));
        hint(&advice);
    }
}

/// What to do about a failure; samples of an evaluation have token limits of their own.
fn hint_for(failure: &ModelError, unit: &str) -> String {
    if unit == SAMPLES {
        failure.hint_with_limits("`eval.max_tokens` (--tokens)")
    } else {
        failure.hint().unwrap_or_default().into_owned()
    }
}

/// Failures by cause as JSON; `unit` names what is counted.
pub(crate) fn failures_json(ended: &JobSummary, unit: &str) -> Vec<Value> {
    let causes = ended.causes().into_iter().map(|(failure, count)| {
        json!({
            "model": failure.model,
            "cause": failure.cause.as_str(),
            "message": failure.message,
            unit: count,
            "hint": hint_for(failure, unit),
        })
    });
    causes.collect()
}

/// Whether calls to a model cost something that is not known: it is hosted, and has no price.
pub(crate) fn is_price_unknown(section: &ModelSection) -> bool {
    section.provider == Some(ProviderKind::Openai) && section.api_key_env.is_some() && section.price.is_none()
}

/// Notes which models are not part of the cost because their price is unknown.
pub(crate) fn note_unknown_prices(settings: &Settings) {
    let unknown = settings.models.iter().filter(|(_, section)| is_price_unknown(section));
    let names: Vec<&str> = unknown.map(|(name, _)| name.as_str()).collect();
    if let [first, ..] = names.as_slice() {
        note(format_args!("price unknown: {}; not part of the cost", names.join(", ")));
        hint(format_args!(
            "set it in USD per million tokens: -o 'models.\"{first}\".price={{ input = …, output = … }}'"
        ));
    }
}

/// Counts sessions whose last grade was made by earlier rules.
pub(crate) fn outdated_grades(settings: &Settings, grades: &[GradeLine]) -> usize {
    let last: HashMap<&str, bool> =
        grades.iter().map(|line| (line.record.as_str(), is_current(settings, &line.rules))).collect();
    last.values().filter(|current| !**current).count()
}

/// Notes how many sessions are graded again because their grade was made by earlier rules.
pub(crate) fn note_outdated_grades(settings: &Settings, grades: &[GradeLine]) {
    let outdated = match outdated_grades(settings, grades) {
        0 => return,
        1 => "1 session was".to_owned(),
        more => format!("{more} sessions were"),
    };
    note(format_args!(
        "{outdated} graded by earlier rules; they are graded again from stored replies, and only the equivalence \
         checker may be called"
    ));
}
