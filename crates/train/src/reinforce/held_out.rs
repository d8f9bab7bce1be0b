//! Evaluates the asker as a solver on held-out questions of the nano world: does learning to ask improve answering?

use super::TrainError;
use super::checkpoint::io_error;
use aske_chat::Reply;
use aske_model::{Halt, Model, ModelError, Request, Sampling};
use aske_nano::{Question, held_out, is_right};
use aske_session::Pack;
use futures_util::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The solvers' temperature in the benchmark.
const TEMPERATURE: f64 = 0.7;
const FILE: &str = "exam.json";

/// Correct answers per question. Stored as `exam.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldOutEval {
    /// Answers to each question.
    pub samples: u32,
    /// Questions and their number of correct answers.
    pub questions: Vec<(String, u32)>,
}

impl HeldOutEval {
    /// Fraction of correct answers.
    pub fn mean_accuracy(&self) -> f64 {
        let right: u32 = self.questions.iter().map(|(_, right)| right).sum();
        f64::from(right) / (self.questions.len().max(1) as f64 * f64::from(self.samples.max(1)))
    }

    /// Fraction of questions with at least one correct answer.
    pub fn pass_rate(&self) -> f64 {
        self.questions.iter().filter(|(_, right)| *right > 0).count() as f64
            / self.questions.len().max(1) as f64
    }

    /// Reads the evaluation of a folder.
    pub fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join(FILE)).ok()?).ok()
    }

    /// Writes it into a folder.
    pub fn write(&self, folder: &Path) -> Result<(), TrainError> {
        let path = folder.join(FILE);
        std::fs::write(&path, serde_json::to_vec(self).unwrap_or_default()).map_err(io_error(&path))
    }
}

/// Asks `count` held-out questions of each family and level, `samples` times each.
pub async fn evaluate_held_out(
    model: &Model,
    pack: &Pack,
    max_tokens: u32,
    count: u32,
    samples: u32,
) -> Result<HeldOutEval, ModelError> {
    let halt = Halt::default();
    let questions = held_out(count);
    let asked = questions
        .iter()
        .enumerate()
        .flat_map(|(at, question)| (0..samples).map(move |seed| (at, question, seed)));
    let one = |(at, question, seed): (usize, &'_ Question, u32)| {
        let request = Request {
            messages: pack.final_question(question.text()),
            max_tokens,
            sampling: Sampling { temperature: Some(TEMPERATURE), ..Sampling::default() },
            seed,
            client: None,
        };
        let halt = &halt;
        async move {
            let Reply { content, .. } = model.complete(&request, halt).await?.reply;
            Ok::<_, ModelError>((at, content))
        }
    };
    let mut right = vec![0; questions.len()];
    let mut replies = stream::iter(asked.map(one).collect::<Vec<_>>()).buffer_unordered(128);
    while let Some(reply) = replies.next().await {
        let (at, content) = reply?;
        right[at] += u32::from(is_right(&questions[at], &content));
    }
    let questions = questions.iter().zip(right).map(|(question, right)| (question.text().to_owned(), right));
    Ok(HeldOutEval { samples, questions: questions.collect() })
}
