//! Options of a test server.

use std::path::PathBuf;
use std::time::Duration;

use crate::Fault;

/// How the server behaves; the default has no latency and no faults.
#[derive(Debug, Clone)]
pub struct TestServerOptions {
    /// Port on 127.0.0.1; 0 for any free port.
    pub port: u16,
    /// Latency of each reply.
    pub latency: Duration,
    /// Fraction of requests with a fault, 0 to 1.
    pub faults: f64,
    /// Seed of the faults.
    pub fault_seed: u64,
    /// Limits the faults to one kind; `None` draws from all.
    pub only_fault: Option<Fault>,
    /// How long [`Fault::Hang`] stays silent before it closes.
    pub hang: Duration,
    /// File to which each request's body is appended as a line.
    pub dump: Option<PathBuf>,
    /// Filler words in a reply.
    pub pad_words: usize,
}

impl Default for TestServerOptions {
    fn default() -> Self {
        Self {
            port: 0,
            latency: Duration::ZERO,
            faults: 0.0,
            fault_seed: 0,
            only_fault: None,
            hang: Duration::from_secs(30),
            dump: None,
            pad_words: 120,
        }
    }
}
