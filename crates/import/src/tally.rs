//! What was left out, and what is not known of that which was taken.

use serde::Serialize;
use std::fmt;

/// Why a rollout was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Left {
    /// It ended in an error; a failure is never an outcome.
    Failed,
    /// Its number of asker turns is not that of a whole session.
    Unfinished,
    /// Several agents took part, and none is named `asker`.
    WhichAgent,
    /// Another model asked.
    OtherAsker,
    /// Its two solvers are one and the same.
    OneSolver,
    /// The very same session was there before.
    Twice,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed => "ended in an error",
            Self::Unfinished => "have another number of asker turns than a whole session",
            Self::WhichAgent => "have several agents, of which none is named `asker`",
            Self::OtherAsker => "were asked by another model",
            Self::OneSolver => "name the same solver twice",
            Self::Twice => "were there before",
        })
    }
}

/// What is not known of a session that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// Who asked.
    Asker,
    /// Who the two solvers are.
    Solvers,
    /// What the solvers said to a probing question.
    Probing,
    /// What the solvers said to the final question.
    Final,
    /// What the cross-check solver said.
    Check,
    /// The outcome.
    Outcome,
    /// Which of the two solvers was right, where one of them was.
    Right,
    /// Its number among the samples of its pair: another session had it before.
    Sample,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asker => "do not name their asker",
            Self::Solvers => "do not name their two solvers",
            Self::Probing => "do not tell all probing answers",
            Self::Final => "do not tell the answers to the final question",
            Self::Check => "do not tell the cross-check answers",
            Self::Outcome => "have no outcome",
            Self::Right => "do not tell which of the two solvers was right",
            Self::Sample => "have another's number among their pair's samples, and got a new one",
        })
    }
}
