//! The table of answers: to probing questions, to final questions, and to questions solved again.

use crate::Table;
use crate::bank::BankEntry;
use aske_evidence::Run;
use aske_record::{PanelRecord, RunError};
use aske_session::SolverAnswer;
use std::collections::HashSet;

/// One answer.
struct AnswerRow {
    run: String,
    record: String,
    kind: &'static str,
    turn: Option<u64>,
    draw: u64,
    solver: String,
    question: Option<String>,
    answer: Option<String>,
    finish: &'static str,
    right: Option<bool>,
}

/// The answers in these sessions.
pub(crate) fn in_sessions(runs: &[Run], bank: &[BankEntry<'_>]) -> Result<Table, RunError> {
    let mut rows = Vec::new();
    for entry in bank {
        add_session(&mut rows, &runs[entry.run], entry)?;
    }
    Ok(table(&rows))
}

/// The answers to questions outside sessions and to questions solved again.
pub(crate) fn in_panels(runs: &[Run], bank: &[BankEntry<'_>]) -> Table {
    let mut rows = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let chosen: HashSet<String> =
            bank.iter().filter(|entry| entry.run == place).map(|entry| run.name(entry.session)).collect();
        let panels =
            [("baseline", &run.baselines), ("audit", &run.audits), ("difficulty", &run.difficulties)];
        for (kind, panels) in panels {
            let about =
                |panel: &&PanelRecord| panel.session.as_ref().is_none_or(|name| chosen.contains(name));
            panels.iter().filter(about).for_each(|panel| add_panel(&mut rows, run, kind, panel));
        }
    }
    table(&rows)
}

fn table(rows: &[AnswerRow]) -> Table {
    let mut table = Table::default();
    table.text("run", rows.iter().map(|row| Some(row.run.clone())));
    table.text("record", rows.iter().map(|row| Some(row.record.clone())));
    table.text("kind", rows.iter().map(|row| Some(row.kind)));
    table.whole("turn", rows.iter().map(|row| row.turn));
    table.whole("draw", rows.iter().map(|row| Some(row.draw)));
    table.text("solver", rows.iter().map(|row| Some(row.solver.clone())));
    table.text("question", rows.iter().map(|row| row.question.clone()));
    table.text("answer", rows.iter().map(|row| row.answer.clone()));
    table.text("finish", rows.iter().map(|row| Some(row.finish)));
    table.flag("right", rows.iter().map(|row| row.right));
    table
}

fn add_session(rows: &mut Vec<AnswerRow>, run: &Run, entry: &BankEntry<'_>) -> Result<(), RunError> {
    let record = run.record(entry.session)?;
    let right = entry.session.grade.as_ref().and_then(|grade| grade.right);
    let last = record.transcript.turns.len();
    for (number, turn) in (1..).zip(&record.transcript.turns) {
        for (side, solved) in turn.solved.iter().flatten().enumerate() {
            let is_final = number == last as u64;
            rows.push(AnswerRow {
                run: run.folder(),
                record: record.id().to_string(),
                kind: if is_final { "final" } else { "probing" },
                turn: Some(number),
                draw: 0,
                solver: record.solvers[side].clone(),
                question: turn.question.clone(),
                answer: solved.answer.clone(),
                finish: solved.finish.as_str(),
                right: right.filter(|_| is_final).map(|right| right[side]),
            });
        }
    }
    Ok(())
}

fn add_panel(rows: &mut Vec<AnswerRow>, run: &Run, kind: &'static str, panel: &PanelRecord) {
    for (solver, answers) in &panel.answers {
        let right = panel.right.as_ref().and_then(|right| right.get(solver));
        for (draw, SolverAnswer { answer, finish }) in answers.iter().enumerate() {
            rows.push(AnswerRow {
                run: run.folder(),
                record: panel.session.clone().unwrap_or_else(|| panel.name.clone()),
                kind,
                turn: None,
                draw: draw as u64,
                solver: solver.clone(),
                question: panel.question.clone(),
                answer: answer.clone(),
                finish: finish.as_str(),
                right: right.and_then(|right| right.get(draw).copied()),
            });
        }
    }
}
