//! The environment over HTTP, for trainers of any kind, and models of this process as an OpenAI-compatible endpoint.
//!
//! The trainer supplies the asker's replies; the environment calls all other models. `episode` is the state of one session
//! as a pure value, `step` advances it with calls to the solvers, `api` holds the routes, and `models` is the model
//! endpoint. May use `bench`, `chat`, `config`, `diversity`, `http`, `model`, `record` and `session`.
//!
//! ```no_run
//! # async fn example(environment: aske_serve::Environment) -> Result<(), aske_serve::ServeError> {
//! let options = aske_http::ServerOptions::new(([127, 0, 0, 1], 0).into(), aske_http::Access::open());
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
mod open_sessions;
mod server;
mod step;

pub use environment::{Environment, SessionLimits};
pub use error::ServeError;
pub use history::History;
pub use models::Models;
pub use server::{serve, serve_models};
