//! Runs futures on threads of their own and resolves futures of asyncio with their results.

use crate::process::{Computation, PerProcess, Process};
use futures_util::FutureExt;
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCFunction;
use std::any::Any;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::AbortHandle;

static RUNTIME: PerProcess<Runtime> = PerProcess::new();

/// Whether the interpreter is about to exit.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// How long the exit of the interpreter waits for threads that are not waiting.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Cancels a task when the future of asyncio that stands for it is done, which is too late unless it was cancelled.
#[pyclass(frozen)]
struct Cancel {
    task: AbortHandle,
    process: Process,
}

#[pymethods]
impl Cancel {
    fn __call__(&self, future: &Bound<'_, PyAny>) {
        let _ = future;
        // The task of a parent runs in the parent.
        if self.process == Process::current() {
            self.task.abort();
        }
    }
}

/// Spawns a future; the result is a future of the running event loop.
pub(crate) fn future_into_py<'py, F, T>(py: Python<'py>, future: F) -> PyResult<Bound<'py, PyAny>>
where
    F: Future<Output = PyResult<T>> + Send + 'static,
    T: for<'v> IntoPyObject<'v> + Send + 'static,
{
    if CLOSED.load(Ordering::SeqCst) {
        return Err(PyRuntimeError::new_err("the interpreter is shutting down"));
    }
    let event_loop = py.import(intern!(py, "asyncio"))?.call_method0(intern!(py, "get_running_loop"))?;
    let waiting = event_loop.call_method0(intern!(py, "create_future"))?;
    let target = (event_loop.unbind(), waiting.clone().unbind());
    let task = async move {
        let result = AssertUnwindSafe(uninterrupted(future)).catch_unwind().await;
        let result = result.unwrap_or_else(|panic| Err(PyRuntimeError::new_err(message(&*panic))));
        // Other tasks go on while this one waits for the GIL.
        tokio::task::spawn_blocking(move || {
            let _computation = Computation::begin();
            Python::try_attach(|py| deliver(py, &target, result));
        });
    };
    let spawned = RUNTIME.with(
        py,
        || Builder::new_multi_thread().thread_name("aske").enable_all().build(),
        |runtime| runtime.spawn(task).abort_handle(),
    );
    let task = spawned.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let cancel = Cancel { task, process: Process::current() };
    waiting.call_method1(intern!(py, "add_done_callback"), (cancel,))?;
    Ok(waiting)
}

/// A future each of whose steps a fork waits for.
async fn uninterrupted<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    poll_fn(|context| {
        let _computation = Computation::begin();
        future.as_mut().poll(context)
    })
    .await
}

/// Has the event loop resolve the future. A loop that was closed meanwhile waits for nothing.
fn deliver<T>(py: Python<'_>, (event_loop, future): &(Py<PyAny>, Py<PyAny>), result: PyResult<T>)
where
    T: for<'v> IntoPyObject<'v>,
{
    let (method, value) = match result.and_then(|value| value.into_py_any(py)) {
        Ok(value) => ("set_result", value),
        Err(error) => ("set_exception", error.into_value(py).into_any()),
    };
    let resolved = wrap_pyfunction!(resolve, py).and_then(|resolve: Bound<'_, PyCFunction>| {
        event_loop.call_method1(py, intern!(py, "call_soon_threadsafe"), (resolve, future, method, value))
    });
    drop(resolved);
}

/// Resolves a future within its event loop, unless it was cancelled.
#[pyfunction]
fn resolve(future: &Bound<'_, PyAny>, method: &str, value: Bound<'_, PyAny>) -> PyResult<()> {
    if !future.call_method0(intern!(future.py(), "done"))?.is_truthy()? {
        future.call_method1(method, (value,))?;
    }
    Ok(())
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("internal error: {}", text.unwrap_or("panic"))
}

/// Called when the interpreter exits: cancels everything, so that no thread needs the interpreter afterwards.
#[pyfunction]
fn close(py: Python<'_>) {
    CLOSED.store(true, Ordering::SeqCst);
    if let Some(runtime) = RUNTIME.take(py) {
        py.detach(|| runtime.shutdown_timeout(MAX_WAIT));
    }
}

/// Has Python call [`close`].
pub(crate) fn close_at_exit(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let close = wrap_pyfunction!(close, module)?;
    module.py().import("atexit")?.call_method1("register", (close,)).map(drop)
}
