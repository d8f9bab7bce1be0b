//! Runs the benchmark: plans sessions, calls models, records and grades; also audits, baselines and regrading.
//!
//! [`plan`] lists the sessions, [`Runner`] runs them against the models of a [`ModelRegistry`] and stores every reply. Used by
//! `eval`, `train`, `serve` and `cli`.
//!
//! ```
//! use aske_bench::{Selection, plan};
//! use aske_config::Layers;
//! let layers = Layers::load(Some("paper-bench"), std::iter::empty(), &[]).unwrap();
//! let sessions = plan(&layers.settings().unwrap(), &Selection::default()).unwrap();
//! assert_eq!(sessions.len(), 1900); // 190 pairs, 10 samples
//! ```

mod adaptive;
mod budget;
mod caller;
mod context;
mod estimate;
mod grader;
mod identity;
mod observer;
mod panel;
mod plan;
mod probe;
mod providers;
mod registry;
mod regrade;
mod repair;
mod runner;
mod schedule;
mod session;

pub use adaptive::{AdaptiveSummary, StopRule, is_finished, run_adaptive};
pub use budget::{Budget, BudgetLimit, Spending};
pub use caller::{CallError, CallReply, Caller, Replay};
pub use context::{JobSummary, RunContext, RunFailure};
pub use estimate::{Estimate, RoleEstimate, estimate};
pub use grader::{EquivalenceChecker, Grader, VerdictReader, is_current, record_name};
pub use identity::{checker_identity, manifest, manifest_with, role_identity};
pub use observer::Observer;
pub use panel::{
    Panel, audit_panels, baseline_panels, difficulty_panels, judged_records, run_panels,
    sessions_with_cross_check,
};
pub use plan::{PlanError, PlannedSession, Selection, Shard, plan, plan_session, selected_pairs};
pub use probe::{Probes, needed_roles, probe};
pub use providers::{Dialogue, chat_template_kwargs, provider};
pub use registry::ModelRegistry;
pub use regrade::{Regrader, regrade};
pub use repair::{MissingRecords, RepairSummary, missing_records, repair};
pub use runner::{RunSummary, Runner};
pub use schedule::{Group, PairOrder, PairSchedule};
pub use session::{FinishedSession, SessionRoles, make_calls, run_session};
