//! A finished rollout as plain data, which Python can change to JSON and back.

use aske_chat::{Finish, Message, Reply, Trace, Usage, Usd};
use aske_record::{GradeLine, Record, StoredCall};
use aske_session::{Domain, Grade, Outcome, Reward, SolverAnswer, Transcript, grade};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;

/// The result of a rollout.
#[derive(Serialize)]
pub(crate) struct Rollout {
    pub(crate) pair: String,
    pub(crate) sample: u32,
    #[serde(flatten)]
    pub(crate) graded: Graded,
    /// The answer that all cross-check draws gave.
    pub(crate) reference: Option<String>,
    /// The asker's conversation: turn `n` was sent the first `2 * n` messages.
    pub(crate) messages: Vec<Message>,
    pub(crate) turns: Vec<TurnData>,
    /// The cross-check solver's replies.
    pub(crate) check: Vec<CallData>,
    /// The asker's sampling, as it can be passed to another rollout.
    pub(crate) sampling: Map<String, Value>,
    /// A line of `records.jsonl`.
    pub(crate) record: Record,
    /// A line of `grades/standard.jsonl`.
    pub(crate) grade: GradeLine,
    /// Seconds spent waiting for the asker, and for other models.
    pub(crate) asker_s: f64,
    pub(crate) solvers_s: f64,
}

/// One turn of the asker, and the replies to its question.
#[derive(Serialize)]
pub(crate) struct TurnData {
    pub(crate) turn: u32,
    pub(crate) question: Option<String>,
    /// The asker's reply; none for a turn that no token was left for.
    pub(crate) reply: Option<CallData>,
    /// The replies of Model 1 and Model 2; none without a question.
    pub(crate) solvers: Vec<CallData>,
}

/// A reply with everything that is known about it.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct CallData {
    model: String,
    content: String,
    reasoning: Option<String>,
    finish_reason: Finish,
    /// The answer that was read; none for the asker.
    answer: Option<String>,
    /// The sampled tokens and their log-probabilities, and the tokens of the prompt, where they are known.
    token_ids: Option<Vec<u32>>,
    logprobs: Option<Vec<f32>>,
    prompt_token_ids: Option<Vec<u32>>,
    usage: Usage,
    usd: f64,
    latency_s: f64,
    attempts: u32,
    /// The hash of the request, in hexadecimal digits.
    request: String,
}

/// What `save_run` needs of a rollout.
#[derive(Deserialize)]
pub(crate) struct SavedRollout {
    pub(crate) pair: String,
    pub(crate) sample: u32,
    pub(crate) turns: Vec<SavedTurn>,
    pub(crate) check: Vec<CallData>,
    pub(crate) sampling: Map<String, Value>,
}

/// The replies of a turn.
#[derive(Deserialize)]
pub(crate) struct SavedTurn {
    pub(crate) turn: u32,
    pub(crate) reply: Option<CallData>,
    pub(crate) solvers: Vec<CallData>,
}

impl SavedRollout {
    /// Reads a rollout. Its other entries, such as a trainer's own, are not looked at.
    pub(crate) fn read(rollout: &Bound<'_, PyAny>) -> PyResult<Self> {
        let wrong = |what: String| {
            let hint = "hint: pass the dictionaries that `rollout`, `group` and `Episode.rollout` return";
            PyValueError::new_err(format!("not a rollout: {what}\n{hint}"))
        };
        let Ok(rollout) = rollout.cast::<PyDict>() else {
            return Err(wrong(format!(
                "{} is no dictionary; pass a list of rollouts",
                rollout.get_type().name()?
            )));
        };
        let part = PyDict::new(rollout.py());
        for name in ["pair", "sample", "turns", "check", "sampling"] {
            let value = rollout.get_item(name)?.ok_or_else(|| wrong(format!("it has no {name:?}")))?;
            part.set_item(name, value)?;
        }
        let text: String = rollout.py().import("json")?.call_method1("dumps", (part,))?.extract()?;
        let read: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let replies = read.turns.iter().flat_map(|turn| turn.reply.iter().chain(&turn.solvers));
        for reply in replies.chain(&read.check) {
            let is_amount = |amount: f64| amount.is_finite() && amount >= 0.0;
            let counts = [reply.usage.prompt, reply.usage.completion, reply.usage.cached];
            let fits = counts.iter().all(|tokens| i64::try_from(*tokens).is_ok());
            if !(is_amount(reply.usd) && is_amount(reply.latency_s) && fits) {
                return Err(wrong("usd, latency_s or usage of a reply is out of range".to_owned()));
            }
        }
        Ok(read)
    }
}

