//! Futures as Python coroutines.

use parking_lot::Mutex;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};

/// A coroutine that runs this future once it is awaited. Cancelling it drops the future.
pub(crate) fn coroutine<F, T>(py: Python<'_>, future: F) -> PyResult<Bound<'_, PyAny>>
where
    F: Future<Output = PyResult<T>> + Send + 'static,
    T: for<'v> IntoPyObject<'v> + Send + 'static,
{
    let waiting = Mutex::new(Some(future));
    let start = move |args: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| {
        let future = waiting.lock().take().ok_or_else(|| PyRuntimeError::new_err("awaited twice"))?;
        crate::runtime::future_into_py(args.py(), future).map(Bound::unbind)
    };
    let start = PyCFunction::new_closure(py, None, None, start)?;
    py.import("aske_env._coroutine")?.call_method1("run", (start,))
}
