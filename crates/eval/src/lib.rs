//! Evaluates models on mathematics benchmarks: datasets, samples, pass@k and avg@k, comparisons of models.
//!
//! A [`Declaration`] describes a dataset, [`locate::find`] finds its files, and [`Dataset`] holds its checked problems.
//! [`evaluate`] samples answers of a model into a run folder. [`scores`] and [`compare()`] compute the results, which
//! [`tables`] and [`page`] display. Used by the CLI. May depend on every crate but `train`, `view`, `export`, `serve` and
//! `cli`.
//!
//! ```
//! use aske_eval::{locate, plan};
//! let data = locate::find("ladder", &locate::SearchPaths::default()).unwrap().remove(0).read().unwrap();
//! let samples = plan(std::slice::from_ref(&data), 8, None);
//! assert_eq!((data.problems.len(), samples.len()), (100, 800));
//! ```

mod compare;
mod dataset;
mod declaration;
mod error;
mod grade;
mod grid;
mod identity;
pub mod locate;
pub mod page;
mod prompt;
mod read;
mod run;
mod score;
pub mod tables;

pub use compare::{ComparedRun, ComparisonRow, Metric, ModelComparison, TrainedChange, compare};
pub use dataset::{Dataset, Problem};
pub use declaration::{AnswerKind, Columns, Declaration, Grading};
pub use error::DataError;
pub use grid::{Cell, Grid};
pub use identity::{Differences, differences, file_hash, fingerprints, identity, judged};
pub use prompt::{instructions, problem_messages};
pub use read::{RawRow, read};
pub use run::{EvalProtocol, Task, evaluate, plan, unasked, unfinished};
pub use score::{DatasetScore, Rate, Score, Scores, scores};
