//! A run under way: the runtime, and Ctrl-C.

use crate::output::note;
use crate::problem::{Exit, Problem};
use aske_model::Halt;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is said after the first Ctrl-C.
pub(crate) const STOPPING: &str =
    "stopping: calls in flight may end, and are stored; Ctrl-C again leaves them";

/// Whether the user has asked the run to end.
#[derive(Debug, Default)]
pub(crate) struct Interrupt(AtomicBool);

impl Interrupt {
    pub(crate) fn happened(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work` to its end on this thread. The first Ctrl-C lets calls in flight end and begins nothing new; the
/// second one ends the process.
pub(crate) fn block_on<T>(
    halt: &Halt,
    interrupt: &Interrupt,
    work: impl Future<Output = T>,
) -> Result<T, Problem> {
    runtime()?.block_on(async {
        tokio::select! {
            done = work => Ok(done),
            never = on_signals(halt, interrupt) => match never {},
        }
    })
}

/// Runs `work` to its end on this thread, or until the first Ctrl-C.
pub(crate) fn until_signal<T>(work: impl Future<Output = T>) -> Result<Option<T>, Problem> {
    Ok(runtime()?.block_on(async {
        tokio::select! {
            done = work => Some(done),
            () = wait_for_signal() => None,
        }
    }))
}

/// A runtime on this thread.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Problem> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| Problem {
        message: format!("no runtime: {error}"),
        hint: None,
        exit: Exit::Failures,
    })
}

async fn on_signals(halt: &Halt, interrupt: &Interrupt) -> std::convert::Infallible {
    wait_for_signal().await;
    interrupt.0.store(true, Ordering::Relaxed);
    halt.trigger();
    note(format_args!("\n{STOPPING}"));
    wait_for_signal().await;
    std::process::exit(i32::from(Exit::Interrupted.status()))
}

/// The same as [`wait_for_signal`], for signals from now on; inside a runtime. A server that has said where it listens ends
/// gracefully, however soon it is asked to.
pub(crate) fn signal_from_now() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let caught = {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::interrupt()).and_then(|one| Ok((one, signal(SignalKind::terminate())?)))
    };
    async move {
        #[cfg(unix)]
        if let Ok((mut interrupt, mut terminate)) = caught {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        wait_for_signal().await;
    }
}

/// Ctrl-C, or on Unix a polite request to end.
pub(crate) async fn wait_for_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
