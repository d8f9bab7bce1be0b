//! The local viewer: serves the page in `web/` and its JSON API over run folders, which it never changes.
//!
//! A run that is still being written is followed. May use `chat`, `evidence`, `http`, `record`, `report`, `session` and
//! `stats`.
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
mod catalogue;
mod error;
mod filter;
mod flags;
mod params;
mod render;
mod request;
mod runs;
mod search;
mod server;
mod summary;
mod timeline;

pub use error::ViewError;
pub use server::serve;
