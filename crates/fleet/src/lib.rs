//! A boundary set on GPUs: what fits where, in which order where not all fits at once, and the vLLM servers themselves.
//!
//! A plan is a plain value: memory by formula (`model`), servers on GPUs (`pack`), the order of pairs with the fewest
//! loads (`order`), arguments (`command`) and files for schedulers (`job`). `keeper` runs it: it starts servers, keeps
//! them, and ends them. Uses no other crate of ours.
//!
//! ```
//! use aske_fleet::{Effort, Model, Plan};
//! let model = |name: &str, hub: &str| Model { length: 8192, sequences: 8, ..Model::solver(name, hub) };
//! let models = [model("small", "Qwen/Qwen3-1.7B"), model("large", "Qwen/Qwen3-8B")];
//! let plan = Plan::new(&models, &[], "1x80".parse()?, 8001, Effort::default())?;
//! assert!(plan.at_once());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod command;
mod down;
mod endpoints;
mod error;
mod facts;
mod gpus;
mod http;
mod job;
mod keeper;
mod log;
mod model;
mod order;
mod pack;
mod plan;
mod process;
mod server;
mod state;

pub use command::arguments;
pub use down::down;
pub use endpoints::endpoints;
pub use error::{Cause, FleetError};
pub use gpus::{Gpus, ROOM};
pub use job::{Kubernetes, Slurm, kubernetes, slurm};
pub use keeper::{Event, Keeper, Options};
pub use log::{last_lines, read as read_log};
pub use model::{GB, Model, Need, Quantisation};
pub use order::Effort;
pub use plan::{Phase, Placed, Plan, PlanError, Server};
pub use process::Identity;
pub use state::{Condition, ServerState, State};
