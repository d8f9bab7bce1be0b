//! Why the server cannot start.

use std::io;
use std::net::SocketAddr;

/// What can go wrong.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The address cannot be bound.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// A token is required on this address and there is none.
    #[error("{address} can be reached from other machines, and there is no token")]
    NoToken {
        /// The address.
        address: SocketAddr,
    },
    /// `ASKE_TOKEN` cannot be used.
    #[error("ASKE_TOKEN {0}")]
    BadToken(&'static str),
    /// The system gives no random numbers.
    #[error("the system has no random numbers for a token: {0}")]
    Random(String),
}

impl HttpError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Bind { .. } => "another program may have that port; choose one with --port, or 0 for any",
            Self::NoToken { .. } => "set ASKE_TOKEN, or listen on 127.0.0.1",
            Self::BadToken(_) => "generate one with `openssl rand -hex 32`, or unset ASKE_TOKEN",
            Self::Random(_) => "set ASKE_TOKEN to a secret of your own",
        }
    }
}
