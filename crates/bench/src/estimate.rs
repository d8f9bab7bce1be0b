//! Estimates the calls, tokens and cost of a plan before it runs.

use crate::PlannedSession;
use aske_chat::{Price, Usage, Usd};
use aske_config::Settings;
use serde::Serialize;
use std::collections::BTreeMap;

/// The assumed share of the token limit that a reply uses.
const SHARE_OF_BUDGET: f64 = 0.25;
/// Assumed tokens of a forwarded summary.
const SUMMARY_TOKENS: f64 = 150.0;
/// Assumed tokens of a question with its prompt.
const QUESTION_TOKENS: f64 = 200.0;
/// Assumed tokens of the asker's instructions.
const INSTRUCTION_TOKENS: f64 = 700.0;

/// The estimate for one model in one role.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoleEstimate {
    /// `asker`, `solver` or `check`.
    pub role: &'static str,
    /// The model.
    pub model: String,
    /// Calls, if every turn has a question.
    pub calls: u64,
    /// Tokens if replies use a quarter of their limit.
    pub expected: Usage,
    /// Expected cost; none without a price.
    pub expected_usd: Option<Usd>,
    /// Completion tokens if every reply uses its full limit.
    pub most_written: u64,
    /// Cost if every reply uses its full limit.
    pub most_usd: Option<Usd>,
}

/// The estimate of a plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Sessions.
    pub sessions: usize,
    /// By role and model.
    pub roles: Vec<RoleEstimate>,
}

impl Estimate {
    /// All calls.
    pub fn calls(&self) -> u64 {
        self.roles.iter().map(|role| role.calls).sum()
    }

    /// The expected and the maximum cost of all models with a price.
    pub fn usd(&self) -> (Usd, Usd) {
        let sum = |pick: fn(&RoleEstimate) -> Option<Usd>| {
            self.roles.iter().filter_map(pick).fold(Usd::default(), |sum, usd| sum + usd)
        };
        (sum(|role| role.expected_usd), sum(|role| role.most_usd))
    }
}

/// Estimates a plan: calls are exact, tokens are assumed. Equivalence checks depend on the answers and are not included.
pub fn estimate(settings: &Settings, plan: &[PlannedSession]) -> Estimate {
    let protocol = &settings.protocol;
    let sessions = plan.len() as u64;
    let rounds = u64::from(protocol.rounds);
    let mut solver_sessions: BTreeMap<&str, u64> = BTreeMap::new();
    for solver in plan.iter().flat_map(|planned| &planned.solvers) {
        *solver_sessions.entry(solver).or_default() += 1;
    }
    let mut roles = vec![asker(settings, sessions)];
    for solver in &settings.solvers {
        let sessions = solver_sessions.get(solver.model.as_str()).copied().unwrap_or(0);
        let probing =
            Part { calls: sessions * rounds, prompt: QUESTION_TOKENS, budget: protocol.solver_tokens };
        let last = Part { calls: sessions, prompt: QUESTION_TOKENS, budget: protocol.solver_final_tokens };
        roles.push(sum("solver", &solver.model, settings, &[probing, last]));
    }
    let draws = sessions * u64::from(protocol.check_draws);
    let check = Part { calls: draws, prompt: QUESTION_TOKENS, budget: protocol.check_tokens };
    roles.push(sum("check", &settings.check.model, settings, &[check]));
    roles.retain(|role| role.calls > 0);
    Estimate { sessions: plan.len(), roles }
}

/// The asker's prompt is its whole conversation in each turn.
fn asker(settings: &Settings, sessions: u64) -> RoleEstimate {
    let protocol = &settings.protocol;
    let reply = f64::from(protocol.asker_tokens) * SHARE_OF_BUDGET;
    let parts: Vec<Part> = (0..=protocol.rounds)
        .map(|turn| Part {
            calls: sessions,
            prompt: INSTRUCTION_TOKENS + f64::from(turn) * (reply + 2.0 * SUMMARY_TOKENS),
            budget: if turn == protocol.rounds { protocol.asker_final_tokens } else { protocol.asker_tokens },
        })
        .collect();
    sum("asker", &settings.asker.model, settings, &parts)
}

/// Calls of one kind.
struct Part {
    calls: u64,
    prompt: f64,
    budget: u32,
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rounded, positive guess")]
fn sum(role: &'static str, model: &str, settings: &Settings, parts: &[Part]) -> RoleEstimate {
    let total = |tokens: fn(&Part) -> f64| {
        parts.iter().map(|part| part.calls as f64 * tokens(part)).sum::<f64>().round() as u64
    };
    let prompt = total(|part| part.prompt);
    let expected = Usage {
        prompt,
        completion: total(|part| f64::from(part.budget) * SHARE_OF_BUDGET),
        ..Usage::default()
    };
    let most_written = total(|part| f64::from(part.budget));
    let price: Option<Price> = settings.models.get(model).and_then(|model| model.price);
    RoleEstimate {
        role,
        model: model.to_owned(),
        calls: parts.iter().map(|part| part.calls).sum(),
        expected,
        expected_usd: price.map(|price| price.cost(&expected)),
        most_written,
        most_usd: price.map(|price| price.cost(&Usage { completion: most_written, ..expected })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Selection, plan};
    use aske_config::Layers;

    #[test]
    fn the_papers_plan_counts_its_calls() {
        let settings =
            Layers::load(Some("paper-bench"), std::iter::empty(), &[]).unwrap().settings().unwrap();
        let sessions = plan(&settings, &Selection::default()).unwrap();
        let estimate = estimate(&settings, &sessions);
        // 1,900 sessions of 5 asker turns, 2 × 4 probing answers, 2 final answers and 3 cross-checks.
        assert_eq!(estimate.calls(), 1900 * (5 + 8 + 2 + 3));
        let solver = estimate.roles.iter().find(|role| role.model == "qwen3-4b").unwrap();
        assert_eq!(solver.calls, 19 * 10 * 5);
        let check = estimate.roles.iter().find(|role| role.role == "check").unwrap();
        assert_eq!((check.calls, check.most_written), (5700, 57_000_000));
    }
}
