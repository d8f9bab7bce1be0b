//! The lines of `records.jsonl` and `grades/NAME.jsonl`.

use crate::{PairId, SessionId};
use aske_chat::{Usage, Usd};
use aske_session::{Grade, Transcript};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the run folder's format.
pub const SCHEMA: u32 = 1;

/// One finished record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A session of the benchmark.
    Session(SessionRecord),
}

impl Record {
    /// Its name, unique in the run.
    pub fn id(&self) -> String {
        match self {
            Self::Session(session) => session.id().to_string(),
        }
    }
}

/// A finished session: what was asked and answered. The full replies are in the store of calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The format of this line.
    pub schema: u32,
    /// The pair of solvers.
    pub pair: PairId,
    /// Which of the pair's samples.
    pub sample: u32,
    /// Who asked.
    pub asker: String,
    /// The solvers as the asker knew them: Model 1 and Model 2.
    pub solvers: [String; 2],
    /// Every turn and the cross-check answers.
    #[serde(flatten)]
    pub transcript: Transcript,
    /// Calls, tokens and cost by role.
    pub used: BTreeMap<String, RoleUse>,
}

impl SessionRecord {
    /// Its name.
    pub fn id(&self) -> SessionId {
        SessionId { pair: self.pair.clone(), sample: self.sample }
    }
}

/// What one role's calls took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoleUse {
    /// Calls.
    pub calls: u64,
    /// Tokens.
    #[serde(flatten)]
    pub usage: Usage,
    /// Cost.
    pub usd: Usd,
}

impl RoleUse {
    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.usage += other.usage;
        self.usd += other.usd;
    }
}

/// One grade of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradeLine {
    /// The format of this line.
    pub schema: u32,
    /// The record's name.
    pub record: String,
    /// The grade.
    #[serde(flatten)]
    pub grade: Grade,
}
