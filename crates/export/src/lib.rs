//! Exports runs as tables: JSON lines, and Parquet that the Hugging Face datasets library loads.
//!
//! [`Export`] builds columns from runs, [`write()`] writes them. Used by the CLI and the Python package. May depend on
//! `chat`, `evidence`, `record`, `session` and `stats`.
//!
//! ```no_run
//! use aske_evidence::Run;
//! use aske_export::{SessionFilter, Export, TableKind, write};
//! let runs = [Run::read("runs/nano-staircase".as_ref(), None)?];
//! let chosen = Export::new(&runs, &SessionFilter { calibrated: true, ..SessionFilter::default() });
//! write(chosen.parts(TableKind::Questions), "exam.parquet".as_ref())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod bank;
mod column;
mod evals;
mod grades;
mod sessions;
#[cfg(feature = "files")]
mod write;

pub use column::Table;
#[cfg(feature = "files")]
pub use write::{ExportError, Format, write};

use aske_evidence::Run;
use aske_record::RunError;
use aske_session::Outcome;

/// A table to export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableKind {
    /// One row per session, with all its turns.
    Sessions,
    /// The question bank: one row per final question, with its reference answer and estimated difficulty.
    Questions,
    /// One row per answer: to probing questions, to final questions, and to questions solved again.
    Answers,
    /// One row per grade, of every grader.
    Grades,
    /// One row per sample of an evaluation.
    Evals,
}

impl TableKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Sessions, Self::Questions, Self::Answers, Self::Grades, Self::Evals];

    /// The tables of sessions.
    pub const OF_SESSIONS: [Self; 4] = [Self::Sessions, Self::Questions, Self::Answers, Self::Grades];

    /// The name of the table and its file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Questions => "questions",
            Self::Answers => "answers",
            Self::Grades => "grades",
            Self::Evals => "evals",
        }
    }
}

/// Which sessions to export.
#[derive(Clone, Copy, Debug, Default)]
pub struct SessionFilter {
    /// Only calibrated ones.
    pub calibrated: bool,
    /// Only questions whose estimated difficulty, in logits, is in this range.
    pub difficulty: Option<(f64, f64)>,
}

/// The selected sessions of runs with the difficulty of their questions, from which all tables are built.
pub struct Export<'r> {
    runs: &'r [Run],
    bank: Vec<bank::BankEntry<'r>>,
}

impl<'r> Export<'r> {
    /// Selects sessions and estimates the difficulty of their questions.
    pub fn new(runs: &'r [Run], filter: &SessionFilter) -> Self {
        Self { runs, bank: bank::bank(runs, filter) }
    }

    /// One table over all runs, in parts that fit in memory; there is at least one.
    pub fn parts(&self, kind: TableKind) -> impl Iterator<Item = Result<Table, RunError>> + '_ {
        // An empty table has its columns too.
        let none = self.bank.is_empty().then_some(&self.bank[..]);
        let sessions = none.into_iter().chain(self.bank.chunks(PART)).map(move |part| match kind {
            TableKind::Questions => Ok(bank::table(self.runs, part)),
            TableKind::Sessions => sessions::table(self.runs, part),
            TableKind::Answers => answers::in_sessions(self.runs, part),
            TableKind::Grades => Ok(grades::table(self.runs, part)),
            TableKind::Evals => Ok(Table::default()),
        });
        let sessions = sessions.take(if kind == TableKind::Evals { 0 } else { usize::MAX });
        let more = [kind].into_iter().filter_map(move |kind| match kind {
            TableKind::Answers => Some(Ok(answers::in_panels(self.runs, &self.bank))),
            TableKind::Evals => Some(Ok(evals::table(self.runs))),
            _ => None,
        });
        sessions.chain(more)
    }
}

/// Sessions per part.
const PART: usize = 2_000;

/// Whether a session is calibrated.
fn is_calibrated(session: &aske_evidence::Session) -> bool {
    session.grade.as_ref().is_some_and(|grade| grade.outcome == Outcome::Calibrated)
}
