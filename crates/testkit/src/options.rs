//! What a test server can be told.

use std::path::PathBuf;
use std::time::Duration;

use crate::Fault;

/// How the server behaves; [`Options::default`] is quick and free of faults.
#[derive(Debug, Clone)]
pub struct Options {
    /// Port on 127.0.0.1; 0 lets the system choose.
    pub port: u16,
    /// Wait before each answer.
    pub latency: Duration,
    /// Share of requests that meet a fault, 0 to 1.
    pub faults: f64,
    /// Decides which requests meet which fault.
    pub fault_seed: u64,
    /// Limits the faults to one kind; `None` draws from all.
    pub only_fault: Option<Fault>,
    /// How long [`Fault::Hang`] stays silent before it closes.
    pub hang: Duration,
    /// File to which each request's body is appended as a line.
    pub dump: Option<PathBuf>,
    /// Words of working in a reply.
    pub pad_words: usize,
}

impl Default for Options {
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
