//! Runs against each other, and graders against each other, on the sessions they share.

use crate::tally::SEED;
use crate::{Comparison, Regrade, RegradeRanks, Run, Session, Verdict};
use aske_record::STANDARD;
use aske_session::{Grade, Outcome};
use aske_stats::{PairedComparison, holm, kendall, paired, same_order};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

/// Significance level.
const LEVEL: f64 = 0.05;

/// Every two runs, with Holm's correction over all of them.
pub(crate) fn comparisons<R: Borrow<Run>>(runs: &[R]) -> Vec<Comparison> {
    let all = (0..runs.len()).flat_map(|i| (i + 1..runs.len()).map(move |j| [i, j]));
    let compared: Vec<([usize; 2], PairedComparison)> = all
        .filter_map(|[i, j]| Some(([i, j], by_pair(differences(runs[i].borrow(), runs[j].borrow()))?)))
        .collect();
    let corrected = holm(&compared.iter().map(|(_, paired)| paired.p).collect::<Vec<_>>());
    compared
        .into_iter()
        .zip(corrected)
        .map(|((runs, paired), p_holm)| {
            let verdict = match paired.difference.value {
                _ if p_holm >= LEVEL => Verdict::Tied,
                difference if difference > 0.0 => Verdict::First,
                _ => Verdict::Second,
            };
            Comparison { runs, paired, p_holm, verdict }
        })
        .collect()
}

/// A run under its other graders.
pub(crate) fn regrades(run: &Run) -> Vec<Regrade> {
    // The run's own grades are the ones to compare with.
    let others = (run.grader == STANDARD).then_some(&run.others);
    others
        .into_iter()
        .flatten()
        .filter_map(|(grader, grades)| {
            let shared: Vec<(&Session, &Grade, &Grade)> = run
                .sessions
                .iter()
                .filter_map(|session| {
                    Some((session, session.grade.as_ref()?, &grades.get(&run.name(session))?.grade))
                })
                .collect();
            let sessions = shared.len() as u64;
            let rate = |pick: fn(&(&Session, &Grade, &Grade)) -> f64| {
                shared.iter().map(pick).sum::<f64>() / sessions.max(1) as f64
            };
            (sessions > 0).then(|| Regrade {
                grader: grader.clone(),
                sessions,
                calibrated: [rate(|(_, own, _)| calibrated(own)), rate(|(_, _, other)| calibrated(other))],
                shift: by_pair(
                    shared
                        .iter()
                        .map(|(session, own, other)| (session.pair, calibrated(other) - calibrated(own))),
                ),
                changed: shared.iter().filter(|(_, own, other)| own.outcome != other.outcome).count() as u64,
            })
        })
        .collect()
}

/// Whether each grader ranks the runs as their own grades do.
pub(crate) fn ranks(runs: &[Vec<Regrade>]) -> Vec<RegradeRanks> {
    let graders: BTreeSet<&str> = runs.iter().flatten().map(|regrade| regrade.grader.as_str()).collect();
    graders
        .into_iter()
        .map(|grader| {
            let with: Vec<&Regrade> =
                runs.iter().filter_map(|run| run.iter().find(|regrade| regrade.grader == grader)).collect();
            let [own, other] =
                [0, 1].map(|side| with.iter().map(|regrade| regrade.calibrated[side]).collect::<Vec<f64>>());
            let shifts = with.iter().map(|regrade| (regrade.calibrated[1] - regrade.calibrated[0]).abs());
            RegradeRanks {
                grader: grader.to_owned(),
                runs: with.len(),
                same_order: same_order(&own, &other),
                kendall: (with.len() > 1).then(|| kendall(&own, &other)),
                largest_shift: shifts.fold(0.0, f64::max),
            }
        })
        .collect()
}

fn calibrated(grade: &Grade) -> f64 {
    if grade.outcome == Outcome::Calibrated { 1.0 } else { 0.0 }
}

/// How much more often some runs together are calibrated than one other, on the sessions that each shares with it.
pub fn pooled(runs: &[Run], other: &Run) -> Option<PairedComparison> {
    by_pair(runs.iter().flat_map(|run| differences(run, other)))
}

/// The differences in the sessions that two runs share, with the pair of each.
fn differences(one: &Run, two: &Run) -> impl Iterator<Item = ([u16; 2], f64)> {
    one.sessions.iter().filter_map(|session| {
        let same = two.session(&one.name(session))?;
        Some((session.pair, calibrated(session.grade.as_ref()?) - calibrated(same.grade.as_ref()?)))
    })
}

/// Paired differences, whole pairs together.
fn by_pair(differences: impl Iterator<Item = ([u16; 2], f64)>) -> Option<PairedComparison> {
    let mut pairs: BTreeMap<[u16; 2], Vec<f64>> = BTreeMap::new();
    for (pair, difference) in differences {
        pairs.entry(pair).or_default().push(difference);
    }
    paired(&pairs.into_values().collect::<Vec<_>>(), SEED)
}
