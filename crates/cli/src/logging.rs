//! The log: `tracing` events of Ask-E's own crates on stderr and in a file. Off unless asked for.

use crate::arguments::Log;
use crate::error::CliError;
use crate::output::print_stderr;
use anstream::StripStream;
use parking_lot::Mutex;
use std::fs::File;
use std::io::Write;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::{FilterExt, filter_fn};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The environment variable that sets the filter.
pub(crate) const VARIABLE: &str = "ASKE_LOG";

/// Starts logging as the flags and the environment ask for.
pub(crate) fn start(log: &Log) -> Result<(), CliError> {
    let variable = std::env::var(VARIABLE).ok().filter(|value| !value.is_empty());
    let directives = match (log.verbose, &variable) {
        (0, Some(variable)) => variable.as_str(),
        (0, None) if log.log_file.is_none() => return Ok(()),
        (0 | 1, _) => "info",
        (2, _) => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_new(directives).map_err(|error| {
        CliError::usage(
            format!("{VARIABLE}={directives}: {error}"),
            format!("write levels such as {VARIABLE}=debug or {VARIABLE}=aske_model=trace,info"),
        )
    })?;
    let open = |path| File::options().create(true).append(true).open(path);
    let file = log.log_file.as_ref().map(open).transpose().map_err(|error| {
        let path = log.log_file.clone().unwrap_or_default();
        CliError::usage(format!("--log-file {}: {error}", path.display()), "name a file you can write to")
    })?;
    let writer = LogWriter {
        stderr: log.verbose > 0 || variable.is_some(),
        file: file.map(|file| Mutex::new(StripStream::new(file))),
    };
    // Libraries log headers and bodies, which hold keys: only our own crates are ever logged.
    let own = filter_fn(|metadata| metadata.target().starts_with("aske"));
    // Spans name the session of an event, whatever the level of either.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method's lifetimes are not general enough"
    )]
    let spans = filter_fn(|metadata| metadata.is_span());
    let layer = tracing_subscriber::fmt::layer().with_ansi(true).with_writer(writer);
    tracing_subscriber::registry().with(layer.with_filter(filter.or(spans).and(own))).init();
    Ok(())
}

/// Writes each event to stderr, above any progress bar, and without colours to the file.
struct LogWriter {
    stderr: bool,
    file: Option<Mutex<StripStream<File>>>,
}

impl Write for &LogWriter {
    fn write(&mut self, event: &[u8]) -> std::io::Result<usize> {
        if self.stderr {
            print_stderr(String::from_utf8_lossy(event));
        }
        if let Some(file) = &self.file {
            file.lock().write_all(event)?;
        }
        Ok(event.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for LogWriter {
    type Writer = &'w Self;

    fn make_writer(&'w self) -> Self::Writer {
        self
    }
}
