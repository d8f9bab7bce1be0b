//! One scale for solvers over all graded answers, one for askers and pairs over all sessions.

use crate::{Ability, Run, Skills};
use aske_record::PanelRecord;
use aske_session::Outcome;
use aske_stats::{Cell, Response, crossed, rasch};
use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};

/// The scales of some runs.
pub fn ability<R: Borrow<Run>>(runs: &[R]) -> Option<Ability> {
    let solvers = solvers(runs);
    let responses = responses(runs, &solvers);
    let abilities = rasch(solvers.len(), &responses)?;
    Some(Ability { solvers, abilities, skills: skills(runs) })
}

/// Every solver of any run, those of the first run first.
fn solvers<R: Borrow<Run>>(runs: &[R]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for solver in runs.iter().flat_map(|run| &run.borrow().solvers) {
        if !names.contains(&solver.name) {
            names.push(solver.name.clone());
        }
    }
    names
}

/// Every graded answer of sessions and baselines; one question is one item. An audit's draws are left out: answers of one
/// solver to one question are no independent evidence of its ability.
fn responses<R: Borrow<Run>>(runs: &[R], solvers: &[String]) -> Vec<Response> {
    let places: HashMap<&str, usize> =
        solvers.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    let (mut responses, mut item) = (Vec::new(), 0);
    for run in runs.iter().map(Borrow::borrow) {
        let persons: Vec<usize> = run.solvers.iter().map(|solver| places[solver.name.as_str()]).collect();
        for session in &run.sessions {
            let Some(right) = session.right() else { continue };
            for (place, right) in session.pair.into_iter().zip(right) {
                responses.push(Response { person: persons[usize::from(place)], item, right });
            }
            item += 1;
        }
        for panel in &run.baselines {
            add_panel(&mut responses, &places, panel, item);
            item += 1;
        }
    }
    responses
}

fn add_panel(responses: &mut Vec<Response>, places: &HashMap<&str, usize>, panel: &PanelRecord, item: usize) {
    for (solver, draws) in panel.right.iter().flatten() {
        if let Some(person) = places.get(solver.as_str()) {
            responses.extend(draws.iter().map(|right| Response { person: *person, item, right: *right }));
        }
    }
}

/// Askers against pairs, over sessions: every asker meets every pair, as persons meet the items of a test.
fn skills<R: Borrow<Run>>(runs: &[R]) -> Option<Skills> {
    if runs.len() < 2 {
        return None;
    }
    let mut columns: BTreeMap<String, usize> = BTreeMap::new();
    let mut counts: BTreeMap<(usize, usize), (u32, u32)> = BTreeMap::new();
    for (row, run) in runs.iter().map(Borrow::borrow).enumerate() {
        for session in &run.sessions {
            let Some(grade) = &session.grade else { continue };
            let pair = run.pair(session);
            let next = columns.len();
            let column = *columns.entry(pair).or_insert(next);
            let (hits, total) = counts.entry((row, column)).or_default();
            *hits += u32::from(grade.outcome == Outcome::Calibrated);
            *total += 1;
        }
    }
    let cells: Vec<Cell> =
        counts.into_iter().map(|((row, column), (hits, total))| Cell { row, column, hits, total }).collect();
    let fit = crossed(runs.len(), columns.len(), &cells)?;
    let mut pairs: Vec<(String, aske_stats::Estimate)> =
        columns.into_iter().filter_map(|(pair, column)| Some((pair, fit.hardness[column]?))).collect();
    pairs.sort_by(|(_, a), (_, b)| b.value.total_cmp(&a.value));
    Some(Skills { askers: fit.skill, pairs, fit: fit.p })
}
