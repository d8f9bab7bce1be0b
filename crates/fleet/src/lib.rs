//! A boundary set on GPUs: what fits where, in which order where not all fits at once, and the vLLM servers themselves.

mod facts;
mod gpus;
mod model;
mod order;
mod pack;
mod plan;

pub use gpus::{Gpus, ROOM};
pub use model::{GB, Model, Need, Quantisation};
pub use order::Effort;
pub use plan::{Phase, Placed, Plan, PlanError, Server};
