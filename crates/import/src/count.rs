//! What an import has brought so far.

use crate::taken::Taken;
use crate::{BadLine, Gap, ImportError, Key, Left};
use std::collections::{BTreeMap, BTreeSet};

/// Lines that cannot be read and are named one by one.
const NAMED: usize = 20;

/// Sessions that were taken, rollouts that were not, and what is missing.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// Sessions.
    pub sessions: u64,
    /// Sessions with a grade.
    pub graded: u64,
    /// The most cross-check answers that a session has.
    pub check_draws: u32,
    /// Rollouts that were left out.
    pub left: BTreeMap<Left, u64>,
    /// What is not known of how many sessions.
    pub gaps: BTreeMap<Gap, u64>,
    /// Keys that the user has mapped and that no rollout has.
    pub unfound: Option<BTreeSet<Key>>,
    /// Lines that cannot be read.
    pub bad: u64,
    /// The first of these.
    pub bad_lines: Vec<BadLine>,
}

impl Count {
    /// Counts a line that cannot be read; one is too many where all must be.
    pub(crate) fn bad_line(&mut self, bad: BadLine, strict: bool) -> Result<(), ImportError> {
        if strict {
            return Err(ImportError::Line(bad));
        }
        self.bad += 1;
        if self.bad_lines.len() < NAMED {
            self.bad_lines.push(bad);
        }
        Ok(())
    }

    /// Counts a session.
    pub(crate) fn session(&mut self, taken: &Taken) {
        let draws = u32::try_from(taken.record.transcript.check.len()).unwrap_or(u32::MAX);
        self.sessions += 1;
        self.graded += u64::from(taken.grades[0].is_some());
        self.check_draws = self.check_draws.max(draws);
        for gap in &taken.gaps {
            *self.gaps.entry(*gap).or_default() += 1;
        }
    }

    /// Notes which mapped keys a rollout does not have.
    pub(crate) fn absent(&mut self, absent: BTreeSet<Key>) {
        self.unfound = Some(match self.unfound.take() {
            Some(before) => before.intersection(&absent).copied().collect(),
            None => absent,
        });
    }

    /// Why there is nothing, in words.
    pub(crate) fn reasons(&self) -> String {
        let left = self.left.iter().map(|(why, count)| format!("\n  {count} {why}"));
        let bad =
            self.bad_lines.first().map(|first| format!("\n  {} cannot be read, such as {first}", self.bad));
        left.chain(bad).collect()
    }
}
