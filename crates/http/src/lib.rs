//! The local HTTP server behind `aske view`, `aske serve env` and `aske serve models`: limits, host check, token, JSON
//! errors and graceful shutdown.
//!
//! [`Server`] accepts connections and closes idle and slow ones when it is full; `Budget` limits the memory of all requests
//! together; [`Workers`] runs blocking work, cheap work first; [`Access`] is the token; [`ApiError`] is the error response.
//! May use `chat`.
//!
//! ```no_run
//! # async fn example() -> Result<(), aske_http::HttpError> {
//! use aske_http::{Access, Server, ServerOptions};
//! use axum::{Router, routing::get};
//! let options = ServerOptions::new(([127, 0, 0, 1], 0).into(), Access::open());
//! let server = Server::bind(options).await?;
//! eprintln!("http://{}/", server.address());
//! server.run(Router::new().route("/", get(async || "hello")), std::future::pending(), || {}).await
//! # }
//! ```

mod access;
mod api_error;
mod body;
mod budget;
mod connection;
mod connections;
mod error;
mod guard;
mod host;
mod io;
mod limits;
mod login;
mod response;
mod server;
mod state;
mod workers;

pub use access::{Access, Token};
pub use api_error::ApiError;
pub use body::{BodyError, RequestBody, read_body};
pub use error::{HttpError, WorkerError};
pub use limits::Limits;
pub use server::{Server, ServerOptions};
pub use state::ServerState;
pub use workers::Workers;
