//! Run folders: written during a run, resumed after a crash, read, merged and repaired.
//!
//! `run.toml` says what the run is, `calls.sqlite` keeps every reply, `records.jsonl` one finished record a
//! line, `grades/NAME.jsonl` one grade a line. Depends on `session` and `chat`.
//!
//! ```
//! use aske_record::{Identity, Manifest, RunDir};
//! let folder = std::env::temp_dir().join(format!("aske-doc-{}", std::process::id()));
//! let manifest = Manifest::new("0.1.0", Identity::default(), toml::Table::new());
//! let run = RunDir::open(&folder, &manifest).unwrap();
//! assert!(run.index().is_empty());
//! # drop(run); std::fs::remove_dir_all(folder).unwrap();
//! ```

mod calls;
mod damaged;
mod difference;
mod error;
mod files;
mod id;
mod index;
mod jsonl;
mod lines;
mod manifest;
mod merge;
mod new_run;
mod run;
mod scan;

pub use calls::{CallKey, CallStore, Replies, StoredCall};
pub use damaged::{DamagedLines, set_aside};
pub use difference::{Difference, listed as listed_differences};
pub use error::{RunError, io_hint};
pub use id::{PairId, PairIdError, SessionId};
pub use index::Index;
pub use jsonl::Jsonl;
pub use lines::{
    DrawLine, EvalRecord, GradeLine, ModelUsage, PanelRecord, Record, RoleUsage, SCHEMA, SessionRecord,
};
pub use manifest::{COMPARISON, EVAL, Identity, Manifest};
pub use merge::{MergeSummary, merge};
pub use new_run::NewRun;
pub use run::{RunDir, STANDARD, read_draws, read_grades, read_records};
pub use scan::{LineSpan, for_each_line, read_line_at, scan_lines, scan_some_lines};
