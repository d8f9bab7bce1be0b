//! The local viewer: a page and its JSON over run folders that it never changes.
//!
//! A run that is still being written is followed. May use `evidence`, `http`, `record`, `session` and `stats`.
//!
//! ```no_run
//! # async fn show() -> Result<(), aske_view::ViewError> {
//! let options = aske_view::Options::local(vec!["runs/nano-nano-asker".into()], 0);
//! let until = std::future::pending();
//! aske_view::serve(options, |server| eprintln!("http://{}/", server.address()), until).await
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
mod reply;
mod runs;
mod search;
mod server;
mod shown;

pub use error::ViewError;
pub use server::{Options, serve};
