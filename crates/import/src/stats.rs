//! Counts of imported sessions, skipped rollouts and missing data.

use crate::convert::ConvertedSession;
use crate::{Field, ImportError, LineError, MissingData, SkipReason};
use std::collections::{BTreeMap, BTreeSet};

/// How many unreadable lines are listed.
const LISTED: usize = 20;

/// Counts of an import.
#[derive(Clone, Debug, Default)]
pub struct ImportStats {
    /// Imported sessions.
    pub sessions: u64,
    /// Sessions with a grade.
    pub graded: u64,
    /// Most cross-check answers of a session.
    pub check_draws: u32,
    /// Skipped rollouts by reason.
    pub left: BTreeMap<SkipReason, u64>,
    /// Sessions by missing data.
    pub gaps: BTreeMap<MissingData, u64>,
    /// Mapped fields that no rollout has.
    pub unfound: Option<BTreeSet<Field>>,
    /// Unreadable lines.
    pub bad: u64,
    /// The first of them.
    pub bad_lines: Vec<LineError>,
}

impl ImportStats {
    /// Counts an unreadable line; fails if `strict`.
    pub(crate) fn bad_line(&mut self, bad: LineError, strict: bool) -> Result<(), ImportError> {
        if strict {
            return Err(ImportError::Line(bad));
        }
        self.bad += 1;
        if self.bad_lines.len() < LISTED {
            self.bad_lines.push(bad);
        }
        Ok(())
    }

    /// Counts a session.
    pub(crate) fn session(&mut self, taken: &ConvertedSession) {
        let draws = u32::try_from(taken.record.transcript.check.len()).unwrap_or(u32::MAX);
        self.sessions += 1;
        self.graded += u64::from(taken.grades[0].is_some());
        self.check_draws = self.check_draws.max(draws);
        for gap in &taken.gaps {
            *self.gaps.entry(*gap).or_default() += 1;
        }
    }

    /// Counts mapped fields that a rollout does not have.
    pub(crate) fn absent(&mut self, absent: BTreeSet<Field>) {
        self.unfound = Some(match self.unfound.take() {
            Some(before) => before.intersection(&absent).copied().collect(),
            None => absent,
        });
    }

    /// Why nothing was imported, as text.
    pub(crate) fn reasons(&self) -> String {
        let left = self.left.iter().map(|(why, count)| format!("\n  {count} {why}"));
        let bad = self.bad_lines.first().map(|first| format!("\n  {} unreadable, such as {first}", self.bad));
        left.chain(bad).collect()
    }
}
