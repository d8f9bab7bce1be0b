//! The statistics of the benchmark: intervals, tests, ability models, adaptive sampling.
//!
//! Pure functions over values: no clock, no files, and randomness only from a seed that the caller gives. Depends on no
//! other crate of the workspace. Used by `evidence`, `report`, `eval`, `export`, `bench` and `cli`. All intervals are 95%.
//!
//! - [`wilson`], [`clopper_pearson`], [`mean_interval`], [`newcombe`]: intervals over independent trials.
//! - [`clustered`]: a rate over sessions clustered by solver pair, for pairs in general; [`clopper_pearson`] for these pairs only.
//! - [`mean_share`]: a mean over problems with several samples each.
//! - [`paired`], [`holm`], [`fisher`]: comparisons of askers.
//! - [`pass_at`]: the pass@k estimator.
//! - [`audit`]: how much of a calibration rate is sampling noise.
//! - [`rasch`], [`crossed`], [`difficulty`]: abilities of solvers, skills of askers, difficulties of questions.
//! - [`AdaptiveSampler`]: allocates sessions to pairs and estimates the rate without bias.
//! - [`kendall`], [`rank_correlation`], [`same_order`]: agreement of rankings.
//!
//! ```
//! use aske_stats::{clustered, wilson};
//! // Three solver pairs: calibrated sessions, and sessions.
//! let rate = clustered(&[(4.0, 10.0), (7.0, 10.0), (5.0, 10.0)], 1).unwrap();
//! assert!(rate.interval.low < rate.value && rate.value < rate.interval.high);
//! assert!(wilson(16, 30).unwrap().low > 0.36);
//! ```

mod adaptive;
mod agreement;
mod audit;
mod cluster;
mod crossed;
mod difficulty;
mod fisher;
mod grid;
mod interval;
mod newton;
mod paired;
mod pass;
mod posterior;
mod rasch;
mod round;
mod share;
mod sign_flip;
mod symmetric;

pub use adaptive::{AdaptiveEstimate, AdaptiveSampler, PairDraw, half_width_of, sessions_for};
pub use agreement::{kendall, rank_correlation, same_order};
pub use audit::{Audit, AuditSession, AuditTerms, audit, audit_terms};
pub use cluster::{MIN_BOOTSTRAP_CLUSTERS, clustered};
pub use crossed::{Cell, CrossedFit, crossed};
pub use difficulty::difficulty;
pub use fisher::{fisher, holm};
pub use interval::{Estimate, Interval, clopper_pearson, mean_interval, newcombe, wilson};
pub use paired::{PairedComparison, paired};
pub use pass::pass_at;
pub use rasch::{Abilities, Response, rasch};
pub use share::mean_share;
