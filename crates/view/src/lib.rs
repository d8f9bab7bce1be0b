//! The local viewer: a page and its JSON, served on this machine only, over run folders that it never changes.
//!
//! A run that is still being written is followed. May use `evidence`, `record`, `session` and `stats`.
//!
//! ```no_run
//! # async fn show() -> Result<(), aske_view::ViewError> {
//! let options = aske_view::Options { runs: vec!["runs/nano-nano-asker".into()], port: 0 };
//! let until = std::future::pending();
//! aske_view::serve(options, |address| eprintln!("http://{address}/"), until).await
//! # }
//! ```

mod api;
mod assets;
mod error;
mod filter;
mod flags;
mod guard;
mod params;
mod problem;
mod runs;
mod search;
mod server;
mod shown;

pub use error::ViewError;
pub use server::{Options, serve};
