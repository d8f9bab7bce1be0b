//! Threads for computations in parallel. They belong to the process, and signals of Python interrupt them.

use crate::process::{Computation, PerProcess};
use parking_lot::Mutex;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

static POOL: PerProcess<Arc<ThreadPool>> = PerProcess::new();

/// Maximum number of threads of one computation.
const MAX_THREADS: usize = 1024;

/// How often Python may handle signals.
const SIGNALS: Duration = Duration::from_millis(50);

/// The pool of this process, with a thread for each core.
pub(crate) fn pool(py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    POOL.with(py, || build(0), Arc::clone).map_err(|error| cannot_start(&error))
}

/// Applies a function to all items, on the pool of this process or on a new one with this many threads. An exception that a
/// signal handler raises, such as `KeyboardInterrupt`, ends it.
pub(crate) fn map<T, R>(
    py: Python<'_>,
    threads: Option<usize>,
    items: Vec<T>,
    function: impl Fn(&T) -> R + Send + Sync + 'static,
) -> PyResult<Vec<R>>
where
    T: Send + Sync + 'static,
    R: Send + 'static,
{
    let pool = match threads {
        None => pool(py)?,
        Some(threads) if threads > MAX_THREADS => {
            return Err(PyValueError::new_err(format!(
                "{threads} threads; at most {MAX_THREADS} are started"
            )));
        }
        // More than there are items would have nothing to do.
        Some(threads) => {
            py.detach(|| build(threads.min(items.len().max(1)))).map_err(|error| cannot_start(&error))?
        }
    };
    let interrupted = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = mpsc::sync_channel(1);
    let receiver = Mutex::new(receiver);
    let seen = interrupted.clone();
    pool.spawn(move || {
        let one = |item: &T| {
            let _computation = Computation::begin();
            (!seen.load(Ordering::Relaxed)).then(|| function(item))
        };
        // Nobody waits if it was interrupted.
        let _ = sender.send(items.par_iter().map(one).collect::<Option<Vec<R>>>());
    });
    loop {
        match py.detach(|| receiver.lock().recv_timeout(SIGNALS)) {
            Ok(Some(results)) => return Ok(results),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("internal error: a computation ended early"));
            }
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| interrupted.store(true, Ordering::Relaxed))?;
            }
        }
    }
}

fn build(threads: usize) -> Result<Arc<ThreadPool>, ThreadPoolBuildError> {
    // A panic ends the computation and not the process; the caller learns of it.
    let builder = ThreadPoolBuilder::new().num_threads(threads).panic_handler(|_| {});
    builder.thread_name(|n| format!("aske-{n}")).build().map(Arc::new)
}

fn cannot_start(error: &ThreadPoolBuildError) -> PyErr {
    PyRuntimeError::new_err(format!("cannot start threads: {error}"))
}
