//! The numbers of a run for a list of runs: those of its tables, without what takes long.

use crate::tally::Tally;
use crate::{Finding, Run, Share, caveats, panels, validity};
use aske_record::RoleUsage;
use aske_session::Outcome;
use aske_stats::{AdaptiveEstimate, Estimate};
use std::collections::BTreeMap;

/// The numbers of a run for a list of runs; each is the one in its tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// The calibrated share of the graded sessions.
    pub calibrated: Share,
    /// Pairs with a graded session.
    pub pairs: usize,
    /// The weighted estimate, if `aske bench --until` chose the sessions.
    pub sampling: Option<AdaptiveEstimate>,
    /// The real separation, if `aske audit` has run.
    pub separation: Option<Estimate>,
    /// Validity checks above their limit, problems first.
    pub findings: Vec<Finding>,
    /// Calls, tokens and cost by role.
    pub used: BTreeMap<String, RoleUsage>,
    /// Why the stored replies cannot be read; the sessions can.
    pub replies_error: Option<String>,
}

/// The headline of a run.
pub fn headline(run: &Run) -> Headline {
    let mut tally = Tally::default();
    for session in &run.sessions {
        if let Some(grade) = &session.grade {
            tally.add(&run.pair_id(session), session.sample, grade);
        }
    }
    let stored = run.stored();
    let replies_error = stored.as_ref().err().map(ToString::to_string);
    let (used, begun) = stored.unwrap_or_default();
    Headline {
        calibrated: tally.share(Outcome::Calibrated),
        pairs: tally.pairs(),
        sampling: panels::sampling(run),
        separation: panels::audit(run).map(|audit| audit.estimates.separation),
        findings: caveats::findings(&validity::validity(run), &run.held(begun)),
        used,
        replies_error,
    }
}
