//! What runs show: outcome shares, maps of pairs, comparisons, audits, scales and doubts.
//!
//! A [`Run`] is a folder read in brief; the tables are plain values. May use `record`, `session` and `stats`.

mod line;
mod run;
mod tables;
mod text;

pub use run::{Notes, Run, Session, Solver};
pub use tables::{
    Ability, AskerTurns, AuditEvidence, Baseline, Comparison, Count, Difficulty, Direction, Evidence, Flag,
    Highlight, PairCell, Regrade, RegradeRanks, RunEvidence, Share, Skills, SolverInfo, SolverReplies,
    Target, Validity, Verdict,
};
pub use text::Fingerprint;

/// Everything about some runs.
pub fn evidence(runs: &[Run]) -> Result<Evidence, aske_record::RunError> {
    let _ = runs;
    Ok(Evidence { runs: Vec::new(), comparisons: Vec::new(), ability: None, regrades: Vec::new() })
}
