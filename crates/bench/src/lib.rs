//! The benchmark: plan, run, grade, sum up.
//!
//! [`plan`] orders sessions, [`Runner`] drives them against models and records every reply. May use every room but `train` and `cli`.
//!
//! ```
//! use aske_bench::{Selection, plan};
//! use aske_config::Layers;
//! let layers = Layers::load(Some("paper-bench"), std::iter::empty(), &[]).unwrap();
//! let sessions = plan(&layers.settings().unwrap(), &Selection::default()).unwrap();
//! assert_eq!(sessions.len(), 1900); // 190 pairs, 10 samples
//! ```

mod budget;
mod caller;
mod course;
mod crew;
mod drive;
mod estimate;
mod fleet;
mod gguf;
mod grader;
mod identity;
mod observer;
mod panel;
mod plan;
mod regrade;
mod repair;
mod runner;
mod until;

pub use budget::{Purse, Reached, Spent};
pub use caller::{Answer, Caller, Replay, Trouble};
pub use course::{Course, Group};
pub use crew::{Crew, Ended, RunFailure};
pub use drive::{Cast, Driven, calls, drive};
pub use estimate::{Estimate, RoleEstimate, estimate};
pub use fleet::{Dialogue, Fleet};
pub use grader::{Checker, Grader, Reader, is_current, record_name};
pub use identity::{checker_text, manifest, manifest_with, role_text};
pub use observer::Observer;
pub use panel::{Panel, audit_panels, baseline_panels, difficulty_panels, judged, solve, standing};
pub use plan::{PlanError, Planned, Selection, Shard, pairs_of, plan, planned};
pub use regrade::{Regrading, regrade};
pub use repair::{Repaired, Unrecorded, repair, unrecorded};
pub use runner::{Finished, Made, Runner};
pub use until::{Stopped, Until, run_until};
