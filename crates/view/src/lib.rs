//! The local viewer: serves the page in `web/` and its JSON API over run folders, which it never changes.
//!
//! A run that is still being written is followed; [`bundle`] writes the same pages as static files. May use `bench`, `chat`,
//! `config`, `eval`, `evidence`, `http`, `model`, `record`, `report`, `session`, `stats` and `train`.
//!
//! ```no_run
//! # async fn show() -> Result<(), aske_view::ViewError> {
//! use aske_http::{Access, Server, ServerOptions};
//! let runs = vec!["runs/nano-nano-asker".into()];
//! let options = ServerOptions::new(([127, 0, 0, 1], 0).into(), Access::open());
//! let ready = |server: &Server| eprintln!("http://{}/", server.address());
//! aske_view::serve(runs, options, ready, std::future::pending()).await
//! # }
//! ```

mod api;
mod assets;
mod bundle;
mod catalogue;
mod classic;
mod dialogue;
mod error;
mod filter;
mod flags;
mod params;
mod render;
mod request;
mod runs;
mod search;
mod sections;
mod server;
mod summary;
mod timeline;
mod training;

pub use bundle::{BundleSummary, bundle};
pub use error::ViewError;
pub use server::serve;
