//! `aske nano agreement`: how often the cross-check solver of a run agreed with the oracle.

use crate::arguments::NanoAgreement;
use crate::display::tables::table;
use crate::error::{CliError, Exit};
use crate::output::data;
use crate::runs::folders::given_or_latest;
use aske_answer::{Verdict, compare};
use aske_nano::parse_question;
use aske_record::{Record, read_records};
use aske_report::number::percent_of;
use serde::Serialize;
use serde_json::json;
use std::path::Path;

/// Agreement in one run.
#[derive(Debug, Default, Serialize)]
struct Count {
    /// Final questions that were asked.
    asked: u32,
    /// Those that the oracle understands and can answer.
    understood: u32,
    /// Single draws that gave the oracle's answer, of all draws.
    right: u32,
    draws: u32,
    /// Questions on which all draws agreed, and of these how often with the oracle.
    unanimous: u32,
    unanimous_right: u32,
}

pub(crate) fn run(arguments: &NanoAgreement) -> Result<Exit, CliError> {
    let mut shown = table(
        &["run", "final questions", "understood", "draws right", "all equal", "of these right"],
        &[1, 2, 3, 4, 5],
    );
    for path in &given_or_latest(&arguments.runs)? {
        let count = count(path)?;
        let share = |part: u32, of: u32| percent_of(part.into(), of.into());
        if arguments.json {
            data(json!({ "run": path, "count": count }));
        }
        shown.add_row([
            path.display().to_string(),
            count.asked.to_string(),
            share(count.understood, count.asked),
            share(count.right, count.draws),
            share(count.unanimous, count.understood),
            share(count.unanimous_right, count.unanimous),
        ]);
    }
    if !arguments.json {
        data(shown);
    }
    Ok(Exit::Done)
}

fn count(path: &Path) -> Result<Count, CliError> {
    let mut count = Count::default();
    for session in read_records(path)?.iter().filter_map(Record::session) {
        let answers = session.transcript.answers();
        let Some(text) = answers.question else { continue };
        count.asked += 1;
        let Some(truth) = parse_question(text).and_then(|question| question.answer()) else { continue };
        count.understood += 1;
        let truth = truth.to_string();
        let same = |one: &str, two: &str| compare(one, two).verdict == Verdict::Equal;
        let right = answers.check.iter().flatten().filter(|answer| same(&truth, answer)).count();
        count.draws += u32::try_from(answers.check.len()).unwrap_or(0);
        count.right += u32::try_from(right).unwrap_or(0);
        let first = answers.check.first().copied().flatten();
        let alike = first.is_some_and(|first| {
            answers.check.iter().all(|answer| answer.is_some_and(|answer| same(first, answer)))
        });
        count.unanimous += u32::from(alike);
        count.unanimous_right += u32::from(alike && right > 0);
    }
    Ok(count)
}
