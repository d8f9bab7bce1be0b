//! Algorithmic askers, which need no model and see only the conversation so far.

mod history;
mod posterior;
mod simulated;
mod staircase;
mod write;

use crate::{Family, LEVELS, NumberSet, Question, QuestionSampler, TAUGHT_LEVELS};
use aske_chat::{Message, Reply, Usage};
use aske_model::{Provider, ProviderError, Request};
use aske_session::Pack;
use fastrand::Rng;
use futures_util::future::BoxFuture;
use history::History;
use posterior::Prior;
use serde::{Deserialize, Serialize};
pub(crate) use simulated::SimulatedSolver;
use std::sync::Arc;

/// How an algorithmic asker chooses its questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Random family and level, whatever the answers were: the baseline for other askers.
    Fixed,
    /// Maintains a posterior over both solvers' abilities, probes where it is most informative, and ends with the
    /// question most likely to split the pair.
    Staircase,
}

/// An algorithmic asker. It has no state other than the conversation.
#[derive(Clone, Debug)]
pub struct FreeAsker {
    strategy: Strategy,
    pack: Arc<Pack>,
    rounds: u32,
    numbers: NumberSet,
    /// Whether random questions are either far too easy or far too hard.
    extreme: bool,
    /// Whether the final question may repeat a probe.
    reuse: bool,
    prior: Arc<Prior>,
}

/// How often a question is drawn again if it was asked before.
const MAX_REDRAWS: u32 = 1000;

impl FreeAsker {
    /// An asker for sessions with these prompts and number of rounds, with questions up to this level.
    pub fn new(strategy: Strategy, pack: Arc<Pack>, rounds: u32, levels: u32) -> Self {
        let prior = Arc::new(Prior::new(levels.clamp(1, LEVELS)));
        Self { strategy, pack, rounds, numbers: NumberSet::Any, extreme: false, reuse: true, prior }
    }

    /// Restricts questions to this set of numbers.
    #[must_use]
    pub(crate) fn with_numbers(self, numbers: NumberSet) -> Self {
        Self { numbers, ..self }
    }

    /// Draws random questions from level 1 or beyond the taught levels, equally often.
    #[must_use]
    pub(crate) fn at_extremes(self) -> Self {
        Self { extreme: true, ..self }
    }

    /// Asks a final question that is not one of the probes. Only the staircase would repeat one on purpose.
    #[must_use]
    pub fn with_new_final_question(self) -> Self {
        Self { reuse: false, ..self }
    }

    /// The same asker with another number of rounds.
    #[must_use]
    pub fn for_rounds(&self, rounds: u32) -> Self {
        Self { rounds, ..self.clone() }
    }

    /// The turn that follows this conversation.
    pub fn turn(&self, messages: &[Message], seed: u32) -> String {
        let mut random = Rng::with_seed(u64::from(seed));
        let history = History::read(messages, &self.pack);
        let is_final = history.turns >= self.rounds;
        let question = match self.strategy {
            Strategy::Fixed => self.fresh(self.any_cell(&mut random), &mut random),
            Strategy::Staircase => {
                match staircase::choose(&self.prior, &history, is_final, self.reuse, &mut random) {
                    staircase::Choice::Again(question) => question.clone(),
                    staircase::Choice::Fresh(cell) if self.reuse => self.fresh(cell, &mut random),
                    staircase::Choice::Fresh(cell) => self.unasked(cell, &history, &mut random),
                }
            }
        };
        write::turn(&question, &history, is_final)
    }

    /// A solver drawn from the prior.
    pub(crate) fn simulated(&self, random: &mut Rng) -> SimulatedSolver {
        SimulatedSolver::new(self.prior.clone(), random)
    }

    fn any_cell(&self, random: &mut Rng) -> (Family, u32) {
        let family = Family::ALL[random.usize(..Family::ALL.len())];
        let level = match self.extreme {
            true if random.f64() < 0.5 => 1,
            true => random.u32(TAUGHT_LEVELS + 1..=self.prior.levels()),
            false => random.u32(1..=self.prior.levels()),
        };
        (family, level)
    }

    /// A question of a cell that was not asked in this conversation.
    fn unasked(&self, cell: (Family, u32), history: &History, random: &mut Rng) -> Question {
        let mut question = self.fresh(cell, random);
        for _ in 0..MAX_REDRAWS {
            if history.asked.iter().all(|asked| asked.question.text() != question.text()) {
                break;
            }
            question = self.fresh(cell, random);
        }
        question
    }

    /// A new question of a cell. Every cell has taught questions, as a test shows.
    fn fresh(&self, (family, level): (Family, u32), random: &mut Rng) -> Question {
        let mut draw = QuestionSampler::new(random.u64(..), self.numbers);
        loop {
            if let Some(question) = draw.question(family, level) {
                return question;
            }
        }
    }
}

impl Provider for FreeAsker {
    fn attempt<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Reply, ProviderError>> {
        let content = self.turn(&request.messages, request.seed);
        let words = |text: &str| text.split_whitespace().count() as u64;
        let prompt = request.messages.iter().map(|message| words(&message.content)).sum();
        let usage = Usage { prompt, completion: words(&content), ..Usage::default() };
        Box::pin(std::future::ready(Ok(Reply { content, usage, ..Reply::default() })))
    }

    fn probe(&self) -> BoxFuture<'_, Result<String, ProviderError>> {
        let what = match self.strategy {
            Strategy::Fixed => "blind questions",
            Strategy::Staircase if self.reuse => "a staircase",
            Strategy::Staircase => "a staircase with a new final question",
        };
        let levels = self.prior.levels();
        Box::pin(std::future::ready(Ok(format!("{what} in {} families, {levels} levels", Family::ALL.len()))))
    }
}
