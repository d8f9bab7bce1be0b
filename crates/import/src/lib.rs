//! Rollouts that the Python library verifiers has written, as a run folder.
//!
//! `results.jsonl` of verifiers 0.3 and `traces.jsonl` of 0.4 are read line by line, so a file may be larger than the
//! memory. What a file does not say is left out and counted, never made up. May use `session`, `record` and `chat`.
//!
//! ```
//! use aske_import::{Key, Map};
//! let mut map = Map::default();
//! map.set("outcome=info.verdict".parse().unwrap());
//! assert_eq!(map.paths(Key::Outcome), ["info.verdict"]);
//! ```

mod count;
mod error;
mod fields;
mod grading;
mod import;
mod lines;
mod names;
mod ours;
mod places;
mod results;
mod rollout;
mod session;
mod shown;
mod taken;
mod tally;
mod traces;

pub use count::Count;
pub use error::ImportError;
pub use fields::{BadMapping, Key, Map, Mapping};
pub use import::{GRADER, Import, Imported, Options};
pub use lines::{BadLine, size};
pub use names::Named;
pub use tally::{Gap, Left};
