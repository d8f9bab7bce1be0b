//! The statistics of the benchmark: how sure a number is, and what it is made of.
//!
//! Plain functions over values: no clock, no files, and randomness only from a seed that the caller gives.
//! Depends on no other room. Every interval is a 95% one.
//!
//! - [`wilson`], [`jeffreys`], [`mean_interval`], [`newcombe`]: independent trials.
//! - [`clustered`]: a rate over sessions that share a solver pair.
//! - [`mean_share`]: a mean over problems with several samples each.
//! - [`paired`], [`holm`], [`fisher`]: is one asker better than another?
//! - [`pass_at`]: would one of k samples be right?
//! - [`audit`]: how much of a calibration rate is luck.
//! - [`conditional`], [`crossed`], [`difficulty`]: able solvers, skilled askers, hard questions.
//! - [`Sampler`]: which pairs to ask next, and the rate that comes out unbiased.
//! - [`kendall`], [`rank_correlation`], [`same_order`]: do two rankings agree?
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
mod belief;
mod cluster;
mod conditional;
mod crossed;
mod difficulty;
mod exact;
mod flip;
mod grid;
mod interval;
mod linear;
mod paired;
mod pass;
mod round;
mod share;
mod symmetric;

pub use adaptive::{Adaptive, Drawn, Sampler};
pub use agreement::{kendall, rank_correlation, same_order};
pub use audit::{Audit, Redraws, Terms, audit, terms};
pub use cluster::clustered;
pub use conditional::{Abilities, Response, conditional};
pub use crossed::{Cell, Crossed, crossed};
pub use difficulty::difficulty;
pub use exact::{fisher, holm};
pub use interval::{Estimate, Interval, jeffreys, mean_interval, newcombe, wilson};
pub use paired::{Paired, paired};
pub use pass::pass_at;
pub use share::mean_share;
