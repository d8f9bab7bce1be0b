//! The tokio runtime of a command, and what Ctrl-C does to its work.

use crate::error::CliError;
use crate::output::note;
use aske_model::Halt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shown after the first Ctrl-C.
pub(crate) const STOPPING: &str =
    "stopping: calls in flight may end, and are stored; press Ctrl-C again to drop them";

/// Whether the user has interrupted the work.
#[derive(Debug, Default)]
pub(crate) struct Interrupt(AtomicBool);

impl Interrupt {
    pub(crate) fn happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work` to its end. The first Ctrl-C lets calls in flight finish and starts nothing new; the second drops the
/// work and returns an error.
pub(crate) async fn interruptible<T>(
    halt: &Halt,
    interrupt: &Interrupt,
    work: impl Future<Output = T>,
) -> Result<T, CliError> {
    let interrupted_twice = async {
        shutdown_signal().await;
        interrupt.0.store(true, Ordering::Relaxed);
        halt.trigger();
        tracing::info!("interrupted; waiting for calls in flight");
        note(format_args!("\n{STOPPING}"));
        shutdown_signal().await;
    };
    tokio::select! {
        done = work => Ok(done),
        () = interrupted_twice => Err(CliError::interrupted()),
    }
}

/// Runs [`interruptible`] work on this thread.
pub(crate) fn block_on<T>(
    halt: &Halt,
    interrupt: &Interrupt,
    work: impl Future<Output = T>,
) -> Result<T, CliError> {
    runtime()?.block_on(interruptible(halt, interrupt, work))
}

/// Runs `work` on this thread to its end, or until the first Ctrl-C.
pub(crate) fn until_signal<T>(work: impl Future<Output = T>) -> Result<Option<T>, CliError> {
    Ok(runtime()?.block_on(async {
        tokio::select! {
            done = work => Some(done),
            () = shutdown_signal() => None,
        }
    }))
}

/// A runtime on this thread.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::failure(format_args!("cannot start the async runtime: {error}")))
}

/// Completes on Ctrl-C, and on Unix also on SIGTERM. Must be called inside a runtime; listens from the call on, so that
/// a signal between the call and the first poll is not lost.
pub(crate) fn shutdown_signal() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let listeners = {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::interrupt()).and_then(|one| Ok((one, signal(SignalKind::terminate())?)))
    };
    async move {
        #[cfg(unix)]
        if let Ok((mut interrupt, mut terminate)) = listeners {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
