//! The history of all workers' questions, and the novelty of new ones.

use crate::ServeError;
use aske_config::TrainSection;
use aske_diversity::{Embedder, NoveltyBuffer};
use aske_record::{Jsonl, RunError, SCHEMA};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::Path;

/// The file of all questions in the state folder.
const FILE: &str = "questions.jsonl";

/// Requests with a key that can be repeated.
const MAX_KEYED: usize = 1024;

/// One history for all workers, stored in a file to which every request appends a line.
pub struct History {
    embedder: Embedder,
    /// The weight of novelty in the reward, before gating.
    pub(crate) alpha: f64,
    state: Mutex<State>,
}

struct State {
    novelty: NoveltyBuffer,
    file: Jsonl,
    /// The latest requests with a key.
    keyed: VecDeque<HistoryLine>,
}

/// One request: questions of a step and their novelty.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct HistoryLine {
    schema: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    questions: Vec<String>,
    novelty: Vec<f64>,
}

/// Questions of one worker in a step.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoveltyRequest {
    /// The trainer's step, for the record.
    #[serde(default)]
    pub(crate) step: Option<u64>,
    /// A repeated request with the same key gets the same response and is stored once.
    #[serde(default)]
    pub(crate) key: Option<String>,
    pub(crate) questions: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct NoveltyResponse {
    pub(crate) novelty: Vec<f64>,
    /// Questions in the history by now.
    pub(crate) remembered: usize,
}

impl History {
    /// Opens the history in a folder, with the questions that are stored there.
    pub fn open(folder: &Path, plan: &TrainSection) -> Result<Self, ServeError> {
        let embedder = Embedder::find(&plan.embedder)?;
        std::fs::create_dir_all(folder).map_err(RunError::io(folder))?;
        let (file, lines) = Jsonl::open::<HistoryLine>(&folder.join(FILE))?;
        let mut novelty = NoveltyBuffer::new(plan.buffer_size, plan.num_neighbors, &embedder);
        let all: Vec<&str> = lines.iter().flat_map(|line| &line.questions).map(String::as_str).collect();
        let latest = all.get(all.len().saturating_sub(plan.buffer_size)..).unwrap_or_default();
        novelty.extend(&embedder.embed(latest)?)?;
        let mut state = State { novelty, file, keyed: VecDeque::new() };
        for line in lines {
            state.remember(line);
        }
        Ok(Self { embedder, alpha: plan.diversity_coef, state: Mutex::new(state) })
    }

    /// Computes the novelty of these questions, and adds them to the history and its file.
    pub(crate) fn add(&self, request: NoveltyRequest) -> Result<NoveltyResponse, ServeError> {
        let NoveltyRequest { step, key, questions } = request;
        let texts: Vec<&str> = questions.iter().map(String::as_str).collect();
        let vectors = self.embedder.embed(&texts)?;
        let mut state = self.state.lock();
        let same = |line: &&HistoryLine| key.is_some() && line.step == step && line.key == key;
        if let Some(line) = state.keyed.iter().rev().find(same) {
            return Ok(NoveltyResponse { novelty: line.novelty.clone(), remembered: state.novelty.len() });
        }
        let line =
            HistoryLine { schema: SCHEMA, step, key, questions, novelty: state.novelty.novelties(&vectors)? };
        state.file.append(&line)?;
        state.novelty.extend(&vectors)?;
        let response = NoveltyResponse { novelty: line.novelty.clone(), remembered: state.novelty.len() };
        state.remember(line);
        Ok(response)
    }
}

impl State {
    /// Remembers a request with a key, and drops the oldest.
    fn remember(&mut self, line: HistoryLine) {
        if line.key.is_some() {
            self.keyed.push_back(line);
        }
        while self.keyed.len() > MAX_KEYED {
            self.keyed.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> TrainSection {
        TrainSection { embedder: "ngram".to_owned(), ..TrainSection::default() }
    }

    fn ask(
        history: &History,
        step: impl Into<Option<u64>>,
        key: Option<&str>,
        questions: &[&str],
    ) -> NoveltyResponse {
        let questions = questions.iter().map(ToString::to_string).collect();
        history.add(NoveltyRequest { step: step.into(), key: key.map(str::to_owned), questions }).unwrap()
    }

    #[test]
    fn the_second_to_ask_a_question_is_not_new_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let history = History::open(folder.path(), &plan()).unwrap();
        // Nothing to compare with: 1. The same text: cosine 1, so 0.
        assert_eq!(
            ask(&history, 1, None, &["What is 2 + 3?"]),
            NoveltyResponse { novelty: vec![1.0], remembered: 1 }
        );
        assert!(ask(&history, 1, None, &["What is 2 + 3?"]).novelty[0].abs() < 1e-6);
        drop(history);
        let again = History::open(folder.path(), &plan()).unwrap();
        let response = ask(&again, 2, None, &["What is 2 + 3?"]);
        assert!(response.novelty[0].abs() < 1e-6 && response.remembered == 3, "{response:?}");
    }

    #[test]
    fn a_keyed_call_is_remembered_once() {
        let folder = tempfile::tempdir().unwrap();
        let history = History::open(folder.path(), &plan()).unwrap();
        let first = ask(&history, 1, Some("rank 0"), &["a b c", "a b c"]);
        assert_eq!(ask(&history, 1, Some("rank 0"), &["a b c", "a b c"]), first);
        assert_eq!(ask(&history, 1, Some("rank 1"), &["a b c"]).remembered, 3);
        drop(history);
        let again = History::open(folder.path(), &plan()).unwrap();
        assert_eq!(ask(&again, 1, Some("rank 0"), &["a b c", "a b c"]).novelty, first.novelty);
        assert!(
            ask(&again, None, Some("rank 0"), &["a b c"]).novelty[0].abs() < 1e-6,
            "another step is another call"
        );
    }

    #[test]
    fn no_more_is_remembered_than_the_buffer_holds() {
        let folder = tempfile::tempdir().unwrap();
        let small = TrainSection { buffer_size: 2, ..plan() };
        let history = History::open(folder.path(), &small).unwrap();
        assert_eq!(ask(&history, 1, None, &["a", "b", "c"]).remembered, 2);
        drop(history);
        let again = History::open(folder.path(), &small).unwrap();
        // The two latest are b and c; a is as far from them as it ever was.
        let response = ask(&again, 2, None, &["a"]);
        assert!(response.novelty[0] > 0.1 && response.remembered == 2, "{response:?}");
    }
}
