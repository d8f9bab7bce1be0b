//! How much clients may hold, and for how long.

use std::time::Duration;

/// The limits of one server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Connections at most. Within the process's limit of open files, half of which is left to everything else.
    pub connections: usize,
    /// From the first byte of a request to the end of its headers; also from a new connection to its first byte.
    pub head: Duration,
    /// Between two requests of a connection.
    pub idle: Duration,
    /// For the whole body of a request.
    pub body: Duration,
    /// For a client that does not read its response.
    pub stall: Duration,
    /// Bytes of one request body at most.
    pub body_bytes: usize,
    /// Bytes of all large request bodies together.
    pub bodies: usize,
    /// Bytes of all large responses together.
    pub responses: usize,
    /// How long a slow client keeps what others are waiting for.
    pub grace: Duration,
}

/// Bodies and responses up to this size are not counted.
pub(crate) const SMALL: usize = 64 << 10;

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: within_open_files(4096),
            head: Duration::from_secs(5),
            idle: Duration::from_secs(75),
            body: Duration::from_secs(20),
            stall: Duration::from_secs(20),
            body_bytes: 4 << 20,
            bodies: 8 << 20,
            responses: 128 << 20,
            grace: Duration::from_millis(200),
        }
    }
}

#[cfg(unix)]
fn within_open_files(most: usize) -> usize {
    let soft = rlimit::getrlimit(rlimit::Resource::NOFILE).map_or(1024, |(soft, _)| soft);
    usize::try_from(soft / 2).unwrap_or(most).clamp(16, most)
}

#[cfg(not(unix))]
fn within_open_files(most: usize) -> usize {
    most
}
