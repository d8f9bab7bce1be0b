//! The questions of all workers, and how new the next ones are.

use crate::ServeError;
use aske_config::TrainSection;
use aske_diversity::{Embedder, NoveltyBuffer};
use aske_record::{Jsonl, RunError, SCHEMA};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The file of all questions inside the state folder.
const FILE: &str = "questions.jsonl";

/// Calls that can be repeated under their key.
const KEYED: usize = 1024;

/// One history for all workers, kept in a file to which every call adds a line.
pub struct History {
    embedder: Embedder,
    /// How much novelty counts.
    alpha: f64,
    kept: Mutex<Kept>,
}

struct Kept {
    novelty: NoveltyBuffer,
    file: Jsonl,
    /// The latest keyed calls.
    keyed: VecDeque<Line>,
}

/// One call: what was asked in a step, and how new it was.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Line {
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
pub(crate) struct Asked {
    /// The step that a trainer knows, for the record.
    #[serde(default)]
    pub(crate) step: Option<u64>,
    /// A call that is repeated under its key gets the same answer, and is remembered once.
    #[serde(default)]
    pub(crate) key: Option<String>,
    pub(crate) questions: Vec<String>,
}

/// How new they are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Told {
    pub(crate) novelty: Vec<f64>,
    /// Questions that are remembered by now.
    pub(crate) remembered: usize,
}

impl History {
    /// Opens the history in a folder, with what an earlier start has left there.
    pub fn open(folder: &Path, plan: &TrainSection) -> Result<Self, ServeError> {
        let embedder = Embedder::find(&plan.embedder)?;
        std::fs::create_dir_all(folder).map_err(RunError::io(folder))?;
        let (file, lines) = Jsonl::open::<Line>(&folder.join(FILE))?;
        let mut novelty = NoveltyBuffer::new(plan.buffer_size, plan.num_neighbors, &embedder);
        let all: Vec<&str> = lines.iter().flat_map(|line| &line.questions).map(String::as_str).collect();
        let latest = all.get(all.len().saturating_sub(plan.buffer_size)..).unwrap_or_default();
        novelty.extend(&embedder.embed(latest)?)?;
        let mut kept = Kept { novelty, file, keyed: VecDeque::new() };
        for line in lines {
            kept.keep(line);
        }
        Ok(Self { embedder, alpha: plan.diversity_coef, kept: Mutex::new(kept) })
    }

    /// The diversity term of a question this new, before it is gated.
    pub(crate) fn bonus(&self, novelty: f64) -> f64 {
        self.alpha * novelty
    }

    /// How new these questions are; they are remembered, and on the disk, when this returns.
    pub(crate) fn add(&self, asked: Asked) -> Result<Told, ServeError> {
        let Asked { step, key, questions } = asked;
        let texts: Vec<&str> = questions.iter().map(String::as_str).collect();
        let vectors = self.embedder.embed(&texts)?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |line: &&Line| key.is_some() && line.step == step && line.key == key;
        if let Some(line) = kept.keyed.iter().rev().find(same) {
            return Ok(Told { novelty: line.novelty.clone(), remembered: kept.novelty.len() });
        }
        let line = Line { schema: SCHEMA, step, key, questions, novelty: kept.novelty.novelties(&vectors)? };
        kept.file.append(&line)?;
        kept.novelty.extend(&vectors)?;
        let told = Told { novelty: line.novelty.clone(), remembered: kept.novelty.len() };
        kept.keep(line);
        Ok(told)
    }
}

impl Kept {
    /// Keeps a keyed call, and forgets the oldest: nobody repeats it any more.
    fn keep(&mut self, line: Line) {
        if line.key.is_some() {
            self.keyed.push_back(line);
        }
        while self.keyed.len() > KEYED {
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

    fn ask(history: &History, step: impl Into<Option<u64>>, key: Option<&str>, questions: &[&str]) -> Told {
        let questions = questions.iter().map(ToString::to_string).collect();
        history.add(Asked { step: step.into(), key: key.map(str::to_owned), questions }).unwrap()
    }

    #[test]
    fn the_second_to_ask_a_question_is_not_new_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let history = History::open(folder.path(), &plan()).unwrap();
        // Nothing to compare with: 1. The same text: cosine 1, so 0.
        assert_eq!(ask(&history, 1, None, &["What is 2 + 3?"]), Told { novelty: vec![1.0], remembered: 1 });
        assert!(ask(&history, 1, None, &["What is 2 + 3?"]).novelty[0].abs() < 1e-6);
        drop(history);
        let again = History::open(folder.path(), &plan()).unwrap();
        let told = ask(&again, 2, None, &["What is 2 + 3?"]);
        assert!(told.novelty[0].abs() < 1e-6 && told.remembered == 3, "{told:?}");
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
        let told = ask(&again, 2, None, &["a"]);
        assert!(told.novelty[0] > 0.1 && told.remembered == 2, "{told:?}");
    }
}
