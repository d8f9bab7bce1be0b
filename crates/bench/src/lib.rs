//! The benchmark: plan, run, grade, sum up.
//!
//! [`plan`] orders sessions, [`Runner`] drives them against models and records every reply, [`Tally`] counts
//! outcomes with their intervals. May use every room but `train` and `cli`.
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
mod correlation;
mod drive;
mod estimate;
mod fleet;
mod grader;
mod identity;
mod interval;
mod observer;
mod plan;
mod runner;
mod tally;

pub use budget::{Reached, Spent};
pub use caller::{Caller, Trouble};
pub use correlation::rank_correlation;
pub use drive::drive;
pub use estimate::{Estimate, RoleEstimate, estimate};
pub use fleet::{Dialogue, Fleet};
pub use grader::Grader;
pub use identity::manifest;
pub use interval::{Interval, mean_interval, wilson};
pub use observer::Observer;
pub use plan::{PlanError, Planned, Selection, Shard, plan};
pub use runner::{Finished, RunFailure, Runner};
pub use tally::{Share, Tally};
