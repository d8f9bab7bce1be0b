//! The answer engine, with an interface like math-verify's.

use crate::pool::map;
use crate::process::Computation;
use aske_answer::{Comparison, NotationPolicy, Rules, Verdict, explain, last_boxed, last_word};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::OnceLock;

/// An answer for `verify`. Falsy if nothing in it was read as mathematics.
#[pyclass(frozen, module = "aske_env")]
pub(crate) struct Parsed {
    /// The answer as text.
    #[pyo3(get)]
    text: String,
    rules: Rules,
    /// Computed on first use.
    readings: OnceLock<Vec<String>>,
}

#[pymethods]
impl Parsed {
    /// Its mathematical readings, most likely first; empty if it is compared as text only.
    #[getter]
    fn readings(&self, py: Python<'_>) -> Vec<String> {
        self.read(py).to_vec()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.read(py).len()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String, &'static str))> {
        let Self { text, rules, .. } = slf.get();
        Ok((slf.get_type().getattr("_restore")?, (text.clone(), name(rules))))
    }

    /// The answer with exactly this text, from a pickle.
    #[classmethod]
    fn _restore(_type: &Bound<'_, PyType>, text: String, rules: &str) -> PyResult<Self> {
        Ok(Self { text, rules: self::rules(rules)?, readings: OnceLock::new() })
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("Parsed({:?}, readings={:?})", self.text, self.read(py))
    }
}

impl Parsed {
    fn read(&self, py: Python<'_>) -> &[String] {
        py.detach(|| {
            let _computation = Computation::begin();
            self.readings.get_or_init(|| {
                let explained = explain(&self.text, &self.text, &self.rules);
                explained.gold.into_iter().map(|reading| reading.read).collect()
            })
        })
    }
}

/// The rules with this name.
fn rules(name: &str) -> PyResult<Rules> {
    match name {
        "aske" => Ok(Rules::Aske(NotationPolicy::default())),
        "math-verify" => Ok(Rules::MathVerify),
        "paper" => Ok(Rules::Paper),
        _ => Err(PyValueError::new_err(format!(
            "unknown rules {name:?}; use one of \"aske\", \"math-verify\", \"paper\""
        ))),
    }
}

/// The name of rules.
fn name(rules: &Rules) -> &'static str {
    match rules {
        Rules::Aske(_) => "aske",
        Rules::MathVerify => "math-verify",
        Rules::Paper => "paper",
    }
}

/// Parses an answer: the last box of a longer text, or the text itself.
#[pyfunction]
#[pyo3(signature = (text, *, rules = "aske"))]
pub(crate) fn parse(text: &str, rules: &str) -> PyResult<Parsed> {
    let text = last_boxed(text).unwrap_or(text).trim().to_owned();
    Ok(Parsed { text, rules: self::rules(rules)?, readings: OnceLock::new() })
}

/// The last boxed answer of a reply; with `word`, its last word if it has no box.
#[pyfunction]
#[pyo3(signature = (reply, *, word = false))]
pub(crate) fn extract(reply: &str, word: bool) -> Option<&str> {
    let boxed = last_boxed(reply).map(str::trim);
    boxed.or_else(|| last_word(reply).filter(|_| word))
}

/// Whether two answers are equal. Undecided counts as different.
#[pyfunction]
#[pyo3(signature = (gold, target, *, rules = "aske"))]
pub(crate) fn verify(
    py: Python<'_>,
    gold: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    rules: &str,
) -> PyResult<bool> {
    let rules = self::rules(rules)?;
    let (gold, target) = (text(gold)?, text(target)?);
    Ok(py.detach(|| {
        let _computation = Computation::begin();
        is_equal(rules.compare(&gold, &target))
    }))
}

/// Verifies many pairs in parallel, on all cores or on `threads` threads. An interrupt (Ctrl-C) ends it.
#[pyfunction]
#[pyo3(signature = (golds, targets, *, rules = "aske", threads = None))]
#[expect(clippy::needless_pass_by_value, reason = "Python's lists arrive as vectors")]
pub(crate) fn verify_batch(
    py: Python<'_>,
    golds: Vec<Bound<'_, PyAny>>,
    targets: Vec<Bound<'_, PyAny>>,
    rules: &str,
    threads: Option<usize>,
) -> PyResult<Vec<bool>> {
    if golds.len() != targets.len() {
        let message =
            format!("{} golds and {} targets; give one target for each gold", golds.len(), targets.len());
        return Err(PyValueError::new_err(message));
    }
    let rules = self::rules(rules)?;
    let texts = |answers: &[Bound<'_, PyAny>]| answers.iter().map(text).collect::<PyResult<Vec<String>>>();
    let (golds, targets) = (texts(&golds)?, texts(&targets)?);
    let pairs = golds.into_iter().zip(targets).collect();
    map(py, threads, pairs, move |(gold, target): &(String, String)| is_equal(rules.compare(gold, target)))
}

/// The text of an answer: a string, or the result of `parse`.
fn text(answer: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(parsed) = answer.cast::<Parsed>() {
        return Ok(parsed.get().text.clone());
    }
    if let Ok(text) = answer.extract::<String>() {
        return Ok(text);
    }
    Err(PyTypeError::new_err(format!(
        "an answer must be a str or the result of parse(), not {}",
        answer.get_type().name()?
    )))
}

fn is_equal(comparison: Comparison) -> bool {
    comparison.verdict == Verdict::Equal
}
