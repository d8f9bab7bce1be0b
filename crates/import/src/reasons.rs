//! Why rollouts are skipped, and what is missing in imported sessions.

use serde::Serialize;
use std::fmt;

/// Why a rollout was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// It ended in an error; a failure is never an outcome.
    Failed,
    /// Its number of asker turns is not that of a complete session.
    Unfinished,
    /// It has several agents, none of which is named `asker`.
    #[serde(rename = "which_agent")]
    NoAskerAgent,
    /// Another model asked.
    OtherAsker,
    /// Its two solvers are the same.
    #[serde(rename = "one_solver")]
    SameSolvers,
    /// A duplicate of another session.
    #[serde(rename = "twice")]
    Duplicate,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed => "ended in an error",
            Self::Unfinished => "do not have the number of asker turns of a complete session",
            Self::NoAskerAgent => "have several agents, none of which is named `asker`",
            Self::OtherAsker => "were asked by another model",
            Self::SameSolvers => "name the same solver twice",
            Self::Duplicate => "are duplicates",
        })
    }
}

/// What is missing in an imported session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingData {
    /// The name of the asker.
    Asker,
    /// The names of the solvers.
    Solvers,
    /// Solver answers to a probing question.
    Probing,
    /// Solver answers to the final question.
    Final,
    /// Cross-check answers.
    Check,
    /// The outcome.
    Outcome,
    /// Which of the two solvers was right, if one was.
    Right,
    /// Its sample number, which another session has.
    Sample,
}

impl fmt::Display for MissingData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asker => "do not name their asker",
            Self::Solvers => "do not name their two solvers",
            Self::Probing => "lack probing answers",
            Self::Final => "lack the answers to the final question",
            Self::Check => "lack the cross-check answers",
            Self::Outcome => "have no outcome",
            Self::Right => "do not say which of the two solvers was right",
            Self::Sample => "have the sample number of another session and got a new one",
        })
    }
}
