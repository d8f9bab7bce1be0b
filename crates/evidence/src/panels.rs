//! Statistics of audits, baselines and difficulty measurements.

use crate::cells;
use crate::tally::{Counts, SEED, place, shares};
use crate::{AuditEvidence, Baseline, Count, Difficulty, Run, Session, Target};
use aske_record::{PairId, PanelRecord};
use aske_session::Outcome;
use aske_stats::{
    AdaptiveEstimate, AdaptiveSampler, Audit, AuditSession, PairDraw, audit as estimates, fisher, newcombe,
};
use std::collections::BTreeMap;

/// Skill and luck over the audited sessions.
pub(crate) fn audit(run: &Run) -> Option<AuditEvidence> {
    let redraws = all_redraws(run, run.sessions.iter());
    let draws = redraws.iter().map(|redraws| redraws.draws[0]).max()?;
    let has_reference = |session: &&Session| session.right().is_some();
    Some(AuditEvidence {
        draws,
        auditable: run.sessions.iter().filter(has_reference).count() as u64,
        estimates: estimates(&redraws, SEED)?,
    })
}

/// Skill and luck over the audited ones of these sessions.
pub(crate) fn audit_of<'s>(run: &Run, sessions: impl Iterator<Item = &'s Session>) -> Option<Audit> {
    estimates(&all_redraws(run, sessions), SEED)
}

/// The fresh draws of the audited ones of these sessions. Of several audits of a session, the one with the most draws counts.
fn all_redraws<'s>(run: &Run, sessions: impl Iterator<Item = &'s Session>) -> Vec<AuditSession> {
    let audited = run.audited();
    let mut clusters: BTreeMap<[u16; 2], usize> = BTreeMap::new();
    sessions
        .filter_map(|session| {
            let panel = audited.get(run.name(session).as_str())?;
            let next = clusters.len();
            let cluster = *clusters.entry(session.pair).or_insert(next);
            redraws(run, session, panel, cluster)
        })
        .collect()
}

fn redraws(run: &Run, session: &Session, panel: &PanelRecord, cluster: usize) -> Option<AuditSession> {
    let right = panel.right.as_ref()?;
    let names = session.pair.map(|place| run.solvers[usize::from(place)].name.as_str());
    let [one, two] = names.map(|name| right.get(name));
    let (one, two) = (one?, two?);
    let count = |draws: &[bool]| u32::try_from(draws.iter().filter(|right| **right).count()).unwrap_or(0);
    let length = |draws: &[bool]| u32::try_from(draws.len()).unwrap_or(0);
    let mut others = right.iter().filter(|(name, _)| !names.contains(&name.as_str()));
    let mut other = || others.next().and_then(|(_, draws)| draws.first().copied());
    Some(AuditSession {
        cluster,
        right: [count(one), count(two)],
        draws: [length(one), length(two)],
        calibrated: session.grade.as_ref()?.outcome == Outcome::Calibrated,
        control: other().zip(other()).map(|(one, two)| [one, two]),
    })
}

/// Questions without probing, over every pair of solvers.
pub(crate) fn baseline(run: &Run) -> Option<Baseline> {
    if run.baselines.is_empty() {
        return None;
    }
    let pairs = || (0..run.solvers.len()).flat_map(|i| (i + 1..run.solvers.len()).map(move |j| [i, j]));
    let mut questions: Vec<Counts> = Vec::new();
    let mut outcomes = Vec::new();
    for panel in &run.baselines {
        let mut counts = Counts::default();
        for pair in pairs() {
            let Some((outcome, right)) = of_pair(run, panel, pair) else { continue };
            counts[place(outcome)] += 1;
            outcomes.push((pair, outcome, right));
        }
        questions.push(counts);
    }
    Some(Baseline {
        questions: run.baselines.len() as u64,
        outcomes: shares(&questions.iter().collect::<Vec<_>>(), &[]),
        cells: cells::of(&run.solvers, outcomes.into_iter()),
    })
}

/// The outcome of a question for a pair; `None` if one of the solvers was not asked.
fn of_pair(run: &Run, panel: &PanelRecord, pair: [usize; 2]) -> Option<(Outcome, Option<[bool; 2]>)> {
    if panel.question.is_none() {
        return Some((Outcome::NoQuestion, None));
    }
    let Some(right) = &panel.right else { return Some((Outcome::BadCrossCheck, None)) };
    let [one, two] = pair.map(|place| right.get(&run.solvers[place].name)?.first().copied());
    let right = [one?, two?];
    Some((Outcome::of(right), Some(right)))
}

/// An independent solver's failures on the easy and the hard pair that the run's configuration names.
pub(crate) fn difficulty(run: &Run) -> Vec<Difficulty> {
    let mut solvers: BTreeMap<&str, BTreeMap<String, (u64, u64)>> = BTreeMap::new();
    for panel in &run.difficulties {
        let Some(session) = panel.session.as_deref().and_then(|name| run.session(name)) else { continue };
        let pair = run.pair(session);
        for (solver, draws) in panel.right.iter().flatten() {
            let (failed, of) = solvers.entry(solver).or_default().entry(pair.clone()).or_default();
            *failed += draws.iter().filter(|right| !**right).count() as u64;
            *of += draws.len() as u64;
        }
    }
    solvers.into_iter().map(|(solver, pairs)| measured(run, solver, &pairs)).collect()
}

fn measured(run: &Run, solver: &str, pairs: &BTreeMap<String, (u64, u64)>) -> Difficulty {
    let section = run.manifest.config.get("difficulty");
    let named = ["easy", "hard"].map(|key| section?.get(key)?.as_str()?.parse::<PairId>().ok());
    let targets: Vec<Target> = named
        .into_iter()
        .flatten()
        .filter_map(|named| {
            let same = |pair: &&String| pair.parse::<PairId>().is_ok_and(|pair| pair == named);
            let pair = pairs.keys().find(same)?;
            let (failed, of) = pairs[pair];
            Some(Target { pair: pair.clone(), failed: Count::new(failed, of) })
        })
        .collect();
    let both = match targets.as_slice() {
        [easy, hard] => Some((hard.failed, easy.failed)),
        _ => None,
    };
    Difficulty {
        solver: solver.to_owned(),
        difference: both.and_then(|(hard, easy)| newcombe(hard.hits, hard.of, easy.hits, easy.of)),
        p: both.map(|(hard, easy)| fisher(hard.hits, hard.of, easy.hits, easy.of)),
        targets,
    }
}

/// The weighted estimate of an adaptive run, over its complete batches.
pub(crate) fn sampling(run: &Run) -> Option<AdaptiveEstimate> {
    let mut sampler = AdaptiveSampler::new(run.draws.first()?.pairs, 0);
    for batch in run.draws.chunk_by(|one, two| one.batch == two.batch) {
        let results: Option<Vec<(PairDraw, bool)>> = batch
            .iter()
            .map(|line| {
                let grade = run.session(&line.record)?.grade.as_ref()?;
                let drawn = PairDraw { pair: line.pair, probability: line.probability, fixed: line.fixed };
                Some((drawn, grade.outcome == Outcome::Calibrated))
            })
            .collect();
        let Some(results) = results else { break };
        sampler.record(&results);
    }
    sampler.estimate()
}
