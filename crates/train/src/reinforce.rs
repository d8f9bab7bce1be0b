//! Learning to ask: sessions are sampled, rewarded and learnt from, step by step.
//!
//! A [`PairSchedule`](aske_bench::Course) says which pairs a step asks; [`Sampler`] runs their sessions with the same machine and into the same
//! kind of folder as the benchmark; [`rewards`] and [`rows`] turn them into what a [`Policy`](crate::Policy) learns
//! from; a [`Trainer`] does so until the last step, one update behind what it samples with, and can stop and go on at
//! any time.

mod checkpoint;
mod exam;
mod metrics;
mod resume;
mod rewards;
mod rows;
mod sampler;
mod start;
mod tensors;
mod trainer;
mod watch;

pub use exam::{Exam, exam};
pub use metrics::{Line, Metrics, read_metrics};
pub use resume::PassedOver;
pub use rewards::{Rewarded, rewards};
pub use rows::{Row, batches, rows};
pub use sampler::{Rollout, Sampler};
pub use start::policy;
pub use trainer::{Stop, TrainError, Trainer, Watcher};
pub use watch::{Alarm, Seen, Watch};
