//! A boundary set on GPUs: placement, the order of phases when not all models fit at once, and supervised vLLM servers.
//!
//! A [`Plan`] is a plain value: memory estimates (`model`), bin packing (`pack`), the order of pairs with the fewest
//! loads (`order`), vLLM arguments (`command`) and scheduler files (`job`). A [`Supervisor`] starts, restarts and stops
//! the servers of a plan. Used by `aske fleet`, by `aske train`, and by the commands that serve a checkpoint folder. Depends on `chat` and `http-client`.
//!
//! ```
//! use aske_fleet::{Model, Plan, SearchBudget};
//! let model = |name: &str, hub: &str| Model { length: 8192, sequences: 8, ..Model::solver(name, hub) };
//! let models = [model("small", "Qwen/Qwen3-1.7B"), model("large", "Qwen/Qwen3-8B")];
//! let plan = Plan::new(&models, &[], "1x80".parse()?, &[], 8001, SearchBudget::default())?;
//! assert!(plan.at_once());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod command;
mod diagnosis;
mod down;
mod endpoints;
mod error;
mod folder;
mod gpus;
mod health;
mod job;
mod log;
mod model;
mod order;
mod pack;
mod plan;
mod process;
mod server;
mod shape;
mod state;
mod supervisor;

pub use command::arguments;
pub use down::down;
pub use endpoints::endpoints;
pub use error::{FleetError, ServerError};
pub use folder::{FolderError, ModelFolder};
pub use gpus::{Gpus, USABLE_PERMILLE};
pub use job::{KubernetesOptions, SlurmOptions, kubernetes, slurm};
pub use log::{last_lines, read as read_log};
pub use model::{GB, MemoryEstimate, Model, Quantisation};
pub use order::SearchBudget;
pub use plan::{Phase, Placement, Plan, PlanError, Server};
pub use process::ProcessIdentity;
pub use state::{FleetState, ServerState, ServerStatus};
pub use supervisor::{ServerEvent, Supervisor, SupervisorOptions};
