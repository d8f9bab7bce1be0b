//! Accuracy of the networks by family and level, on held-out numbers where a cell has them.

use crate::{Family, NumberSet, Question, QuestionSampler, TAUGHT_LEVELS};
use aske_answer::{Verdict, compare, last_boxed};
use aske_chat::Message;
use aske_model::{Engine, GenerationRequest, ProviderError, Sampling};
use futures_util::stream::{self, StreamExt};
use serde::{Deserialize, Serialize};

/// Accuracy of all networks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccuracyTable {
    /// Questions per cell.
    pub questions: u32,
    /// One row per network, smallest solver first.
    pub rows: Vec<NetworkAccuracy>,
}

/// Accuracy of one network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkAccuracy {
    /// Its name.
    pub name: String,
    /// Number of parameters.
    pub parameters: usize,
    /// Correct answers by family, then by level.
    pub right: Vec<Vec<u32>>,
}

impl AccuracyTable {
    /// The accuracy of the bundled networks, measured when they were trained.
    pub fn shipped() -> Result<Self, serde_json::Error> {
        serde_json::from_str(include_str!("../weights/table.json"))
    }

    /// The row of a network.
    pub fn row(&self, name: &str) -> Option<&NetworkAccuracy> {
        self.rows.iter().find(|row| row.name == name)
    }
}

impl NetworkAccuracy {
    /// Accuracy over all cells.
    pub fn overall(&self, questions: u32) -> f64 {
        share(self.right.iter().flatten(), questions)
    }

    /// Accuracy in a family.
    pub fn family(&self, family: Family, questions: u32) -> f64 {
        share(self.right.get(family.index()).into_iter().flatten(), questions)
    }
}

fn share<'r>(right: impl Iterator<Item = &'r u32>, questions: u32) -> f64 {
    let (mut total, mut cells) = (0_u32, 0_u32);
    for count in right {
        total += count;
        cells += 1;
    }
    f64::from(total) / f64::from((cells * questions).max(1))
}

/// The solvers' temperature in the benchmark.
const TEMPERATURE: f64 = 0.7;
/// Longer than any reply in the training data.
const MAX_REPLY_TOKENS: usize = 200;

/// The questions of a cell, the same for every network: held out, or any where the cell is too small for that.
fn questions(family: Family, level: u32, count: u32) -> Vec<Question> {
    let seed = u64::from(level) * 1_000 + family.index() as u64;
    let (mut held_out, mut any) =
        (QuestionSampler::new(seed, NumberSet::HeldOut), QuestionSampler::new(seed, NumberSet::Any));
    let mut question = || held_out.question(family, level).or_else(|| any.question(family, level));
    (0..count).filter_map(|_| question()).collect()
}

/// `count` held-out questions of every family and taught level.
pub fn held_out(count: u32) -> Vec<Question> {
    let cells = Family::ALL.iter().flat_map(|family| (1..=TAUGHT_LEVELS).map(move |level| (*family, level)));
    cells.flat_map(|(family, level)| questions(family, level, count)).collect()
}

/// Measures a network on `count` held-out questions per cell, with the prompt of the final question. `progress` is called
/// after every answer.
pub async fn measure_accuracy(
    name: &str,
    engine: &Engine,
    suffix: &str,
    count: u32,
    progress: impl Fn(),
) -> Result<NetworkAccuracy, ProviderError> {
    let cells = Family::ALL.iter().flat_map(|family| (1..=TAUGHT_LEVELS).map(move |level| (*family, level)));
    let asked = cells.flat_map(|(family, level)| questions(family, level, count).into_iter().zip(0_u64..));
    let mut right = vec![vec![0; TAUGHT_LEVELS as usize]; Family::ALL.len()];
    let mut answers = stream::iter(asked)
        .map(|(question, seed)| async move {
            let reply = ask(engine, &question, suffix, seed).await?;
            Ok::<_, ProviderError>((question, reply))
        })
        .buffer_unordered(128);
    while let Some(answer) = answers.next().await {
        let (question, reply) = answer?;
        progress();
        if let Some(level) = question.level().filter(|_| is_right(&question, &reply)) {
            right[question.family().index()][(level - 1) as usize] += 1;
        }
    }
    Ok(NetworkAccuracy { name: name.to_owned(), parameters: engine.config().parameters(), right })
}

async fn ask(engine: &Engine, question: &Question, suffix: &str, seed: u64) -> Result<String, ProviderError> {
    let prompt = engine.tokenizer().prompt(&[Message::user(format!("{}\n\n{suffix}", question.text()))])?;
    let sampling = Sampling { temperature: Some(TEMPERATURE), ..Sampling::default() };
    let request = GenerationRequest {
        prompt,
        max_tokens: MAX_REPLY_TOKENS,
        sampling,
        seed,
        ..GenerationRequest::default()
    };
    let generated = engine.generate(request).await?;
    Ok(engine.tokenizer().decode(&generated.tokens))
}

/// Whether the boxed answer of a reply is the oracle's.
pub fn is_right(question: &Question, reply: &str) -> bool {
    let truth = question.answer().map(|answer| answer.to_string());
    truth
        .zip(last_boxed(reply))
        .is_some_and(|(truth, answer)| compare(&truth, answer).verdict == Verdict::Equal)
}
