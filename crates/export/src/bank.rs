//! The question bank: final questions with their reference answers and estimated difficulty.

use crate::{SessionFilter, Table, is_calibrated};
use aske_evidence::{Run, Session, ability_of};
use aske_session::Outcome;
use aske_stats::{Estimate, difficulty};
use std::collections::HashMap;

/// Prior standard deviation of a question's difficulty around the abilities of its solvers, in logits.
const PRIOR_SPREAD: f64 = 2.0;

/// A selected session with the difficulty of its question.
pub(crate) struct BankEntry<'r> {
    /// The index of its run.
    pub(crate) run: usize,
    pub(crate) session: &'r Session,
    /// Correct answers and all answers of solvers, including those of audits.
    pub(crate) right: u32,
    pub(crate) answered: u32,
    /// In logits: a solver of this ability is right half the time.
    pub(crate) difficulty: Option<Estimate>,
}

/// The sessions that pass the filter.
pub(crate) fn bank<'r>(runs: &'r [Run], filter: &SessionFilter) -> Vec<BankEntry<'r>> {
    let abilities: HashMap<String, f64> = ability_of(runs)
        .map(|scale| {
            let values =
                scale.abilities.ability.into_iter().map(|ability| ability.map(|ability| ability.value));
            scale.solvers.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?))).collect()
        })
        .unwrap_or_default();
    let mut known = DifficultyCache { abilities, difficulties: HashMap::new() };
    let mut entries = Vec::new();
    for (place, run) in runs.iter().enumerate() {
        let audited = run.audited();
        for session in &run.sessions {
            let audit = audited.get(run.name(session).as_str()).copied();
            let entry = entry(place, run, session, audit, &mut known);
            let inside = |(low, high): (f64, f64)| {
                entry.difficulty.is_some_and(|found| (low..=high).contains(&found.value))
            };
            if (!filter.calibrated || is_calibrated(session)) && filter.difficulty.is_none_or(inside) {
                entries.push(entry);
            }
        }
    }
    entries
}

/// Abilities of solvers and difficulties of questions.
struct DifficultyCache {
    /// Abilities in logits, by solver.
    abilities: HashMap<String, f64>,
    /// Difficulties by the answers they are computed from, which many questions of a pair share.
    difficulties: HashMap<Vec<AnswerCounts>, Estimate>,
}

/// The bits of an ability, correct answers and all answers.
type AnswerCounts = (u64, u32, u32);

impl DifficultyCache {
    /// The difficulty of a question with these answers: ability, correct and total number of each solver.
    fn difficulty(&mut self, answers: &[(f64, u32, u32)]) -> Estimate {
        let key = answers.iter().map(|(ability, right, draws)| (ability.to_bits(), *right, *draws)).collect();
        *self.difficulties.entry(key).or_insert_with(|| {
            // The prior mean is the mean ability of the solvers.
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
    known: &mut DifficultyCache,
) -> BankEntry<'r> {
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
    BankEntry {
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

/// Adds the first columns of tables of sessions: run, asker, session and pair.
pub(crate) fn add_session_columns<'r>(table: &mut Table, runs: &'r [Run], entries: &[&BankEntry<'r>]) {
    table.text("run", entries.iter().map(|entry| Some(runs[entry.run].folder())));
    table.text("asker", entries.iter().map(|entry| Some(runs[entry.run].asker.clone())));
    table.text("session", entries.iter().map(|entry| Some(runs[entry.run].name(entry.session))));
    table.text("pair", entries.iter().map(|entry| Some(runs[entry.run].pair_id(entry.session))));
}

pub(crate) fn solver(runs: &[Run], entry: &BankEntry<'_>, side: usize) -> String {
    let run = &runs[entry.run];
    run.solvers[usize::from(entry.session.pair[side])].name.clone()
}

pub(crate) fn outcome(entry: &BankEntry<'_>) -> Option<&'static str> {
    entry.session.grade.as_ref().map(|grade| grade.outcome.as_str())
}

/// The bank as a table, without questions that lack an agreed reference answer.
pub(crate) fn table(runs: &[Run], bank: &[BankEntry<'_>]) -> Table {
    let standing = |entry: &&BankEntry<'_>| {
        let outcome = entry.session.grade.as_ref().map(|grade| grade.outcome);
        entry.session.question.is_some()
            && matches!(outcome, Some(Outcome::Calibrated | Outcome::TooEasy | Outcome::TooHard))
    };
    let entries: Vec<&BankEntry<'_>> = bank.iter().filter(standing).collect();
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
    add_session_columns(&mut table, runs, &entries);
    table
}
