//! The watch against collapse: what a step's questions look like to others than the policy.
//!
//! A policy that judges itself can raise its own reward by asking one question again and again, or by answering
//! wrongly in its own favour. So each step is looked at from outside. Nothing of this enters the reward.

use super::{Line, Rollout};
use aske_config::RoleSettings;
use aske_model::{Halt, Model, ModelError, Request};
use aske_nano::understand;
use aske_session::{Domain, Judging, Outcome, Pack, SolverAnswer, judge};
use futures_util::stream::{self, StreamExt};
use serde::Serialize;
use std::collections::HashSet;
use std::sync::Arc;

/// Who looks, and at how much.
pub struct Watch {
    /// The fixed cross-check solver, if any, and how it samples.
    pub check: Option<(Arc<Model>, RoleSettings)>,
    /// Questions of a step that it is asked about at most.
    pub questions: usize,
    /// Its tokens.
    pub tokens: u32,
    /// Questions are of the nano world, whose oracle knows every answer.
    pub oracle: bool,
    /// What is compared.
    pub domain: Domain,
    /// How a question is put.
    pub pack: Arc<Pack>,
}

/// What was seen in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Different final questions, as a share of all.
    pub distinct: f64,
    /// The share of rollouts with a question that has an answer.
    pub valid: f64,
    /// How often policy and fixed check agree.
    pub agreement: Option<f64>,
    /// The share that is calibrated by the fixed check.
    pub fixed_calibrated: Option<f64>,
    /// How often the policy's answer is the oracle's.
    pub truth: Option<f64>,
}

/// A share that fell below what is allowed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alarm {
    /// What fell.
    pub what: &'static str,
    /// How far.
    pub share: f64,
    /// What is allowed.
    pub least: f64,
}

impl Watch {
    /// Looks at a step's rollouts.
    pub async fn look(&self, rollouts: &[&Rollout], halt: &Halt) -> Result<Seen, ModelError> {
        let count = rollouts.len().max(1) as f64;
        let answered: Vec<(&Rollout, &str)> = rollouts
            .iter()
            .filter_map(|rollout| Some((*rollout, rollout.transcript.answers().question?)))
            .collect();
        let different: HashSet<String> = answered.iter().map(|(_, question)| plain(question)).collect();
        let truths: Vec<(&Rollout, Option<String>)> =
            answered.iter().map(|(rollout, question)| (*rollout, self.truth(question))).collect();
        let valid = if self.oracle {
            truths.iter().filter(|(_, truth)| truth.is_some()).count()
        } else {
            answered.iter().filter(|(rollout, _)| own_answer(rollout).is_some()).count()
        };
        let known: Vec<(&Rollout, String)> =
            truths.into_iter().filter_map(|(rollout, truth)| Some((rollout, truth?))).collect();
        let right =
            known.iter().filter(|(rollout, truth)| self.same(Some(truth), own_answer(rollout))).count();
        let mut seen = Seen {
            distinct: different.len() as f64 / answered.len().max(1) as f64,
            valid: valid as f64 / count,
            truth: self.oracle.then(|| right as f64 / known.len().max(1) as f64),
            ..Seen::default()
        };
        if let Some((model, role)) = &self.check {
            self.ask(model, role, &answered, halt, &mut seen).await?;
            // Of all rollouts: one without a question is not calibrated.
            seen.fixed_calibrated = seen.fixed_calibrated.map(|share| share * answered.len() as f64 / count);
        }
        Ok(seen)
    }

    /// The oracle's answer.
    fn truth(&self, question: &str) -> Option<String> {
        if !self.oracle {
            return None;
        }
        Some(understand(question)?.answer()?.to_string())
    }

    fn same(&self, gold: Option<&str>, other: Option<&str>) -> bool {
        let judged = judge(&[gold], &[other], &self.domain, None);
        matches!(judged, Judging::Done(judged) if judged.right.as_deref() == Some(&[true]))
    }

    /// Puts questions, spread over the step, to the fixed check, once each and without chance.
    async fn ask(
        &self,
        model: &Arc<Model>,
        role: &RoleSettings,
        answered: &[(&Rollout, &str)],
        halt: &Halt,
        seen: &mut Seen,
    ) -> Result<(), ModelError> {
        let every = answered.len().div_ceil(self.questions.max(1)).max(1);
        let asked: Vec<&(&Rollout, &str)> = answered.iter().step_by(every).collect();
        let mut sampling = role.sampling.clone();
        sampling.temperature = Some(0.0);
        let answers: Vec<Result<Option<String>, ModelError>> = stream::iter(&asked)
            .map(|(_, question)| {
                let request = Request {
                    messages: self.pack.final_question(question),
                    max_tokens: self.tokens,
                    sampling: sampling.clone(),
                    seed: 0,
                    group: None,
                };
                async move {
                    let done = model.complete(&request, halt).await?;
                    Ok(SolverAnswer::read(&done.reply, &self.domain).answer)
                }
            })
            .buffered(64)
            .collect()
            .await;
        let (mut agree, mut calibrated) = (0, 0);
        for ((rollout, _), answer) in asked.iter().zip(answers) {
            let fixed = answer?;
            agree += usize::from(self.same(fixed.as_deref(), own_answer(rollout)));
            let solvers = rollout.transcript.answers().solvers;
            let right = solvers.map(|solver| self.same(fixed.as_deref(), solver));
            calibrated += usize::from(fixed.is_some() && Outcome::of(right) == Outcome::Calibrated);
        }
        let count = asked.len().max(1) as f64;
        seen.agreement = Some(agree as f64 / count);
        seen.fixed_calibrated = Some(calibrated as f64 / count);
        Ok(())
    }
}

/// The policy's own answer to its final question.
fn own_answer(rollout: &Rollout) -> Option<&str> {
    rollout.transcript.check.first()?.as_deref()
}

/// A question without what makes no difference: case and spacing.
fn plain(question: &str) -> String {
    question.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// What fell below these limits in a step.
pub(super) fn alarms(line: &Line, limits: &aske_config::WatchSection) -> Vec<Alarm> {
    let each = [
        ("distinct questions", Some(line.distinct), limits.min_distinct),
        ("valid questions", Some(line.valid), limits.min_valid),
        ("agreement with the fixed check", line.agreement, limits.min_agreement),
        ("agreement with the oracle", line.truth, limits.min_agreement),
        ("entropy", Some(line.entropy), limits.min_entropy),
    ];
    let low = |(what, share, least): (&'static str, Option<f64>, f64)| {
        share.filter(|share| *share < least).map(|share| Alarm { what, share, least })
    };
    each.into_iter().filter_map(low).collect()
}
