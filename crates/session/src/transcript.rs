//! The transcript of a session.

use crate::{Domain, Section, Side, TurnError, split_thinking};
use aske_chat::{Finish, Reply};
use serde::{Deserialize, Serialize};

/// A solver's answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SolverAnswer {
    /// The answer that was read, if any.
    pub answer: Option<String>,
    /// Why the reply ended.
    pub finish: Finish,
}

impl SolverAnswer {
    /// Reads the answer of a reply.
    pub fn read(reply: &Reply, domain: &Domain) -> Self {
        Self { answer: domain.read(&split_thinking(&reply.content)), finish: reply.finish }
    }
}

/// One asker turn and the answers it got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The question as forwarded.
    pub question: Option<String>,
    /// Whether it was cut to the word limit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Why there is no question.
    #[serde(default, rename = "trouble", skip_serializing_if = "Option::is_none")]
    pub error: Option<TurnError>,
    /// Required sections that the reply lacked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Section>,
    /// The two solvers' answers; none without a question.
    pub solved: Option<[SolverAnswer; 2]>,
}

/// Every turn of a session, the final one last, and the cross-check answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    /// The probing turns and the final turn.
    pub turns: Vec<Turn>,
    /// One answer for each cross-check draw; empty without a final question.
    pub check: Vec<Option<String>>,
}

/// The answers to the final question, as grading needs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answers<'t> {
    /// The final question.
    pub question: Option<&'t str>,
    /// The boundary solvers' answers.
    pub solvers: [Option<&'t str>; 2],
    /// The cross-check answers.
    pub check: Vec<Option<&'t str>>,
}

impl Transcript {
    /// Whether the solvers' answers to the final question are known, if there is one.
    pub fn is_answered(&self) -> bool {
        self.turns.last().is_some_and(|turn| turn.question.is_none() || turn.solved.is_some())
    }

    /// The answers to the final question, for grading.
    pub fn answers(&self) -> Answers<'_> {
        let last = self.turns.last();
        let solver = |side: Side| {
            last.and_then(|turn| turn.solved.as_ref()).and_then(|s| s[side.index()].answer.as_deref())
        };
        Answers {
            question: last.and_then(|turn| turn.question.as_deref()),
            solvers: Side::BOTH.map(solver),
            check: self.check.iter().map(Option::as_deref).collect(),
        }
    }
}
