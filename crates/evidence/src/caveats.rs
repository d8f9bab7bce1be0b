//! What belongs next to the calibrated share: reused final questions, failed validity checks, few pairs.

use crate::checks::{Check, Severity, checks_of, severity};
use crate::tally::{Tally, share};
use crate::{FinalQuestion, Run, SessionCounts, Share, SolverReplies, Validity, panels, validity};
use aske_session::Outcome;
use aske_stats::{Interval, MIN_BOOTSTRAP_CLUSTERS};
use serde::Serialize;

/// Limits on the share of truncated or unanswered replies of one solver.
pub const SOLVER_LIMITS: [f64; 2] = [0.02, 0.10];

/// What belongs next to the calibrated share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Caveats {
    /// Sessions whose final question repeats a probe of their own.
    pub reused: FinalQuestion,
    /// Sessions with a new final question.
    pub new: FinalQuestion,
    /// With few pairs: what follows for these pairs, and what for others.
    pub few_pairs: Option<String>,
    /// Validity checks above their limit, problems first.
    pub findings: Vec<Finding>,
}

/// A validity check above its limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The name of the check.
    pub check: &'static str,
    /// How serious it is.
    pub severity: Severity,
    /// Hits; of several solvers, those of the worst.
    pub hits: u64,
    /// Out of these.
    pub of: u64,
    /// The share of hits.
    pub share: f64,
    /// What was found, in a line.
    pub text: String,
}

/// Whether a run has so few pairs that the interval over pairs says little, and the one for these pairs stands beside it.
pub fn few_pairs(pairs: usize) -> bool {
    pairs < MIN_BOOTSTRAP_CLUSTERS
}

/// The caveats of a run.
pub fn caveats(run: &Run) -> Caveats {
    of_run(run, &validity::validity(run), &run.held(0))
}

pub(crate) fn of_run(run: &Run, validity: &Validity, held: &SessionCounts) -> Caveats {
    let mut tally = Tally::default();
    for session in &run.sessions {
        if let Some(grade) = &session.grade {
            tally.add(&run.pair_id(session), session.sample, grade);
        }
    }
    Caveats {
        reused: final_question(run, true),
        new: final_question(run, false),
        // The pairs of an adaptive run are weighted.
        few_pairs: few_pairs_text(&tally).filter(|_| run.draws.is_empty()),
        findings: findings(validity, held),
    }
}

/// The sessions with a question that repeats a probe, or with one that does not.
fn final_question(run: &Run, reused: bool) -> FinalQuestion {
    let mut tally = Tally::default();
    let chosen =
        |session: &&crate::Session| session.question.is_some() && session.notes.from_probing == reused;
    for session in run.sessions.iter().filter(chosen) {
        if let Some(grade) = &session.grade {
            tally.add(&run.pair_id(session), session.sample, grade);
        }
    }
    // A part of the sessions has no complete samples.
    let calibrated = Share { across_samples: None, ..tally.share(Outcome::Calibrated) };
    FinalQuestion { calibrated, audit: panels::audit_of(run, run.sessions.iter().filter(chosen)) }
}

fn few_pairs_text(tally: &Tally) -> Option<String> {
    if !few_pairs(tally.pairs()) {
        return None;
    }
    let (pairs, share) = (tally.pairs(), tally.share(Outcome::Calibrated));
    let percent = |Interval { low, high }| format!("{:.1} to {:.1}%", 100.0 * low, 100.0 * high);
    let these = percent(share.these_pairs?);
    match share.over_pairs.filter(|_| few_pairs(pairs)) {
        Some(general) => Some(format!(
            "On these {pairs} pairs the calibrated rate is {these} (95%); for other pairs, {pairs} pairs show no more than \
             {}.",
            percent(general)
        )),
        None if pairs == 1 => Some(format!(
            "On this pair the calibrated rate is {these} (95%); one pair shows nothing about others."
        )),
        None => None,
    }
}

