//! The question bank: final questions with their reference answers and how hard they are.

use crate::{Choice, Table, is_calibrated};
use aske_evidence::{Run, Session, ability_of};
use aske_session::Outcome;
use aske_stats::{Estimate, difficulty};
use std::collections::HashMap;

/// Spread of a question's difficulty around its solvers' abilities before any answer is seen, in logits.
const PRIOR_SPREAD: f64 = 2.0;

/// One session that was chosen, with what is known of its question.
pub(crate) struct Entry<'r> {
    /// The place of its run.
    pub(crate) run: usize,
    pub(crate) session: &'r Session,
    /// Right answers and all answers of solvers, those of audits included.
    pub(crate) right: u32,
    pub(crate) answered: u32,
    /// In logits: a solver of this ability is right half the time.
    pub(crate) difficulty: Option<Estimate>,
}

/// The sessions of a choice.
pub(crate) fn bank<'r>(runs: &'r [Run], choice: &Choice) -> Vec<Entry<'r>> {
    let abilities: HashMap<String, f64> = ability_of(runs)
        .map(|scale| {
            let values =
                scale.abilities.ability.into_iter().map(|ability| ability.map(|ability| ability.value));
            scale.solvers.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?))).collect()
        })
        .unwrap_or_default();
    let mut known = Known { abilities, difficulties: HashMap::new() };
    let mut entries = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let audited = run.audited();
        for session in &run.sessions {
            let audit = audited.get(run.name(session).as_str()).copied();
            let entry = entry(place, run, session, audit, &mut known);
            let inside = |(low, high): (f64, f64)| {
                entry.difficulty.is_some_and(|found| (low..=high).contains(&found.value))
            };
            if (!choice.calibrated || is_calibrated(session)) && choice.difficulty.is_none_or(inside) {
                entries.push(entry);
            }
        }
    }
    entries
}

/// What is known of solvers and of questions.
struct Known {
    /// In logits, by solver.
    abilities: HashMap<String, f64>,
    /// Difficulties by the answers that they follow from: most questions of a pair have the same.
    difficulties: HashMap<Vec<Answers>, Estimate>,
}

/// The bits of an ability, right answers and all answers.
type Answers = (u64, u32, u32);

impl Known {
    /// The difficulty of a question that solvers of these abilities have answered so.
    fn difficulty(&mut self, answers: &[(f64, u32, u32)]) -> Estimate {
        let key = answers.iter().map(|(ability, right, draws)| (ability.to_bits(), *right, *draws)).collect();
        *self.difficulties.entry(key).or_insert_with(|| {
            // Before any answer, a question is as hard as its solvers are able.
            let mean = answers.iter().map(|(ability, ..)| ability).sum::<f64>() / answers.len().max(1) as f64;
            difficulty(answers, (mean, PRIOR_SPREAD))
        })
    }
}

fn entry<'r>(
    place: usize,
    run: &'r Run,
    session: &'r Session,
    audit: Option<&aske_record::PanelRecord>,
    known: &mut Known,
) -> Entry<'r> {
    let mut answers: Vec<(&str, u32, u32)> = Vec::new();
    if let Some(right) = session.right() {
        for (solver, right) in session.pair.into_iter().zip(right) {
            answers.push((&run.solvers[usize::from(solver)].name, u32::from(right), 1));
        }
    }
    for (solver, draws) in audit.and_then(|panel| panel.right.as_ref()).into_iter().flatten() {
        let right = draws.iter().filter(|right| **right).count();
        answers.push((solver, count(right), count(draws.len())));
    }
    let rated: Vec<(f64, u32, u32)> = answers
        .iter()
        .filter_map(|(solver, right, draws)| Some((*known.abilities.get(*solver)?, *right, *draws)))
        .collect();
    Entry {
        run: place,
        session,
        right: answers.iter().map(|(_, right, _)| right).sum(),
        answered: answers.iter().map(|(_, _, draws)| draws).sum(),
        difficulty: (!rated.is_empty()).then(|| known.difficulty(&rated)),
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// What every table begins with: run, asker and session.
pub(crate) fn named<'r>(table: &mut Table, runs: &'r [Run], entries: &[&Entry<'r>]) {
    table.text("run", entries.iter().map(|entry| Some(runs[entry.run].folder())));
    table.text("asker", entries.iter().map(|entry| Some(runs[entry.run].asker.clone())));
    table.text("session", entries.iter().map(|entry| Some(runs[entry.run].name(entry.session))));
}

pub(crate) fn solver(runs: &[Run], entry: &Entry<'_>, side: usize) -> String {
    let run = &runs[entry.run];
    run.solvers[usize::from(entry.session.pair[side])].name.clone()
}

pub(crate) fn outcome(entry: &Entry<'_>) -> Option<&'static str> {
    entry.session.grade.as_ref().map(|grade| grade.outcome.as_str())
}

/// The bank as a table. Only questions with a reference answer that stands are in it.
pub(crate) fn table(runs: &[Run], bank: &[Entry<'_>]) -> Table {
    let standing = |entry: &&Entry<'_>| {
        let outcome = entry.session.grade.as_ref().map(|grade| grade.outcome);
        entry.session.question.is_some()
            && matches!(outcome, Some(Outcome::Calibrated | Outcome::TooEasy | Outcome::TooHard))
    };
    let entries: Vec<&Entry<'_>> = bank.iter().filter(standing).collect();
    let all = || entries.iter().copied();
    let mut table = Table::default();
    table.text("question", all().map(|entry| entry.session.question.as_deref()));
    table.text("answer", all().map(|entry| entry.session.check.first().cloned().flatten()));
    table.text("outcome", all().map(outcome));
    table.number("difficulty", all().map(|entry| entry.difficulty.map(|found| found.value)));
    table.number("difficulty_low", all().map(|entry| entry.difficulty.map(|found| found.interval.low)));
    table.number("difficulty_high", all().map(|entry| entry.difficulty.map(|found| found.interval.high)));
    table.whole("right", all().map(|entry| Some(u64::from(entry.right))));
    table.whole("answered", all().map(|entry| Some(u64::from(entry.answered))));
    table.text("smaller", all().map(|entry| Some(solver(runs, entry, 0))));
    table.text("larger", all().map(|entry| Some(solver(runs, entry, 1))));
    table.flag("smaller_right", all().map(|entry| entry.session.right().map(|right| right[0])));
    table.flag("larger_right", all().map(|entry| entry.session.right().map(|right| right[1])));
    named(&mut table, runs, &entries);
    table
}
