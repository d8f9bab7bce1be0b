//! The local viewer: serves the page in `web/` and its JSON API over run folders, which it never changes.
//!
//! A run that is still being written is followed. May use `chat`, `evidence`, `http`, `record`, `report`, `session` and
//! `stats`.
//!
//! ```no_run
//! # async fn show() -> Result<(), aske_view::ViewError> {
//! let options = aske_view::ViewOptions::local(vec!["runs/nano-nano-asker".into()], 0);
//! let until = std::future::pending();
//! aske_view::serve(options, |server| eprintln!("http://{}/", server.address()), until).await
//! # }
//! ```

mod api;
mod assets;
mod error;
mod filter;
mod flags;
mod params;
mod render;
mod request;
mod runs;
mod search;
mod server;

pub use error::ViewError;
pub use server::{ViewOptions, serve};
