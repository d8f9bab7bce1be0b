//! Selects sessions worth reading: the asker's best and worst.

use crate::{Highlight, Run, Session};
use aske_session::Outcome;
use std::collections::HashSet;

/// Of each kind.
const EACH: usize = 3;

/// The best sessions, then the worst.
pub(crate) fn highlights(run: &Run) -> Vec<Highlight> {
    let mut best = best(run);
    let mut worst = Vec::new();
    for (outcome, why) in [
        (Outcome::NoQuestion, "the final turn has no question"),
        (Outcome::BadCrossCheck, "the cross-check solver disagrees with itself"),
        (Outcome::TooHard, "neither solver is right"),
        (Outcome::TooEasy, "both solvers are right"),
    ] {
        let with = run.sessions.iter().find(|session| outcome_of(session) == Some(outcome));
        worst.extend(with.map(|session| note(run, session, false, why.to_owned())));
    }
    worst.truncate(EACH);
    best.append(&mut worst);
    best
}

/// Calibrated sessions. With an audit, those whose solvers truly differ come first; without one, those of the pairs
/// that are nearest in size, where a gap is hardest to find.
fn best(run: &Run) -> Vec<Highlight> {
    let calibrated = run.sessions.iter().filter(|session| outcome_of(session) == Some(Outcome::Calibrated));
    let again = run.audited();
    let gap = |session: &Session| {
        let right = again.get(run.name(session).as_str())?.right.as_ref()?;
        let [one, two] = session.pair.map(|place| {
            let draws = right.get(&run.solvers[usize::from(place)].name)?;
            Some(draws.iter().filter(|right| **right).count() as f64 / draws.len().max(1) as f64)
        });
        Some((one? - two?).abs())
    };
    let mut ranked: Vec<(f64, u16, &Session)> = calibrated
        .map(|session| (gap(session).unwrap_or(0.0), session.pair[1] - session.pair[0], session))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut pairs = HashSet::new();
    ranked.retain(|(_, _, session)| pairs.insert(session.pair));
    ranked
        .into_iter()
        .take(EACH)
        .map(|(gap, _, session)| {
            let why = if gap > 0.0 {
                format!("solved again, the two solvers differ by {:.0} points", 100.0 * gap)
            } else {
                "exactly one of two solvers near in size is right".to_owned()
            };
            note(run, session, true, why)
        })
        .collect()
}

fn outcome_of(session: &Session) -> Option<Outcome> {
    session.grade.as_ref().map(|grade| grade.outcome)
}

fn note(run: &Run, session: &Session, best: bool, why: String) -> Highlight {
    Highlight { session: run.name(session), best, why }
}
