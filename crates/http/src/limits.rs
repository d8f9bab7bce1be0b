//! Timeouts and size limits for clients.

use std::time::Duration;

/// The limits of one server.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Open connections. Capped at half of the process's limit on open files.
    pub max_connections: usize,
    /// From the first byte of a request to the end of its headers; also from a new connection to its first byte.
    pub header_timeout: Duration,
    /// Between two requests of a connection.
    pub idle_timeout: Duration,
    /// For the whole body of a request.
    pub body_timeout: Duration,
    /// For a client that does not read its response.
    pub write_timeout: Duration,
    /// Bytes of one request body.
    pub max_body_bytes: usize,
    /// Bytes of all large request bodies together.
    pub total_body_bytes: usize,
    /// Bytes of all large responses together.
    pub total_response_bytes: usize,
    /// How long a slow client may hold a connection or memory that other clients wait for.
    pub grace: Duration,
}

/// Bodies and responses up to this many bytes are not counted towards the totals.
pub(crate) const SMALL: usize = 64 << 10;

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: within_open_files(4096),
            header_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(75),
            body_timeout: Duration::from_secs(20),
            write_timeout: Duration::from_secs(20),
            max_body_bytes: 4 << 20,
            total_body_bytes: 8 << 20,
            total_response_bytes: 128 << 20,
            grace: Duration::from_millis(200),
        }
    }
}

#[cfg(unix)]
fn within_open_files(max: usize) -> usize {
    let soft = rlimit::getrlimit(rlimit::Resource::NOFILE).map_or(1024, |(soft, _)| soft);
    usize::try_from(soft / 2).unwrap_or(max).clamp(16, max)
}

#[cfg(not(unix))]
fn within_open_files(max: usize) -> usize {
    max
}
