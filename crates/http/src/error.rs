//! Why a server cannot start or a worker thread failed.

use aske_chat::Hint;
use std::borrow::Cow;
use std::io;
use std::net::SocketAddr;

/// Why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// The address cannot be bound.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// A token is required on this address and none is set.
    #[error("{address} can be reached from other machines, and no token is set")]
    NoToken {
        /// The address.
        address: SocketAddr,
    },
    /// `ASKE_TOKEN` is invalid.
    #[error("ASKE_TOKEN {0}")]
    BadToken(&'static str),
    /// The operating system's random number generator failed.
    #[error("cannot generate a token: {0}")]
    Random(#[source] getrandom::Error),
}

impl Hint for HttpError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        let hint = match self {
            Self::Bind { source, .. } if source.kind() == std::io::ErrorKind::AddrNotAvailable => {
                "this machine has no such address; choose one of its own with --host, or 0.0.0.0 for all"
            }
            Self::Bind { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
                "ports below 1024 need special rights; choose another one with --port"
            }
            Self::Bind { .. } => {
                "another program may be using that port; choose one with --port, or 0 for any"
            }
            Self::NoToken { .. } => "set ASKE_TOKEN, or listen on 127.0.0.1",
            Self::BadToken(_) => "generate one with `openssl rand -hex 32`, or unset ASKE_TOKEN",
            Self::Random(_) => "set ASKE_TOKEN to a secret of your own",
        };
        Some(hint.into())
    }
}

/// Work on a worker thread panicked or was cancelled.
#[derive(Debug, thiserror::Error)]
#[error("the request failed on a worker thread: {0}")]
pub struct WorkerError(#[from] tokio::task::JoinError);

impl Hint for WorkerError {}
