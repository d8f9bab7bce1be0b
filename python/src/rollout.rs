//! Runs one session. Nothing is stored: the trainer records what it needs.

use crate::history::History;
use aske_config::{RoleSettings, Settings};
use aske_model::{Completion, Halt, Model, Request};
use aske_record::{GradeLine, RoleUsage, SessionId, SessionRecord};
use aske_session::{
    Domain, Grade, GradingRules, Need, Outcome, Reward, Role, Seed, Session, Transcript, grade,
};
use futures_util::future::try_join_all;
use serde::Serialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

/// The models of a rollout by role.
pub(crate) struct RolloutModels {
    pub(crate) asker: Arc<Model>,
    pub(crate) solvers: [Arc<Model>; 2],
    pub(crate) check: Arc<Model>,
}

impl RolloutModels {
    fn role<'s>(&'s self, role: Role, settings: &'s Settings) -> (&'s Model, &'s RoleSettings) {
        let solver = |model: &'s Arc<Model>| {
            let role = settings.solvers.iter().find(|solver| solver.model == model.name());
            (model.as_ref(), role.unwrap_or(&settings.check))
        };
        match role {
            Role::Asker => (&self.asker, &settings.asker),
            Role::Solver(side) => solver(&self.solvers[side.index()]),
            _ => (&self.check, &settings.check),
        }
    }
}

/// The result of a rollout.
#[derive(Serialize)]
pub(crate) struct Rollout {
    #[serde(flatten)]
    pub(crate) graded: Graded,
    /// A line of `records.jsonl`.
    pub(crate) record: SessionRecord,
    /// A line of `grades/standard.jsonl`.
    pub(crate) grade: GradeLine,
    /// Seconds spent waiting for the asker, and for other models.
    pub(crate) asker_s: f64,
    pub(crate) solvers_s: f64,
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

/// Grades symbolically, as training does, and computes the reward with weight 1 for novelty.
pub(crate) fn graded(transcript: &Transcript, domain: &Domain, novelty: f64) -> Graded {
    rewarded(transcript, &symbolic(transcript, domain), novelty, 1.0)
}

/// Computes the reward with weight `alpha` for novelty.
fn rewarded(transcript: &Transcript, grade: &Grade, novelty: f64, alpha: f64) -> Graded {
    let reward = Reward::of(grade.outcome, transcript, alpha * novelty);
    let question = transcript.answers().question.map(str::to_owned);
    Graded { outcome: grade.outcome, right: grade.right, question, novelty, reward, total: reward.total() }
}

fn symbolic(transcript: &Transcript, domain: &Domain) -> Grade {
    // Without a checker no verdict is missing.
    grade(&transcript.answers(), domain, None)
        .unwrap_or_else(|_| Grade { undecided: true, ..Grade::new(Outcome::BadCrossCheck, None) })
}

/// Runs one session to its end. A call that fails after all attempts ends it without a score.
pub(crate) async fn rollout(
    settings: &Settings,
    id: SessionId,
    models: &RolloutModels,
    history: Option<&(History, f64)>,
) -> Result<Rollout, Box<dyn Error + Send + Sync>> {
    let halt = &Halt::default();
    let name = id.to_string();
    let seed = Seed(settings.run.seed);
    let mut session = Session::new(settings.protocol.clone(), settings.pack.clone(), settings.domain);
    let mut used: BTreeMap<String, RoleUsage> = BTreeMap::new();
    let (mut asker_s, mut solvers_s) = (0.0, 0.0);
    let transcript = loop {
        let calls = match session.need() {
            Need::Calls(calls) => calls,
            Need::Done(transcript) => break transcript.clone(),
        };
        let start = Instant::now();
        let is_asker = calls.iter().any(|call| call.slot.role == Role::Asker);
        let replies = try_join_all(calls.into_iter().map(|call| {
            let (model, role) = models.role(call.slot.role, settings);
            let request = Request {
                messages: call.messages,
                max_tokens: call.max_tokens,
                sampling: role.sampling.clone(),
                seed: seed.of_call(&name, call.slot),
                client: None,
            };
            async move { model.complete(&request, halt).await.map(|done| (call.slot, done)) }
        }))
        .await?;
        *(if is_asker { &mut asker_s } else { &mut solvers_s }) += start.elapsed().as_secs_f64();
        for (slot, Completion { reply, cost, .. }) in replies {
            used.entry(slot.role.as_str().to_owned()).or_default().add(&RoleUsage {
                calls: 1,
                usage: reply.usage,
                usd: cost,
            });
            session.feed(slot, reply)?;
        }
    };
    let grade = symbolic(&transcript, &settings.domain);
    let (novelty, alpha) = match (transcript.answers().question, history) {
        (Some(question), Some((history, alpha))) => (history.novelty(question, halt).await?, *alpha),
        _ => (0.0, 0.0),
    };
    let graded = rewarded(&transcript, &grade, novelty, alpha);
    let (asker, solvers) = (settings.asker.model.clone(), id.solvers(seed));
    let record = SessionRecord::new(id, asker, solvers, transcript, used);
    let grade = GradeLine::new(name, grade, GradingRules::current(&settings.domain, false));
    Ok(Rollout { graded, record, grade, asker_s, solvers_s })
}
