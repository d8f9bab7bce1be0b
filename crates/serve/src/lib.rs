//! The environment over HTTP: a trainer of any kind brings the asker, this side has everyone else. And models of this
//! process, for whoever speaks OpenAI's interface.
//!
//! An episode (`episode`) is a value that says what the trainer must bring next; `play` puts questions to the boundary
//! solvers; `api` is what a trainer sees; `models` is what serves models. May use
//! `bench`, `config`, `diversity`, `http`, `model`, `record` and `session`.
//!
//! ```no_run
//! # async fn example(environment: aske_serve::Environment) -> Result<(), aske_serve::ServeError> {
//! let options = aske_serve::options(([127, 0, 0, 1], 0).into(), aske_http::Access::open());
//! let ready = |server: &aske_http::Server| eprintln!("http://{}/", server.address());
//! aske_serve::serve(environment, options, ready, std::future::pending()).await
//! # }
//! ```

mod api;
mod environment;
mod episode;
mod error;
mod history;
mod models;
mod play;
mod problem;
mod server;
mod table;

pub use environment::{Environment, Options};
pub use error::ServeError;
pub use history::History;
pub use models::Models;
pub use server::{model_options, options, serve, serve_models};
