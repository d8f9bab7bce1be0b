//! Runs as tables for other programs: JSON lines, and Parquet that the Hugging Face datasets library loads.
//!
//! [`Export`] makes plain columns of runs, [`write()`] writes them. May use `evidence`, `record`, `session` and `stats`.
//!
//! ```no_run
//! use aske_evidence::Run;
//! use aske_export::{Choice, Export, Kind, write};
//! let runs = [Run::read("runs/nano-staircase".as_ref(), None)?];
//! let chosen = Export::new(&runs, &Choice { calibrated: true, ..Choice::default() });
//! write(&chosen.table(Kind::Questions)?, "exam.parquet".as_ref())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answers;
mod arrow;
mod bank;
mod column;
mod evals;
mod grades;
mod sessions;
#[cfg(feature = "files")]
mod write;

pub use arrow::batch;
pub use column::{Column, Table};
#[cfg(feature = "files")]
pub use write::{ExportError, Format, write, write_parts};

use aske_evidence::Run;
use aske_record::RunError;
use aske_session::Outcome;

/// Which table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A session a row, with all its turns.
    Sessions,
    /// The question bank: a final question a row, with its reference answer and its estimated difficulty.
    Questions,
    /// An answer a row: of probing, of final questions, and of questions that were solved again.
    Answers,
    /// A grade a row, of every grader.
    Grades,
    /// A sample of an evaluation a row.
    Evals,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Sessions, Self::Questions, Self::Answers, Self::Grades, Self::Evals];

    /// Those of sessions.
    pub const OF_SESSIONS: [Self; 4] = [Self::Sessions, Self::Questions, Self::Answers, Self::Grades];

    /// The name of its file.
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

/// Which sessions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice {
    /// Only calibrated ones.
    pub calibrated: bool,
    /// Only questions whose estimated difficulty, in logits, is in this range.
    pub difficulty: Option<(f64, f64)>,
}

/// The chosen sessions of some runs, with what is known of their questions; every table is made of them.
pub struct Export<'r> {
    runs: &'r [Run],
    bank: Vec<bank::Entry<'r>>,
}

impl<'r> Export<'r> {
    /// Chooses sessions, and estimates how hard their questions are.
    pub fn new(runs: &'r [Run], choice: &Choice) -> Self {
        Self { runs, bank: bank::bank(runs, choice) }
    }

    /// One table over all runs.
    pub fn table(&self, kind: Kind) -> Result<Table, RunError> {
        let mut table = Table::default();
        for part in self.parts(kind) {
            table.append(part?);
        }
        Ok(table)
    }

    /// The same table in parts that fit into memory, in order; there is at least one.
    pub fn parts(&self, kind: Kind) -> impl Iterator<Item = Result<Table, RunError>> + '_ {
        // An empty table still has its columns.
        let none = self.bank.is_empty().then_some(&self.bank[..]);
        let sessions = none.into_iter().chain(self.bank.chunks(PART)).map(move |part| match kind {
            Kind::Questions => Ok(bank::table(self.runs, part)),
            Kind::Sessions => sessions::table(self.runs, part),
            Kind::Answers => answers::in_sessions(self.runs, part),
            Kind::Grades => Ok(grades::table(self.runs, part)),
            Kind::Evals => Ok(Table::default()),
        });
        let sessions = sessions.take(if kind == Kind::Evals { 0 } else { usize::MAX });
        let more = [kind].into_iter().filter_map(move |kind| match kind {
            Kind::Answers => Some(Ok(answers::in_panels(self.runs, &self.bank))),
            Kind::Evals => Some(Ok(evals::table(self.runs))),
            _ => None,
        });
        sessions.chain(more)
    }
}

/// Sessions whose rows are in memory at once.
const PART: usize = 2_000;

/// Whether a session is calibrated.
fn is_calibrated(session: &aske_evidence::Session) -> bool {
    session.grade.as_ref().is_some_and(|grade| grade.outcome == Outcome::Calibrated)
}
