//! Runs the test server until it receives a signal.

use std::io::{self, Write};
use std::process::ExitCode;

use aske_testkit::{TestServer, TestServerOptions};
use clap::Parser;
use tokio::runtime;
use tokio::signal::unix::{SignalKind, signal};

fn main() -> ExitCode {
    match run(TestServerOptions::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be closed.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: TestServerOptions) -> io::Result<()> {
    let server = TestServer::try_start(options)?;
    let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        // Listen for signals before printing the port, as the reader may stop the server at once.
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
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
