//! Statistics of run folders: outcome shares, pairs, comparisons, audits, abilities and validity checks.
//!
//! A [`Run`] is the summary of a folder; [`evidence`] turns runs into tables, which the terminal, the report, the viewer and
//! `--json` show. Depends on `record`, `session` and `stats`.
//!
//! ```no_run
//! use aske_evidence::{Run, evidence};
//! let run = Run::read("runs/nano-nano-asker".as_ref(), None)?;
//! let tables = evidence(&[run]);
//! assert_eq!(tables.runs[0].outcomes.len(), 5);
//! # Ok::<(), aske_record::RunError>(())
//! ```

mod ability;
mod caveats;
mod cells;
mod checks;
mod compare;
mod headline;
mod highlights;
mod line;
mod panels;
mod run;
mod tables;
mod tally;
mod text;
mod validity;

pub use ability::ability as ability_of;
pub use caveats::{Caveats, Finding, SOLVER_LIMITS, caveats, few_pairs};
pub use checks::{Check, Severity, checks, severity};
pub use compare::pooled;
pub use headline::{Headline, headline};
pub use run::{ReplyCounts, Run, Session, SessionNotes, Solver, TurnCounts};
pub use tables::{
    Ability, AskerTurns, AuditEvidence, Baseline, Comparison, Count, Difficulty, Direction, Evidence,
    FinalQuestion, Flag, Highlight, PairCell, Regrade, RegradeRanks, RunEvidence, SessionCounts, Share,
    Skills, SolverInfo, SolverReplies, Target, Validity, Verdict,
};
pub use tally::{Tally, share};

use std::borrow::Borrow;

/// The results of some runs.
pub fn evidence<R: Borrow<Run>>(runs: &[R]) -> Evidence {
    let shown: Vec<RunEvidence> = runs.iter().map(|run| of_run(run.borrow())).collect();
    let regrades: Vec<Vec<Regrade>> = shown.iter().map(|run| run.regrades.clone()).collect();
    Evidence {
        comparisons: compare::comparisons(runs),
        ability: ability::ability(runs),
        regrades: compare::ranks(&regrades),
        runs: shown,
    }
}

/// The results of one run.
fn of_run(run: &Run) -> RunEvidence {
    let mut tally = Tally::default();
    for session in &run.sessions {
        if let Some(grade) = &session.grade {
            tally.add(&run.pair_id(session), session.sample, grade);
        }
    }
    let cells = cells::cells(run);
    let stored = run.stored();
    let replies_error = stored.as_ref().err().map(ToString::to_string);
    let (used, begun) = stored.unwrap_or_default();
    let (validity, held) = (validity::validity(run), run.held(begun));
    RunEvidence {
        name: run.folder(),
        path: run.path.display().to_string(),
        asker: run.asker.clone(),
        check: run.check(),
        grader: run.grader.clone(),
        solvers: solvers(run),
        sessions: tally.sessions(),
        ungraded: run.sessions.len() as u64 - tally.sessions(),
        held,
        replies_error,
        outcomes: tally.shares(),
        caveats: caveats::of_run(run, &validity, &held),
        direction: cells::direction(&cells),
        cells,
        audit: panels::audit(run),
        baseline: panels::baseline(run),
        difficulty: panels::difficulty(run),
        sampling: panels::sampling(run),
        regrades: compare::regrades(run),
        validity,
        used,
        highlights: highlights::highlights(run),
    }
}

fn solvers(run: &Run) -> Vec<SolverInfo> {
    let mut solvers: Vec<SolverInfo> = run
        .solvers
        .iter()
        .map(|solver| SolverInfo { name: solver.name.clone(), params: solver.params, right: 0, answered: 0 })
        .collect();
    for session in &run.sessions {
        for (place, right) in session.pair.into_iter().zip(session.right().into_iter().flatten()) {
            solvers[usize::from(place)].right += u64::from(right);
            solvers[usize::from(place)].answered += 1;
        }
    }
    solvers
}
