//! Ask-E for Python: the answer engine, the session machine, whole rollouts, and run folders as Arrow tables.
//!
//! A thin binding without rules of its own. The public interface is the package `aske_env` next to this crate.

mod answers;
mod environment;
mod history;
mod judge;
mod math_verify;
mod rollout;
mod session;
mod table;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;

pyo3::create_exception!(
    _native,
    RolloutFailure,
    PyRuntimeError,
    "A rollout that failed because of infrastructure: drop it, never score it."
);

/// The native module of the package.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("RolloutFailure", module.py().get_type::<RolloutFailure>())?;
    module.add_function(wrap_pyfunction!(answers::parse, module)?)?;
    module.add_function(wrap_pyfunction!(answers::verify, module)?)?;
    module.add_function(wrap_pyfunction!(answers::verify_batch, module)?)?;
    module.add_function(wrap_pyfunction!(answers::extract, module)?)?;
    module.add_function(wrap_pyfunction!(math_verify::math_verify_parse, module)?)?;
    module.add_function(wrap_pyfunction!(math_verify::math_verify_verify, module)?)?;
    module.add_function(wrap_pyfunction!(table::load_run, module)?)?;
    module.add_class::<answers::Parsed>()?;
    module.add_class::<math_verify::PyExpression>()?;
    module.add_class::<environment::Environment>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<session::Call>()?;
    module.add_class::<table::Table>()
}

/// A value as Python dictionaries, lists and strings.
fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}