impl CallData {
    pub(crate) fn new(call: &StoredCall, answer: Option<String>) -> Self {
        let StoredCall { model, request, reply, latency, attempts, cost } = call;
        let trace = reply.trace.as_ref();
        Self {
            model: model.clone(),
            content: reply.content.clone(),
            reasoning: reply.reasoning.clone(),
            finish_reason: reply.finish,
            answer,
            token_ids: trace.map(|trace| trace.tokens.clone()).filter(|ids| !ids.is_empty()),
            logprobs: trace.map(|trace| trace.logprobs.clone()).filter(|logprobs| !logprobs.is_empty()),
            prompt_token_ids: trace.map(|trace| trace.prompt.clone()).filter(|ids| !ids.is_empty()),
            usage: reply.usage,
            usd: cost.0,
            latency_s: latency.as_secs_f64(),
            attempts: *attempts,
            request: format!("{:032x}", u128::from_be_bytes(*request)),
        }
    }

    /// A solver's reply with the answer that was read in it.
    pub(crate) fn solved(call: &StoredCall, domain: &Domain) -> Self {
        Self::new(call, SolverAnswer::read(&call.reply, domain).answer)
    }

    /// Whether it answers this request.
    pub(crate) fn answers(&self, model: &str, request: [u8; 16]) -> bool {
        self.model == model && self.request == Self::new(&empty_call(model, request), None).request
    }

    /// The reply, with latency, attempts and cost.
    pub(crate) fn completion(&self) -> aske_model::Completion {
        let list = |ids: &Option<Vec<u32>>| ids.clone().unwrap_or_default();
        let trace = Trace {
            tokens: list(&self.token_ids),
            logprobs: self.logprobs.clone().unwrap_or_default(),
            version: None,
            prompt: list(&self.prompt_token_ids),
        };
        aske_model::Completion {
            reply: Reply {
                content: self.content.clone(),
                reasoning: self.reasoning.clone(),
                finish: self.finish_reason,
                usage: self.usage,
                trace: Some(trace).filter(|trace| *trace != Trace::default()),
            },
            latency: Duration::try_from_secs_f64(self.latency_s).unwrap_or_default(),
            attempts: self.attempts,
            cost: Usd(self.usd),
        }
    }
}

fn empty_call(model: &str, request: [u8; 16]) -> StoredCall {
    StoredCall {
        model: model.to_owned(),
        request,
        reply: Reply::default(),
        latency: Duration::ZERO,
        attempts: 1,
        cost: Usd::default(),
    }
}

/// The grade and the reward of a transcript.
#[derive(Serialize)]
pub(crate) struct Graded {
    pub(crate) outcome: Outcome,
    /// Whether Model 1 and Model 2 are right, if the cross-check answers agree.
    right: Option<[bool; 2]>,
    /// The final question.
    pub(crate) question: Option<String>,
    pub(crate) novelty: f64,
    pub(crate) reward: Reward,
    pub(crate) total: f64,
}

impl Graded {
    /// The answer that all cross-check draws gave.
    pub(crate) fn reference(&self, transcript: &Transcript) -> Option<String> {
        self.right.and(transcript.check.first()?.clone())
    }
}

/// Grades symbolically, as training does, and computes the reward with weight 1 for novelty.
pub(crate) fn graded(transcript: &Transcript, domain: &Domain, novelty: f64) -> Graded {
    rewarded(transcript, &symbolic(transcript, domain), novelty, 1.0)
}

/// Computes the reward with weight `alpha` for novelty.
pub(crate) fn rewarded(transcript: &Transcript, grade: &Grade, novelty: f64, alpha: f64) -> Graded {
    let reward = Reward::of(grade.outcome, transcript, alpha * novelty);
    let question = transcript.answers().question.map(str::to_owned);
    Graded { outcome: grade.outcome, right: grade.right, question, novelty, reward, total: reward.total() }
}

pub(crate) fn symbolic(transcript: &Transcript, domain: &Domain) -> Grade {
    // Without a checker no verdict is missing.
    grade(&transcript.answers(), domain, None)
        .unwrap_or_else(|_| Grade { undecided: true, ..Grade::new(Outcome::BadCrossCheck, None) })
}
