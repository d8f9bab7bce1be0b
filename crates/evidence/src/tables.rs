//! The tables of runs, as shown in the terminal, the report, the viewer and as JSON.

use crate::Caveats;
use aske_record::RoleUsage;
use aske_session::Outcome;
use aske_stats::{Abilities, AdaptiveEstimate, Audit, Estimate, Interval, PairedComparison};
use serde::Serialize;
use std::collections::BTreeMap;

/// The results of some runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// Each run by itself, in the order given.
    pub runs: Vec<RunEvidence>,
    /// Every two runs, on the sessions they share.
    pub comparisons: Vec<Comparison>,
    /// Abilities on one scale over all runs.
    pub ability: Option<Ability>,
    /// Whether other cross-check solvers rank the runs in the same order.
    pub regrades: Vec<RegradeRanks>,
}

/// The results of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunEvidence {
    /// The folder's name.
    pub name: String,
    /// The folder.
    pub path: String,
    /// The asker.
    pub asker: String,
    /// The cross-check solver.
    pub check: String,
    /// The grader: `standard`, or the name of a regrading.
    pub grader: String,
    /// The boundary solvers, smallest first; pairs refer to them by index.
    pub solvers: Vec<SolverInfo>,
    /// Graded sessions.
    pub sessions: u64,
    /// Sessions that are finished but have no grade of this grader.
    pub ungraded: u64,
    /// Counts of recorded, graded and missing sessions.
    pub held: SessionCounts,
    /// Why the stored replies cannot be read; the sessions can.
    #[serde(rename = "trouble")]
    pub replies_error: Option<String>,
    /// Every outcome's share.
    pub outcomes: Vec<Share>,
    /// What belongs next to the calibrated share.
    pub caveats: Caveats,
    /// Every pair, for the maps.
    pub cells: Vec<PairCell>,
    /// How often the weaker solver is the one that is right.
    pub direction: Direction,
    /// How much is skill and how much luck, if `aske audit` has run.
    pub audit: Option<AuditEvidence>,
    /// Questions without probing, if `aske baseline` has run.
    pub baseline: Option<Baseline>,
    /// Easy and hard targets, if `aske difficulty` has run.
    pub difficulty: Vec<Difficulty>,
    /// The weighted estimate, if `aske bench --until` chose the sessions.
    pub sampling: Option<AdaptiveEstimate>,
    /// Other cross-check solvers, if `aske regrade` has run.
    pub regrades: Vec<Regrade>,
    /// The validity panel.
    pub validity: Validity,
    /// Calls, tokens and cost by role.
    pub used: BTreeMap<String, RoleUsage>,
    /// Sessions worth reading, the best first, then the worst.
    pub highlights: Vec<Highlight>,
}

/// Counts of the sessions of a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SessionCounts {
    /// Sessions of the largest plan that was run in this folder, if known.
    pub planned: Option<u64>,
    /// Sessions with a record; only these are counted.
    pub records: u64,
    /// Of these, with a grade.
    pub graded: u64,
    /// Sessions with a grade whose record is missing.
    pub lost: u64,
    /// Sessions with stored replies and neither a record nor a grade.
    pub begun: u64,
}

/// A boundary solver.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SolverInfo {
    /// Its name.
    pub name: String,
    /// Parameters in billions, where published.
    pub params: Option<f64>,
    /// Right answers to graded final questions.
    pub right: u64,
    /// Graded final questions.
    pub answered: u64,
}

/// One outcome's share of the sessions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// The outcome.
    pub outcome: Outcome,
    /// Sessions with it.
    pub sessions: u64,
    /// Out of these.
    pub of: u64,
    /// Their share; 0 of none.
    pub rate: f64,
    /// 95% across the complete samples, as in the paper's figure: Student's t over their rates.
    pub across_samples: Option<Interval>,
    /// 95% over pairs, for pairs in general: a bootstrap that resamples whole pairs; none for a single pair.
    pub over_pairs: Option<Interval>,
    /// 95% for these pairs only: Clopper and Pearson's interval over sessions.
    pub these_pairs: Option<Interval>,
}

/// Sessions by the origin of their final question.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FinalQuestion {
    /// The calibrated ones.
    pub calibrated: Share,
    /// The estimates of an audit over them.
    pub audit: Option<Audit>,
}

/// The sessions of one pair.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairCell {
    /// Indices of the smaller and the larger solver.
    pub pair: [usize; 2],
    /// Graded sessions.
    pub sessions: u64,
    /// Sessions by outcome, in the order of [`Outcome::ALL`].
    pub outcomes: [u64; 5],
    /// 95% of the calibrated share: Wilson's interval.
    pub calibrated: Option<Interval>,
    /// Calibrated sessions won by the smaller and by the larger solver.
    pub wins: [u64; 2],
    /// Right answers of both over all graded sessions of the pair.
    pub right: [u64; 2],
    /// One solver is below 4 billion parameters and the other above 8, or closed.
    pub separated: bool,
}

/// A proportion with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Count {
    /// Hits.
    pub hits: u64,
    /// Out of these.
    pub of: u64,
    /// Their share; 0 of none.
    pub rate: f64,
    /// 95%: Wilson's interval.
    pub interval: Option<Interval>,
}

