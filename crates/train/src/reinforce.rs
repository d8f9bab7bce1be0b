//! Reinforcement learning of an asker: sessions are sampled, rewarded and learned from, step by step.
//!
//! A [`PairSchedule`](aske_bench::PairSchedule) selects the pairs of a step. [`RolloutSampler`] runs their sessions with the
//! benchmark's runner and into the same kind of folder. [`score_rollouts`] computes rewards and advantages,
//! [`token_sequences`] and [`pack_batches`] turn rollouts into batches. A [`Trainer`] runs all steps, each one update behind
//! the weights that sampled it, and can be interrupted and resumed at any time.

mod checkpoint;
mod finite;
mod held_out;
mod load;
mod metrics;
mod monitor;
mod resume;
mod rewards;
mod sampler;
mod sequences;
mod server;
mod trainer;

pub use held_out::{HeldOutEval, evaluate_held_out};
pub use load::load_policy;
pub use metrics::{MetricsWriter, StepMetrics, read_metrics};
pub use monitor::{CollapseMonitor, MonitorReport, ThresholdAlert};
pub use resume::ResumeError;
pub use rewards::{ScoredRollout, score_rollouts};
pub use sampler::{Rollout, RolloutSampler};
pub use sequences::{TokenSequence, pack_batches, token_sequences};
pub use server::{PolicyServer, VllmPolicyServer};
pub use trainer::{StopReason, TrainError, TrainObserver, Trainer};
