//! Ask-E for Python: the answer engine, the session machine, whole rollouts, and run folders as Arrow tables.
//!
//! A thin binding without rules of its own. The public interface is the package `aske_env` next to this crate.

mod answers;
mod coroutine;
mod data;
mod environment;
mod episode;
mod errors;
mod folder;
mod history;
mod judge;
mod math_verify;
mod nano;
mod novelty;
mod pool;
mod process;
mod rollout;
mod runtime;
mod sampling;
mod save;
mod session;
mod source;
mod table;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::Value;

/// The native module of the package.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    process::watch_forks(module)?;
    runtime::close_at_exit(module)?;
    module.add_function(wrap_pyfunction!(answers::parse, module)?)?;
    module.add_function(wrap_pyfunction!(answers::verify, module)?)?;
    module.add_function(wrap_pyfunction!(answers::verify_batch, module)?)?;
    module.add_function(wrap_pyfunction!(answers::extract, module)?)?;
    module.add_function(wrap_pyfunction!(math_verify::math_verify_parse, module)?)?;
    module.add_function(wrap_pyfunction!(math_verify::math_verify_verify, module)?)?;
    module.add_function(wrap_pyfunction!(table::load_run, module)?)?;
    module.add_class::<answers::Parsed>()?;
    module.add_class::<math_verify::PyExpression>()?;
    module.add_function(wrap_pyfunction!(nano::export_nano, module)?)?;
    module.add_class::<environment::Environment>()?;
    module.add_class::<episode::Episode>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<session::Call>()?;
    module.add_class::<table::Table>()
}

/// A value that becomes Python dictionaries, lists and strings when it reaches Python.
struct AsPython<T>(T);

impl<'py, T: Serialize> IntoPyObject<'py> for AsPython<T> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        to_python(py, &self.0)
    }
}

/// A value as Python dictionaries, lists and strings.
fn to_python<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.import("json")?.call_method1("loads", (text,))
}

/// A Python value of dictionaries, lists, strings, numbers and truth values.
fn json_value(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let text: String = value.py().import("json")?.call_method1("dumps", (value,))?.extract()?;
    serde_json::from_str(&text).map_err(|error| PyValueError::new_err(error.to_string()))
}
