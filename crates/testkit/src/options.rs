//! Options of a test server, also its command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use crate::Fault;

/// An OpenAI-compatible server with scripted models and injected faults.
///
/// The default has no latency and no faults.
#[derive(Debug, Clone, Parser)]
#[command(version)]
pub struct TestServerOptions {
    /// Port on 127.0.0.1; 0 for any free port.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Latency of each reply, in milliseconds.
    #[arg(long = "latency-ms", value_name = "MS", default_value = "0", value_parser = milliseconds)]
    pub latency: Duration,
    /// Fraction of requests with a fault, 0 to 1.
    #[arg(long, default_value_t = 0.0, value_parser = fraction)]
    pub faults: f64,
    /// Seed of the faults.
    #[arg(long, default_value_t = 0)]
    pub fault_seed: u64,
    /// Limit the faults to one kind, such as `reset` or `half-body`.
    #[arg(long, value_name = "NAME")]
    pub only_fault: Option<Fault>,
    /// How long a hanging request stays silent, in seconds.
    #[arg(long = "hang-s", value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    pub hang: Duration,
    /// Append each request's body to this file as a line.
    #[arg(long, value_name = "FILE")]
    pub dump: Option<PathBuf>,
    /// Filler words in a reply.
    #[arg(long, default_value_t = 120)]
    pub pad_words: usize,
}

impl Default for TestServerOptions {
    fn default() -> Self {
        Self::parse_from(["aske-testserver"])
    }
}

fn milliseconds(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_millis).map_err(|error| format!("{error}"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|error| format!("{error}"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn fraction(text: &str) -> Result<f64, String> {
    let value = text.parse().map_err(|error| format!("{error}"))?;
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err("not between 0 and 1".to_owned()) }
}
