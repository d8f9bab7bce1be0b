//! Forks: state that belongs to one process, and computations that no fork may interrupt.
//!
//! A forked child has the memory of its parent, but of its threads only the one that forked. Thread pools, runtimes and
//! connections of the parent are of no use to it, and a lock that another thread held is never released. State of this kind
//! is kept [`PerProcess`]; whatever initialises shared tables runs as a [`Computation`].

use parking_lot::Mutex;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Forks since the first import. Together with the process id, which the system assigns again, it identifies a process.
static FORKS: AtomicU32 = AtomicU32::new(0);
/// Threads with a computation under way.
static COMPUTING: AtomicUsize = AtomicUsize::new(0);
/// Forks about to happen.
static FORKING: AtomicUsize = AtomicUsize::new(0);

/// How long a fork waits for computations.
const MAX_WAIT: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_micros(100);

thread_local! {
    /// Computations of this thread, one within another.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// A value that each process builds for itself. A value inherited from the parent is never used and never dropped, as its
/// threads and connections are not those of the child.
///
/// The lock is only taken by threads that hold the GIL, and never across its release. As a fork needs the GIL too, no thread
/// holds the lock when a child is forked.
pub(crate) struct PerProcess<T>(Mutex<Option<(Process, T)>>);

/// What identifies a process among its ancestors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    id: u32,
    forks: u32,
}

impl Process {
    pub(crate) fn current() -> Self {
        Self { id: std::process::id(), forks: FORKS.load(SeqCst) }
    }
}

impl<T> PerProcess<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Uses the value of this process, built if there is none. Neither closure may release the GIL.
    pub(crate) fn with<R, E>(
        &self,
        _: Python<'_>,
        build: impl FnOnce() -> Result<T, E>,
        using: impl FnOnce(&T) -> R,
    ) -> Result<R, E> {
        let mut slot = self.0.lock();
        *slot = own(&mut slot);
        let (_, value) = match &mut *slot {
            Some(own) => own,
            empty => empty.insert((Process::current(), build()?)),
        };
        Ok(using(value))
    }

    /// Takes the value of this process out.
    pub(crate) fn take(&self, _: Python<'_>) -> Option<T> {
        own(&mut self.0.lock()).map(|(_, value)| value)
    }
}

impl<T> Drop for PerProcess<T> {
    fn drop(&mut self) {
        drop(own(self.0.get_mut()));
    }
}

/// Takes the value out if it is that of this process; forgets any other.
fn own<T>(slot: &mut Option<(Process, T)>) -> Option<(Process, T)> {
    let (process, value) = slot.take()?;
    if process == Process::current() {
        return Some((process, value));
    }
    std::mem::forget(value);
    None
}

/// A computation on this thread that may take locks shared by the process, such as those of tables that are built on first
/// use. A fork waits until it has ended. Never begin one while holding the GIL.
pub(crate) struct Computation(());

impl Computation {
    pub(crate) fn begin() -> Self {
        if DEPTH.replace(DEPTH.get() + 1) == 0 {
            loop {
                COMPUTING.fetch_add(1, SeqCst);
                if FORKING.load(SeqCst) == 0 {
                    break;
                }
                COMPUTING.fetch_sub(1, SeqCst);
                std::thread::sleep(POLL);
            }
        }
        Self(())
    }
}

impl Drop for Computation {
    fn drop(&mut self) {
        if DEPTH.replace(DEPTH.get() - 1) == 1 {
            COMPUTING.fetch_sub(1, SeqCst);
        }
    }
}

/// Called before `os.fork`: waits for the computations of other threads.
#[pyfunction]
fn before_fork(py: Python<'_>) {
    FORKING.fetch_add(1, SeqCst);
    let own = usize::from(DEPTH.get() > 0);
    if COMPUTING.load(SeqCst) > own {
        py.detach(|| {
            let begun = Instant::now();
            while COMPUTING.load(SeqCst) > own && begun.elapsed() < MAX_WAIT {
                std::thread::sleep(POLL);
            }
        });
    }
}

/// Called in the parent after `os.fork`.
#[pyfunction]
fn after_fork_in_parent() {
    FORKING.fetch_sub(1, SeqCst);
}

/// Called in the child after `os.fork`.
#[pyfunction]
fn after_fork_in_child() {
    FORKS.fetch_add(1, SeqCst);
    COMPUTING.store(usize::from(DEPTH.get() > 0), SeqCst);
    FORKING.store(0, SeqCst);
}

/// Has Python call the functions above.
pub(crate) fn watch_forks(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let os = module.py().import("os")?;
    // Not on Windows.
    let Ok(register) = os.getattr("register_at_fork") else { return Ok(()) };
    let hooks = pyo3::types::PyDict::new(module.py());
    hooks.set_item("before", wrap_pyfunction!(before_fork, module)?)?;
    hooks.set_item("after_in_parent", wrap_pyfunction!(after_fork_in_parent, module)?)?;
    hooks.set_item("after_in_child", wrap_pyfunction!(after_fork_in_child, module)?)?;
    register.call((), Some(&hooks)).map(drop)
}
