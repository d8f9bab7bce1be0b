//! Detects reward hacking: judges a step's questions independently of the policy.
//!
//! A policy that judges itself can raise its reward by repeating one question or by agreeing with its own wrong answers.
//! Nothing measured here enters the reward.

use super::{Rollout, StepMetrics};
use aske_config::RoleSettings;
use aske_model::{Halt, Model, ModelError, Request};
use aske_nano::parse_question;
use aske_session::{Domain, Outcome, Pack, SolverAnswer, judge};
use futures_util::stream::{self, StreamExt};
use serde::Serialize;
use std::collections::HashSet;
use std::sync::Arc;

/// How a step is monitored.
pub struct CollapseMonitor {
    /// Fixed cross-check solver, if any, and its sampling settings.
    pub cross_check: Option<(Arc<Model>, RoleSettings)>,
    /// Questions per step that it answers at most.
    pub max_questions: usize,
    /// Tokens per answer.
    pub max_tokens: u32,
    /// Compare with the oracle of the nano world.
    pub oracle: bool,
    /// Answer domain.
    pub domain: Domain,
    /// Prompts.
    pub pack: Arc<Pack>,
}

/// What the monitor measured in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MonitorReport {
    /// Fraction of distinct final questions.
    pub distinct: f64,
    /// Fraction of rollouts with an answerable question.
    pub valid: f64,
    /// Agreement with the fixed cross-check solver.
    pub agreement: Option<f64>,
    /// Fraction of calibrated rollouts, as judged by it.
    pub fixed_calibrated: Option<f64>,
    /// Agreement with the oracle.
    pub truth: Option<f64>,
}

/// A metric below its minimum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ThresholdAlert {
    /// Which metric.
    pub metric: &'static str,
    /// Its value.
    pub value: f64,
    /// Its minimum.
    pub minimum: f64,
}

impl CollapseMonitor {
    /// Judges a step's rollouts.
    pub async fn judge(&self, rollouts: &[&Rollout], halt: &Halt) -> Result<MonitorReport, ModelError> {
        let count = rollouts.len().max(1) as f64;
        let answered: Vec<(&Rollout, &str)> = rollouts
            .iter()
            .filter_map(|rollout| Some((*rollout, rollout.transcript.answers().question?)))
            .collect();
        let distinct: HashSet<String> = answered.iter().map(|(_, question)| normalized(question)).collect();
        let oracle_answers: Vec<(&Rollout, Option<String>)> =
            answered.iter().map(|(rollout, question)| (*rollout, self.oracle_answer(question))).collect();
        let valid = if self.oracle {
            oracle_answers.iter().filter(|(_, answer)| answer.is_some()).count()
        } else {
            answered.iter().filter(|(rollout, _)| own_answer(rollout).is_some()).count()
        };
        let known: Vec<(&Rollout, String)> =
            oracle_answers.into_iter().filter_map(|(rollout, answer)| Some((rollout, answer?))).collect();
        let right =
            known.iter().filter(|(rollout, answer)| self.same(Some(answer), own_answer(rollout))).count();
        let mut report = MonitorReport {
            distinct: distinct.len() as f64 / answered.len().max(1) as f64,
            valid: valid as f64 / count,
            truth: self.oracle.then(|| right as f64 / known.len().max(1) as f64),
            ..MonitorReport::default()
        };
        if let Some((model, role)) = &self.cross_check {
            self.judge_independently(model, role, &answered, halt, &mut report).await?;
            // A rollout without a question is not calibrated.
            report.fixed_calibrated =
                report.fixed_calibrated.map(|share| share * answered.len() as f64 / count);
        }
        Ok(report)
    }

    /// The oracle's answer.
    fn oracle_answer(&self, question: &str) -> Option<String> {
        if !self.oracle {
            return None;
        }
        Some(parse_question(question)?.answer()?.to_string())
    }

    fn same(&self, gold: Option<&str>, other: Option<&str>) -> bool {
        let judged = judge(&[gold], &[other], &self.domain, None);
        judged.is_ok_and(|right| right.as_deref() == Some(&[true]))
    }

    /// Lets the fixed cross-check solver answer questions, spread over the step, once each at temperature 0.
    async fn judge_independently(
        &self,
        model: &Arc<Model>,
        role: &RoleSettings,
        answered: &[(&Rollout, &str)],
        halt: &Halt,
        report: &mut MonitorReport,
    ) -> Result<(), ModelError> {
        let every = answered.len().div_ceil(self.max_questions.max(1)).max(1);
        let selected: Vec<&(&Rollout, &str)> = answered.iter().step_by(every).collect();
        let mut sampling = role.sampling.clone();
        sampling.temperature = Some(0.0);
        let answers: Vec<Result<Option<String>, ModelError>> = stream::iter(&selected)
            .map(|(_, question)| {
                let request = Request {
                    messages: self.pack.final_question(question),
                    max_tokens: self.max_tokens,
                    sampling: sampling.clone(),
                    seed: 0,
                    client: None,
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
        for ((rollout, _), answer) in selected.iter().zip(answers) {
            let fixed = answer?;
            agree += usize::from(self.same(fixed.as_deref(), own_answer(rollout)));
            let solvers = rollout.transcript.answers().solvers;
            let right = solvers.map(|solver| self.same(fixed.as_deref(), solver));
            calibrated += usize::from(fixed.is_some() && Outcome::of(right) == Outcome::Calibrated);
        }
        let count = selected.len().max(1) as f64;
        report.agreement = Some(agree as f64 / count);
        report.fixed_calibrated = Some(calibrated as f64 / count);
        Ok(())
    }
}

/// The policy's own answer to its final question.
fn own_answer(rollout: &Rollout) -> Option<&str> {
    rollout.transcript.check.first()?.as_deref()
}

/// A question in lower case with single spaces.
fn normalized(question: &str) -> String {
    question.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The metrics of a step that are below their minimum.
pub(super) fn alerts(metrics: &StepMetrics, limits: &aske_config::WatchSection) -> Vec<ThresholdAlert> {
    let each = [
        ("distinct questions", Some(metrics.distinct), limits.min_distinct),
        ("valid questions", Some(metrics.valid), limits.min_valid),
        ("agreement with the fixed check", metrics.agreement, limits.min_agreement),
        ("agreement with the oracle", metrics.truth, limits.min_agreement),
        ("entropy", Some(metrics.entropy), limits.min_entropy),
    ];
    let low = |(metric, value, minimum): (&'static str, Option<f64>, f64)| {
        value.filter(|value| *value < minimum).map(|value| ThresholdAlert { metric, value, minimum })
    };
    each.into_iter().filter_map(low).collect()
}
