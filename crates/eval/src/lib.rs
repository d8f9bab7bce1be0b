//! Models on mathematics benchmarks: datasets, samples, pass@k and avg@k, comparisons of two models.
//!
//! A [`Declaration`] says what a dataset is, [`locate::find`] where it lies, [`Dataset`] holds its checked problems.
//! [`evaluate`] puts them to a model, sample by sample, into a run folder. [`scores`] and [`compare()`] are pure; the
//! tables and pages only write them down. May use every room but `train`, `view`, `export`, `serve` and `cli`.
//!
//! ```
//! use aske_eval::{locate, plan};
//! let data = locate::find("ladder", &locate::Places::default()).unwrap().remove(0).read().unwrap();
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

pub use compare::{Comparison as Compared, Line, Metric, Side, compare};
pub use dataset::{Dataset, Problem};
pub use declaration::{Columns, Comparison, Declaration, Grading, Kind};
pub use error::DataError;
pub use grid::{Cell, Grid};
pub use identity::{Differences, differences, file_hash, fingerprints, identity, judged};
pub use read::{Row, read};
pub use run::{Protocol, Task, evaluate, open, plan};
pub use score::{DatasetScore, Rate, Score, Scores, scores};
