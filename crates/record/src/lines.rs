//! The lines of `records.jsonl` and `grades/NAME.jsonl`.

use crate::{PairId, SessionId};
use aske_chat::{Finish, Usage, Usd};
use aske_session::{Grade, GradingRules, Role, SolverAnswer, Transcript};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The version of the run folder's format.
pub const SCHEMA: u32 = 1;

/// One finished record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A session of the benchmark.
    Session(SessionRecord),
    /// A question asked without probing, put to every solver.
    Baseline(PanelRecord),
    /// A session's final question, put to its solvers again and again, and to two others.
    Audit(PanelRecord),
    /// A session's final question, put to an independent solver.
    Difficulty(PanelRecord),
    /// One sample of a model's answers to a problem of a benchmark.
    Eval(EvalRecord),
}

impl Record {
    /// Its name, unique in the run.
    pub fn id(&self) -> String {
        match self {
            Self::Session(session) => session.id().to_string(),
            Self::Baseline(panel) => format!("baseline/{}", panel.name),
            Self::Audit(panel) => format!("audit/{}", panel.name),
            Self::Difficulty(panel) => format!("difficulty/{}", panel.name),
            Self::Eval(sample) => sample.id(),
        }
    }

    /// The session itself, where it is one.
    pub fn into_session(self) -> Option<SessionRecord> {
        match self {
            Self::Session(session) => Some(session),
            _ => None,
        }
    }

    /// The session, where it is one.
    pub fn session(&self) -> Option<&SessionRecord> {
        match self {
            Self::Session(session) => Some(session),
            _ => None,
        }
    }
}

/// One question that several solvers answer outside of a session; the answers are judged when the record is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PanelRecord {
    /// The format of this line.
    pub schema: u32,
    /// Its name, unique among its kind in the run.
    pub name: String,
    /// The session whose final question it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The question, if the asker wrote one.
    pub question: Option<String>,
    /// The cross-check answers.
    pub check: Vec<Option<String>>,
    /// Every solver's answers, a draw each.
    pub answers: BTreeMap<String, Vec<SolverAnswer>>,
    /// Which of these are right; `None` without a question, or if the cross-check answers do not all agree.
    pub right: Option<BTreeMap<String, Vec<bool>>>,
    /// The rules by which the answers were judged.
    #[serde(flatten)]
    pub rules: GradingRules,
    /// Calls, tokens and cost by role.
    pub used: BTreeMap<String, RoleUsage>,
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
    /// The asker.
    pub asker: String,
    /// The solvers as the asker knew them: Model 1 and Model 2.
    pub solvers: [String; 2],
    /// Every turn and the cross-check answers.
    #[serde(flatten)]
    pub transcript: Transcript,
    /// Calls, tokens and cost by role.
    pub used: BTreeMap<String, RoleUsage>,
}

impl SessionRecord {
    /// The record of a finished session.
    pub fn new(
        id: SessionId,
        asker: String,
        solvers: [String; 2],
        transcript: Transcript,
        used: BTreeMap<String, RoleUsage>,
    ) -> Self {
        let SessionId { pair, sample } = id;
        Self { schema: SCHEMA, pair, sample, asker, solvers, transcript, used }
    }

    /// Its name.
    pub fn id(&self) -> SessionId {
        SessionId { pair: self.pair.clone(), sample: self.sample }
    }
}

/// A model's answer to a problem of a benchmark; it is judged when the record is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvalRecord {
    /// The format of this line.
    pub schema: u32,
    /// The dataset's name.
    pub dataset: String,
    /// The dataset's name in tables, where it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The problem's name in it.
    pub problem: String,
    /// Which of the problem's samples.
    pub sample: u32,
    /// Its level of difficulty in the dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u32>,
    /// The model that answered.
    pub model: String,
    /// The problem as the dataset has it, without the instruction.
    pub question: String,
    /// The answer as the dataset has it.
    pub reference: String,
    /// What was answered, and why the reply ended.
    #[serde(flatten)]
    pub solved: SolverAnswer,
    /// The answer stood in a box.
    pub boxed: bool,
    /// It is the reference answer.
    pub right: bool,
    /// What decided: `none` without an answer to compare, `judge`, or the method of the comparison.
    pub by: String,
    /// The name of the comparison, with its version, where it decided. Versions that did not store it used an earlier one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Cow<'static, str>>,
    /// Calls, tokens and cost by role.
    pub used: BTreeMap<String, RoleUsage>,
}

impl EvalRecord {
    /// Its name.
    pub fn id(&self) -> String {
        format!("eval/{}/{}/{}", self.dataset, self.problem, self.sample)
    }

    /// The reply ran into the token limit.
    pub fn is_capped(&self) -> bool {
        self.solved.finish == Finish::Length
    }

    /// Tokens that the model wrote.
    pub fn completion_tokens(&self) -> u64 {
        self.used.get(Role::Panel.as_str()).map_or(0, |used| used.usage.completion)
    }
}

/// Calls, tokens and cost of one role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RoleUsage {
    /// Calls.
    pub calls: u64,
    /// Tokens.
    #[serde(flatten)]
    pub usage: Usage,
    /// Cost.
    pub usd: Usd,
}

/// Calls of one role to one model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelUsage {
    /// The role.
    pub role: String,
    /// The model.
    pub model: String,
    /// Calls, tokens and cost.
    #[serde(flatten)]
    pub used: RoleUsage,
    /// Calls that took more than one attempt.
    pub retried: u64,
    /// Attempts besides the first of each call.
    pub retries: u64,
    /// Replies cut at the token limit.
    pub truncated: u64,
    /// Seconds of all calls together.
    pub seconds: f64,
    /// Seconds of the slowest call.
    pub slowest: f64,
}

impl RoleUsage {
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
    /// The cross-check answers it rests on, where they are not the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Vec<Option<String>>>,
    /// The rules by which it was made.
    #[serde(flatten)]
    pub rules: GradingRules,
}

impl GradeLine {
    /// A grade that rests on the session's own cross-check answers.
    pub fn new(record: String, grade: Grade, rules: GradingRules) -> Self {
        Self { schema: SCHEMA, record, grade, check: None, rules }
    }
}

/// One randomly drawn session, with the probability of the draw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DrawLine {
    /// The format of this line.
    pub schema: u32,
    /// Sessions of one batch were chosen together, from 0.
    pub batch: u64,
    /// The session.
    pub record: String,
    /// The pair's place among all that could be chosen.
    pub pair: usize,
    /// How many pairs could be chosen.
    pub pairs: usize,
    /// The probability with which one draw of the batch takes this pair.
    pub probability: f64,
    /// Whether every pair was taken equally often, by design and not at random.
    pub fixed: bool,
}
