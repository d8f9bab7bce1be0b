//! Grading with the equivalence checker, where there is one.

use crate::{CallError, Caller, ModelRegistry};
use aske_chat::{Finish, Message};
use aske_config::{RoleSettings, Settings};
use aske_model::{ErrorCause, Model, ModelError};
use aske_session::{
    AnswerPair, Call, Domain, Grade, GradingRules, MissingVerdicts, Pack, Role, Slot, Transcript, Verdicts,
    grade, judge, read_verdict,
};
use futures_util::future::join_all;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::OnceCell;

/// New draws per start for a verdict that can be parsed.
const NEW_DRAWS: u32 = 3;

/// Grades sessions; each answer pair goes to the equivalence checker once per run.
pub struct Grader {
    domain: Domain,
    pack: Arc<Pack>,
    checker: Option<EquivalenceChecker>,
}

/// Parses a checker's reply; `None` where it is neither yes nor no.
pub type VerdictReader = fn(&str) -> Option<bool>;

/// A model that answers yes or no; each question is asked once per run.
pub struct EquivalenceChecker {
    model: Arc<Model>,
    role: RoleSettings,
    tokens: u32,
    read: VerdictReader,
    /// Verdicts by record name; `None` where the reply could not be parsed.
    verdicts: Mutex<HashMap<String, Arc<OnceCell<Option<bool>>>>>,
}

impl EquivalenceChecker {
    /// The checker of a role; none where the registry has no such model.
    pub fn new(
        models: &ModelRegistry,
        role: &RoleSettings,
        tokens: u32,
        read: VerdictReader,
    ) -> Option<Self> {
        let model = models.get(&role.model)?.clone();
        Some(Self { model, role: role.clone(), tokens, read, verdicts: Mutex::default() })
    }

    /// The verdict on these messages, stored under `record`. A reply that cannot be parsed is an error, not a "no".
    pub async fn verdict(
        &self,
        record: &str,
        messages: &[Message],
        caller: &Caller<'_>,
    ) -> Result<bool, CallError> {
        let cell = self.verdicts.lock().entry(record.to_owned()).or_default().clone();
        let said = cell.get_or_try_init(|| self.ask(record, messages, caller)).await?;
        said.ok_or_else(|| {
            let message = "an equivalence verdict that is neither yes nor no";
            ModelError::new(self.model.name(), ErrorCause::Malformed, message, NEW_DRAWS).into()
        })
    }

    /// Replays the stored draws and then makes a few new ones, until one can be parsed.
    async fn ask(
        &self,
        record: &str,
        messages: &[Message],
        caller: &Caller<'_>,
    ) -> Result<Option<bool>, CallError> {
        let replay = caller.stored_replies(record)?;
        let mut new = 0;
        for draw in 0.. {
            let slot = Slot { turn: 0, role: Role::Equivalence, draw };
            new += u32::from(!replay.contains_key(&slot));
            if new > NEW_DRAWS {
                break;
            }
            let call = Call { slot, messages: messages.to_vec(), max_tokens: self.tokens };
            let answer = caller.call(record, call, (&self.model, &self.role), &replay).await?;
            // A truncated reply may have continued to the contrary.
            let whole = answer.call.reply.finish != Finish::Length;
            if let Some(verdict) = (self.read)(&answer.call.reply.content).filter(|_| whole) {
                return Ok(Some(verdict));
            }
        }
        Ok(None)
    }
}

impl Grader {
    /// The grader of these settings.
    pub fn new(settings: &Settings, models: &ModelRegistry) -> Self {
        let checker = settings
            .equivalence
            .as_ref()
            .and_then(|(role, tokens)| EquivalenceChecker::new(models, role, *tokens, read_verdict));
        Self { domain: settings.domain, pack: settings.pack.clone(), checker }
    }

    /// The rules of its grades.
    pub fn rules(&self) -> GradingRules {
        GradingRules::current(&self.domain, self.checker.is_some())
    }

    /// Grades a session. A missing verdict is an error, not a grade.
    pub async fn grade(&self, transcript: &Transcript, caller: &Caller<'_>) -> Result<Grade, CallError> {
        let answers = transcript.answers();
        self.resolve(|verdicts| grade(&answers, &self.domain, verdicts), caller).await
    }

    /// Judges which of these answers are right; none where the cross-check answers do not agree.
    pub(crate) async fn judge(
        &self,
        check: &[Option<&str>],
        answers: &[Option<&str>],
        caller: &Caller<'_>,
    ) -> Result<Option<Vec<bool>>, CallError> {
        self.resolve(|verdicts| judge(check, answers, &self.domain, verdicts), caller).await
    }

    /// Repeats `decide` with more verdicts until none is missing.
    async fn resolve<T>(
        &self,
        decide: impl Fn(Option<&Verdicts>) -> Result<T, MissingVerdicts>,
        caller: &Caller<'_>,
    ) -> Result<T, CallError> {
        let mut verdicts = self.checker.as_ref().map(|_| Verdicts::new());
        loop {
            let missing = match decide(verdicts.as_ref()) {
                Ok(decided) => return Ok(decided),
                Err(missing) => missing,
            };
            let asked = missing.into_iter().map(|pair| async move {
                let verdict = self.verdict(&pair, caller).await?;
                Ok::<_, CallError>((pair, verdict))
            });
            for answer in join_all(asked).await {
                let (pair, verdict) = answer?;
                verdicts.get_or_insert_default().insert(pair, verdict);
            }
        }
    }

    async fn verdict(&self, pair: &AnswerPair, caller: &Caller<'_>) -> Result<bool, CallError> {
        let Some(checker) = &self.checker else { return Ok(false) };
        let AnswerPair { reference, candidate } = pair;
        let messages = self.pack.equivalence(reference, candidate);
        checker.verdict(&record_name("equivalence", &[reference, candidate]), &messages, caller).await
    }
}

/// Whether grades by these rules are those that these settings produce.
pub fn is_current(settings: &Settings, rules: &GradingRules) -> bool {
    let current = GradingRules::current(&settings.domain, settings.equivalence.is_some());
    rules.comparison == current.comparison && (current.checker.is_none() || rules.checker == current.checker)
}

/// The record name of a verdict on these texts: the same in every run.
pub fn record_name(kind: &str, texts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    if let [before @ .., last] = texts {
        for text in before {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.update(last.as_bytes());
    }
    format!("{kind}/{}", &hasher.finalize().to_hex()[..32])
}
