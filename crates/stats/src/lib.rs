//! Stub.
#![allow(missing_docs, clippy::all, clippy::pedantic)]
mod correlation;
mod interval;
pub use correlation::*;
pub use interval::{Interval, mean_interval, wilson};
use serde::{Deserialize, Serialize};
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    pub interval: Interval,
}
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    pub difference: Estimate,
    pub p: f64,
    pub smallest: f64,
    pub sessions: u64,
    pub clusters: u64,
}
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    pub calibrated: Estimate,
    pub separation: Estimate,
    pub noise: Estimate,
    pub gap: Estimate,
    pub again: Option<Estimate>,
    pub same: Estimate,
    pub shuffled: Option<Estimate>,
    pub sessions: u64,
    pub skipped: u64,
}
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Abilities {
    pub ability: Vec<Option<Estimate>>,
    pub items: u64,
    pub fit: Vec<Option<f64>>,
    pub p: Option<f64>,
}
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adaptive {
    pub rate: Estimate,
    pub sessions: u64,
    pub uniform: f64,
    pub balanced: f64,
}
