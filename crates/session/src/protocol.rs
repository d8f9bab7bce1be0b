//! Rounds, token budgets and limits of a session.

use serde::{Deserialize, Serialize};

/// Rounds, budgets and limits of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Protocol {
    /// Probing rounds before the final turn; 0 is a session without probing.
    pub rounds: u32,
    /// Tokens of an asker's probing turn.
    pub asker_tokens: u32,
    /// Tokens of the asker's final turn.
    pub asker_final_tokens: u32,
    /// Tokens of all the asker's turns together, as in training; `None` for no limit but those of each turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker_total_tokens: Option<u64>,
    /// Tokens of a solver's probing reply.
    pub solver_tokens: u32,
    /// Tokens of a solver's reply to the final question.
    pub solver_final_tokens: u32,
    /// Tokens of a cross-check reply.
    pub check_tokens: u32,
    /// How often the cross-check solver answers; all answers must agree.
    pub check_draws: u32,
    /// Words of a question that are forwarded.
    pub question_words: usize,
    /// Characters of a summary that are forwarded.
    pub summary_chars: usize,
}

impl Default for Protocol {
    /// The benchmark of the paper.
    fn default() -> Self {
        Self {
            rounds: 4,
            asker_tokens: 6_000,
            asker_final_tokens: 10_000,
            asker_total_tokens: None,
            solver_tokens: 4_000,
            solver_final_tokens: 6_000,
            check_tokens: 10_000,
            check_draws: 3,
            question_words: 200,
            summary_chars: 2_000,
        }
    }
}

impl Protocol {
    /// The training rollout of the paper.
    pub fn training() -> Self {
        Self {
            rounds: 3,
            asker_tokens: 4_000,
            asker_final_tokens: 4_000,
            solver_tokens: 3_000,
            solver_final_tokens: 3_000,
            check_tokens: 3_000,
            check_draws: 1,
            ..Self::default()
        }
    }

    /// The calls of one session when every turn has its question: k+1 asker turns, two solvers a round,
    /// two solvers and the cross-check draws at the end.
    pub fn calls(&self) -> u64 {
        u64::from(self.rounds) * 3 + 3 + u64::from(self.check_draws)
    }
}
