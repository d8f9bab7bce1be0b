//! The local HTTP server that `aske view`, `aske serve env` and `aske serve models` share: limits, host check, token and
//! a graceful end.
//!
//! [`Server`] accepts connections and closes those that hold a place without using it; [`Budget`] bounds what all
//! requests together hold in memory; [`Workers`] runs blocking work, cheap work first; [`Access`] is the token. Uses
//! nothing else of this workspace.
//!
//! ```no_run
//! # async fn example() -> Result<(), aske_http::HttpError> {
//! use aske_http::{Access, Options, Server};
//! use axum::{Router, routing::get};
//! let options = Options::new(([127, 0, 0, 1], 0).into(), Access::open());
//! let server = Server::bind(options).await?;
//! eprintln!("http://{}/", server.address());
//! server.run(Router::new().route("/", get(async || "hello")), std::future::pending(), || {}).await
//! # }
//! ```

mod access;
mod body;
mod budget;
mod connection;
mod error;
mod guard;
mod host;
mod io;
mod limits;
mod login;
mod refusal;
mod response;
mod server;
mod table;
mod workers;

pub use access::{Access, Token};
pub use body::{BodyError, Received, read_body};
pub use budget::{Budget, Permit};
pub use error::HttpError;
pub use guard::Shared;
pub use limits::Limits;
pub use refusal::Refusal;
pub use server::{Options, Server};
pub use workers::Workers;
