//! Imports rollouts written by the Python library verifiers as a run folder.
//!
//! `results.jsonl` of verifiers 0.3 and `traces.jsonl` of 0.4 are read line by line, so files may be larger than memory.
//! What a file does not contain is left out and counted, never invented. Used by the CLI. May depend on `session`,
//! `record` and `chat`.
//!
//! ```
//! use aske_import::{Field, FieldMap};
//! let mut map = FieldMap::default();
//! map.set("outcome=info.verdict".parse().unwrap());
//! assert_eq!(map.paths(Field::Outcome), ["info.verdict"]);
//! ```

mod convert;
mod error;
mod feedback;
mod fields;
mod grading;
mod import;
mod lines;
mod names;
mod own;
mod reasons;
mod results;
mod rollout;
mod samples;
mod session;
mod stats;
mod traces;

pub use error::ImportError;
pub use fields::{Field, FieldMap, Mapping, MappingError};
pub use import::{GRADER, Import, ImportOptions, ImportSummary};
pub use lines::{LineError, size};
pub use names::ModelName;
pub use reasons::{MissingData, SkipReason};
pub use stats::ImportStats;
