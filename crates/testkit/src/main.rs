//! Runs the test server until it receives a signal.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use aske_testkit::{Fault, TestServer, TestServerOptions};
use clap::Parser;
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

/// An OpenAI-compatible server with scripted models and injected faults.
#[derive(Parser)]
#[command(version)]
struct Args {
    /// Port on 127.0.0.1; 0 for any free port.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Latency of each reply, in milliseconds.
    #[arg(long, default_value_t = 0)]
    latency_ms: u64,
    /// Fraction of requests with a fault, 0 to 1.
    #[arg(long, default_value_t = 0.0)]
    faults: f64,
    /// Seed of the faults.
    #[arg(long, default_value_t = 0)]
    fault_seed: u64,
    /// Limit the faults to one kind, such as `429`, `reset` or `half-body`.
    #[arg(long, value_name = "NAME")]
    only_fault: Option<Fault>,
    /// How long a hanging request stays silent, in seconds.
    #[arg(long, default_value_t = 30.0)]
    hang_s: f64,
    /// Append each request's body to this file as a line.
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
    /// Filler words in a reply.
    #[arg(long, default_value_t = 120)]
    pad_words: usize,
}

impl TryFrom<Args> for TestServerOptions {
    type Error = io::Error;

    fn try_from(args: Args) -> io::Result<Self> {
        if !(0.0..=1.0).contains(&args.faults) {
            return Err(io::Error::other(format!("--faults {} is not between 0 and 1", args.faults)));
        }
        Ok(Self {
            port: args.port,
            latency: Duration::from_millis(args.latency_ms),
            faults: args.faults,
            fault_seed: args.fault_seed,
            only_fault: args.only_fault,
            hang: Duration::try_from_secs_f64(args.hang_s).map_err(io::Error::other)?,
            dump: args.dump,
            pad_words: args.pad_words,
        })
    }
}

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> io::Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        // Listen for signals before printing the port, as the reader may stop the server at once.
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let server = TestServer::try_start(args.try_into()?)?;
        let mut out = io::stdout();
        writeln!(out, "listening on {}", server.url())?;
        out.flush()?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        server.stop().map(drop)
    })
}
