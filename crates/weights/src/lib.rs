//! Models and datasets of the Hugging Face hub: a catalogue, verified and resumable downloads, a shared cache.
//!
//! [`Catalogue`] lists the models; [`pull`] and [`pull_dataset`] download from the hub; [`Cache`] stores only complete,
//! verified models; [`HubCache`] finds what other programs have downloaded. Used by `cli`, `bench`, `eval` and `diversity`.
//! Depends on `chat` and `http-client`.
//!
//! This is not built on the `hf-hub` crate: its version 1.0.0 verifies no checksum, starts an interrupted file again from
//! the first byte, does not bound the size of a file, and adds 66 crates, among them a second TLS implementation
//! (`aws-lc-sys`).
//!
//! ```no_run
//! # async fn example() -> Result<(), aske_weights::PullError> {
//! use aske_weights::{Cache, Catalogue, PullOptions, pull};
//! let catalogue = Catalogue::builtin()?;
//! let Some(model) = catalogue.find("smollm2-135m-instruct") else { return Ok(()) };
//! let path = pull(model, &Cache::open()?, &PullOptions::from_environment()?, &|_| {}).await?;
//! # Ok(())
//! # }
//! ```

mod cache;
mod catalogue;
mod client;
mod dataset;
mod digest;
mod download;
mod error;
mod fetch;
mod hub;
mod hub_cache;
mod options;
mod pull;
mod space;

pub use cache::Cache;
pub use catalogue::{Catalogue, HubSource, Model, WeightFile};
pub use dataset::{find_dataset, pull_dataset};
pub use error::PullError;
pub use hub_cache::{CachedRepo, HubCache, RepoKind};
pub use options::PullOptions;
pub use pull::{PullEvent, pull};
