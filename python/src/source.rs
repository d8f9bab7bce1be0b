//! Where a configuration comes from, so that it can be loaded again in another process.

use crate::to_python;
use aske_config::{ConfigError, ConfigSource, Layers};
use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The default configuration.
const DEFAULT: &str = "paper-train";

/// Configuration, options and address of the history, as `Environment` accepts them.
pub(crate) type Arguments<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Option<String>);

/// The arguments of an `Environment`.
#[derive(Clone)]
pub(crate) struct Source {
    config: Config,
    options: Vec<(String, String, Value)>,
    pub(crate) diversity_url: Option<String>,
}

#[derive(Clone)]
enum Config {
    /// A bundled configuration, or the absolute path of a file.
    Named(String),
    Table(Table),
}

impl Source {
    pub(crate) fn new(
        config: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyAny>>,
        diversity_url: Option<String>,
    ) -> PyResult<Self> {
        let config = config.map_or_else(|| Ok(Config::Named(DEFAULT.to_owned())), read_config)?;
        let options = options.map_or_else(|| Ok(Vec::new()), read_options)?;
        Ok(Self { config, options, diversity_url })
    }

    /// Loads the configuration.
    pub(crate) fn layers(&self) -> Result<Layers, ConfigError> {
        // Variables that are not valid UTF-8 set nothing.
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        match &self.config {
            Config::Named(name) => Layers::embedded(ConfigSource::Named(name), variables, &self.options),
            Config::Table(table) => {
                Layers::embedded(ConfigSource::Text(&table.to_string()), variables, &self.options)
            }
        }
    }

    /// The arguments from which an equal `Environment` can be made.
    pub(crate) fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Arguments<'py>> {
        let config = match &self.config {
            Config::Named(name) => PyString::new(py, name).into_any(),
            Config::Table(table) => to_python(py, table)?,
        };
        let options = PyDict::new(py);
        for (_, key, value) in &self.options {
            options.set_item(key, to_python(py, value)?)?;
        }
        Ok((config, options.into_any(), self.diversity_url.clone()))
    }
}

/// A configuration: a name, a path, or a dictionary.
fn read_config(config: &Bound<'_, PyAny>) -> PyResult<Config> {
    if let Ok(mapping) = config.cast::<PyMapping>() {
        return match toml_value(mapping.as_any())? {
            Value::Table(table) => Ok(Config::Table(table)),
            _ => Err(PyTypeError::new_err("a configuration is a dictionary of sections")),
        };
    }
    let path: PathBuf = config.extract().map_err(|_| {
        PyTypeError::new_err(format!(
            "config must be a name, a path or a dictionary, not {}",
            config.get_type().name().map(|name| name.to_string()).unwrap_or_default()
        ))
    })?;
    let name = path.to_str().ok_or_else(|| PyValueError::new_err("the path is not valid UTF-8"))?;
    // A file is found again from another working directory.
    let absolute = if path.is_file() { std::path::absolute(&path).ok() } else { None };
    let absolute = absolute.as_deref().and_then(Path::to_str);
    Ok(Config::Named(absolute.unwrap_or(name).to_owned()))
}

/// Options: texts `KEY=VALUE`, or a dictionary from dotted keys to values.
fn read_options(options: &Bound<'_, PyAny>) -> PyResult<Vec<(String, String, Value)>> {
    if let Ok(mapping) = options.cast::<PyMapping>() {
        let items = mapping.items()?;
        let item = |item: Bound<'_, PyAny>| {
            let (key, value): (String, Bound<'_, PyAny>) = item.extract()?;
            Ok((format!("option {key}"), key, toml_value(&value)?))
        };
        return items.iter().map(item).collect();
    }
    if options.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "options must be a list of texts KEY=VALUE or a dictionary, not str",
        ));
    }
    let texts: Vec<String> = options.extract()?;
    let option = |text: &String| {
        let (flag, key, value) = Layers::parse_override(text)?;
        Ok((flag.replacen("--override", "option", 1), key, value))
    };
    let options = texts.iter().map(option).collect::<Result<_, ConfigError>>();
    options.map_err(|error| crate::errors::config_error(&error))
}

/// A value of Python as one of a configuration.
fn toml_value(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = value.py();
    let arguments = PyDict::new(py);
    // A mapping becomes a dictionary, and a path a text.
    arguments.set_item("default", wrap_pyfunction!(plain, py)?)?;
    let text: String = py.import("json")?.call_method("dumps", (value,), Some(&arguments))?.extract()?;
    serde_json::from_str(&text)
        .map_err(|error| PyValueError::new_err(format!("a configuration cannot hold this value: {error}")))
}

/// What `json` cannot write: a mapping as a dictionary, or a path as a text.
#[pyfunction]
fn plain<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    if value.cast::<PyMapping>().is_ok() {
        return py.get_type::<PyDict>().call1((value,));
    }
    py.import("os")?.call_method1("fspath", (value,))
}

/// Shows what loading had to say as warnings of Python.
pub(crate) fn warn(py: Python<'_>, notices: &[String]) -> PyResult<()> {
    let warnings = py.import("warnings")?;
    let category = py.get_type::<PyUserWarning>();
    notices.iter().try_for_each(|notice| warnings.call_method1("warn", (notice, &category, 1)).map(drop))
}