/// Checks above their limit, the most serious first.
pub(crate) fn findings(validity: &Validity, held: &SessionCounts) -> Vec<Finding> {
    let checks = checks_of(validity, held);
    let found = checks.iter().filter(|check| check.severity() != Severity::Fine).map(finding);
    let mut found: Vec<Finding> = found.chain(solvers(&validity.solvers)).collect();
    found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    found
}

fn finding(check: &Check<'_>) -> Finding {
    let Check { name, meaning, hits, of, .. } = *check;
    let allowed = if check.allowed { "; the paper allows it" } else { "" };
    Finding {
        check: name,
        severity: check.severity(),
        hits,
        of,
        share: check.share(),
        text: format!("{:.1}% ({hits} of {of}): {meaning}{allowed}", 100.0 * check.share()),
    }
}

/// The solvers whose replies are truncated or lack an answer too often, as one finding.
fn solvers(solvers: &[SolverReplies]) -> Option<Finding> {
    let hits = |solver: &SolverReplies| solver.truncated.max(solver.unanswered);
    let part = |solver: &SolverReplies| share(hits(solver), solver.replies);
    let mut above: Vec<&SolverReplies> =
        solvers.iter().filter(|solver| part(solver) > SOLVER_LIMITS[0]).collect();
    above.sort_by(|one, two| part(two).total_cmp(&part(one)));
    let worst = above.first()?;
    let named: Vec<String> =
        above.iter().take(3).map(|solver| format!("{} {:.1}%", solver.name, 100.0 * part(solver))).collect();
    let more = if above.len() > 3 { format!(" and {} more solvers", above.len() - 3) } else { String::new() };
    Some(Finding {
        check: "Replies without an answer",
        severity: severity(part(worst), SOLVER_LIMITS),
        hits: hits(worst),
        of: worst.replies,
        share: part(worst),
        text: format!(
            "{}{more}: replies cut off or without an answer, which count as wrong",
            named.join(", ")
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use aske_session::Grade;

    fn tally(pairs: &[(u32, u32)]) -> Tally {
        let mut tally = Tally::default();
        for (i, (hits, sessions)) in pairs.iter().enumerate() {
            for sample in 0..*sessions {
                let outcome = if sample < *hits { Outcome::Calibrated } else { Outcome::TooEasy };
                tally.add(&format!("a:{i}"), sample, &Grade::new(outcome, None));
            }
        }
        tally
    }

    #[test]
    fn few_pairs_say_what_follows_for_them_and_for_others() {
        // binom.test(56, 90) in R: 0.5138 to 0.7223.
        let three = few_pairs_text(&tally(&[(15, 30), (18, 30), (23, 30)])).unwrap();
        assert!(
            three.starts_with("On these 3 pairs the calibrated rate is 51.4 to 72.2% (95%); for other"),
            "{three}"
        );
        assert!(three.ends_with("3 pairs show no more than 28.6 to 90.3%."), "{three}");
        // binom.test(1, 6): 0.0042 to 0.6412.
        let one = few_pairs_text(&tally(&[(1, 6)])).unwrap();
        assert!(one.starts_with("On this pair the calibrated rate is 0.4 to 64.1% (95%); one pair"), "{one}");
        assert_eq!(few_pairs_text(&tally(&[(1, 2); 8])), None);
        assert_eq!(few_pairs_text(&Tally::default()), None);
    }

    #[test]
    fn the_worst_solvers_are_named_in_one_finding() {
        let solver = |name: &str, truncated, unanswered| SolverReplies {
            name: name.to_owned(),
            replies: 100,
            truncated,
            unanswered,
        };
        let found = solvers(&[solver("a", 0, 2), solver("b", 3, 0), solver("c", 1, 20)]).unwrap();
        assert_eq!((found.severity, found.hits, found.of), (Severity::Problem, 20, 100));
        assert!(found.text.starts_with("c 20.0%, b 3.0%: replies"), "{}", found.text);
        assert_eq!(solvers(&[solver("a", 2, 2)]), None);
    }
}
