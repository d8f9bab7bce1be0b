//! The asker as a solver: does asking teach answering?

use super::TrainError;
use super::checkpoint::wrong;
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

/// How often each question was answered rightly.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exam {
    /// Answers to each question.
    pub samples: u32,
    /// The questions, and how many of their answers were right.
    pub questions: Vec<(String, u32)>,
}

impl Exam {
    /// The share of right answers.
    pub fn average(&self) -> f64 {
        let right: u32 = self.questions.iter().map(|(_, right)| right).sum();
        f64::from(right) / (self.questions.len().max(1) as f64 * f64::from(self.samples.max(1)))
    }

    /// The share of questions that were answered rightly at least once.
    pub fn passed(&self) -> f64 {
        self.questions.iter().filter(|(_, right)| *right > 0).count() as f64
            / self.questions.len().max(1) as f64
    }

    /// The exam of a folder.
    pub fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join(FILE)).ok()?).ok()
    }

    /// Writes it into a folder.
    pub fn write(&self, folder: &Path) -> Result<(), TrainError> {
        let path = folder.join(FILE);
        std::fs::write(&path, serde_json::to_vec(self).unwrap_or_default()).map_err(wrong(&path))
    }
}

/// Puts held-out questions of the nano world, so many of each family and level, so many times each.
pub async fn exam(
    model: &Model,
    pack: &Pack,
    tokens: u32,
    count: u32,
    samples: u32,
) -> Result<Exam, ModelError> {
    let halt = Halt::default();
    let questions = held_out(count);
    let asked = questions
        .iter()
        .enumerate()
        .flat_map(|(at, question)| (0..samples).map(move |seed| (at, question, seed)));
    let one = |(at, question, seed): (usize, &'_ Question, u32)| {
        let request = Request {
            messages: pack.final_question(question.text()),
            max_tokens: tokens,
            sampling: Sampling { temperature: Some(TEMPERATURE), ..Sampling::default() },
            seed,
            group: None,
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
    Ok(Exam { samples, questions: questions.collect() })
}
