//! The table of sessions.

use crate::Table;
use crate::bank::{BankEntry, add_session_columns, outcome, solver};
use aske_evidence::Run;
use aske_record::{RunError, SessionRecord};
use aske_session::Turn;

pub(crate) fn table(runs: &[Run], bank: &[BankEntry<'_>]) -> Result<Table, RunError> {
    let entries: Vec<&BankEntry<'_>> = bank.iter().collect();
    let records = entries
        .iter()
        .map(|entry| runs[entry.run].record(entry.session))
        .collect::<Result<Vec<SessionRecord>, _>>()?;
    let all = || entries.iter().copied();
    let turns = |read: fn(&Turn) -> Option<String>| {
        records.iter().map(move |record| record.transcript.turns.iter().map(read).collect())
    };
    let mut table = Table::default();
    add_session_columns(&mut table, runs, &entries);
    table.whole("sample", all().map(|entry| Some(u64::from(entry.session.sample))));
    table.text("smaller", all().map(|entry| Some(solver(runs, entry, 0))));
    table.text("larger", all().map(|entry| Some(solver(runs, entry, 1))));
    table.text("model_1", records.iter().map(|record| Some(record.solvers[0].clone())));
    table.text("model_2", records.iter().map(|record| Some(record.solvers[1].clone())));
    table.text("outcome", all().map(outcome));
    table.flag("smaller_right", all().map(|entry| entry.session.right().map(|right| right[0])));
    table.flag("larger_right", all().map(|entry| entry.session.right().map(|right| right[1])));
    table.text("question", all().map(|entry| entry.session.question.as_deref()));
    table.texts("check_answers", records.iter().map(|record| record.transcript.check.clone()));
    table.texts("turn_questions", turns(|turn| turn.question.clone()));
    table.texts(
        "turn_answers_1",
        turns(|turn| turn.solved.as_ref().and_then(|solved| solved[0].answer.clone())),
    );
    table.texts(
        "turn_answers_2",
        turns(|turn| turn.solved.as_ref().and_then(|solved| solved[1].answer.clone())),
    );
    table.whole(
        "tokens",
        records.iter().map(|record| Some(record.used.values().map(|used| used.usage.total()).sum())),
    );
    table.number("usd", records.iter().map(|record| Some(record.used.values().map(|used| used.usd.0).sum())));
    Ok(table)
}