/// How often a calibrated session is won by the weaker solver of its pair: the one with fewer right answers over the
/// pair's sessions. If both have equally many, there is no weaker one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Direction {
    /// Over all pairs.
    pub weaker: Count,
    /// Over clearly separated pairs.
    pub separated: Count,
}

/// Final questions solved again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditEvidence {
    /// Draws of each solver.
    pub draws: u32,
    /// Sessions of the run with an agreed reference answer, which can be audited.
    pub auditable: u64,
    /// The estimates.
    pub estimates: Audit,
}

/// Questions without probing, over all pairs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Baseline {
    /// Questions.
    pub questions: u64,
    /// Shares over questions × pairs; here `over_pairs` resamples whole questions, and `these_pairs` is none.
    pub outcomes: Vec<Share>,
    /// Every pair.
    pub cells: Vec<PairCell>,
}

/// An independent solver's failures on questions for an easy and for a hard pair.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difficulty {
    /// The independent solver.
    pub solver: String,
    /// Each pair with the solver's failures, the easy one first.
    pub targets: Vec<Target>,
    /// Hard minus easy; Newcombe's interval.
    pub difference: Option<Estimate>,
    /// Fisher's exact p.
    pub p: Option<f64>,
}

/// One target range.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Target {
    /// The pair's name.
    pub pair: String,
    /// Failures of the independent solver.
    pub failed: Count,
}

/// The same sessions under another cross-check solver.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regrade {
    /// Its name.
    pub grader: String,
    /// Sessions graded by both.
    pub sessions: u64,
    /// Calibrated shares of these sessions: by the run's own grades and by this grader.
    pub calibrated: [f64; 2],
    /// The shift.
    pub shift: Option<PairedComparison>,
    /// Sessions whose outcome differs.
    pub changed: u64,
}

/// Whether a grader ranks the runs in the same order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RegradeRanks {
    /// The grader.
    pub grader: String,
    /// Runs that have its grades.
    pub runs: usize,
    /// Whether the order of their calibrated shares is the same.
    pub same_order: bool,
    /// Kendall's tau-b.
    pub kendall: Option<f64>,
    /// The largest shift of a calibrated share, in either direction.
    pub largest_shift: f64,
}

/// Two runs on the sessions they share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Indices of the runs.
    pub runs: [usize; 2],
    /// First minus second.
    pub paired: PairedComparison,
    /// p after Holm's correction over all comparisons.
    pub p_holm: f64,
    /// The conclusion at the 5% level.
    pub verdict: Verdict,
}

/// The conclusion of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The first is better.
    First,
    /// The second is better.
    Second,
    /// There is no significant difference.
    Tied,
}

/// One scale for solvers, one for askers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ability {
    /// Names of the solvers in `abilities`, smallest first.
    pub solvers: Vec<String>,
    /// Solver abilities in logits, by conditional likelihood over all graded answers.
    pub abilities: Abilities,
    /// Asker skills and pair hardness, in logits, if there are at least two runs.
    pub skills: Option<Skills>,
}

/// Askers and pairs on one scale.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Skills {
    /// Skills by run, in the order of the runs.
    pub askers: Vec<Option<Estimate>>,
    /// Pairs by hardness, the hardest first.
    pub pairs: Vec<(String, Estimate)>,
    /// How well the scale fits: a p-value.
    pub fit: Option<f64>,
}

/// The validity panel: what could make the results misleading.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Validity {
    /// Every solver's replies.
    pub solvers: Vec<SolverReplies>,
    /// The asker's turns.
    pub asker: AskerTurns,
    /// Final questions on which the cross-check answers did not all agree.
    pub disagreed: Flag,
    /// Sessions in which the equivalence checker matched answers that the comparison found different.
    pub promoted: Flag,
    /// Sessions in which a match rests on texts that differ in case or white space only.
    pub folded: Flag,
    /// Sessions with a comparison that stayed undecided.
    pub undecided: Flag,
    /// Final questions that are word for word those of an earlier session.
    pub duplicates: Flag,
    /// Final questions that are similar to one of an earlier session.
    pub near_duplicates: Flag,
    /// Final questions that repeat a probing question of their own session.
    pub from_probing: Flag,
    /// Final questions that contain the reference answer.
    pub leaked: Flag,
}

/// A solver's replies.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SolverReplies {
    /// The solver.
    pub name: String,
    /// Replies to probing and final questions.
    pub replies: u64,
    /// Of these, cut at the token limit.
    pub truncated: u64,
    /// Of these, without an answer.
    pub unanswered: u64,
}

/// An asker's turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct AskerTurns {
    /// All turns.
    pub turns: u64,
    /// Without a question.
    pub without_question: u64,
    /// Of these, because the reply was cut at the token limit.
    pub truncated: u64,
    /// Questions cut at the word limit.
    pub cut: u64,
}

/// Sessions that a validity check flags.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Flag {
    /// Sessions.
    pub sessions: u64,
    /// Out of these.
    pub of: u64,
    /// A few of them by name.
    pub examples: Vec<String>,
}

/// A session worth reading.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Highlight {
    /// The session's name.
    pub session: String,
    /// Whether it shows the asker at its best or at its worst.
    pub best: bool,
    /// Why it was selected.
    pub why: String,
}
