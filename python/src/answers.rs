//! The answer engine, with an interface like math-verify's.

use crate::pool::map;
use crate::process::Computation;
use aske_answer::{NotationPolicy, Place, Rules, Verdict, explain, find_answer, last_boxed, last_word};
use aske_math_verify::{Item, Mode, Options, Target};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyType};
use std::borrow::Cow;
use std::sync::OnceLock;

/// An answer for `verify`. Falsy if nothing in it was read as mathematics.
#[pyclass(frozen, module = "aske_env")]
pub(crate) struct Parsed {
    /// The answer as text.
    #[pyo3(get)]
    text: String,
    /// The rules it was parsed for, if any were named.
    rules: Option<Rules>,
    /// What math-verify finds, if it was parsed for its rules.
    items: Option<Vec<Item>>,
    /// The text in which math-verify found them.
    given: Option<String>,
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

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, State)> {
        let Self { text, rules, given, .. } = slf.get();
        let rules = rules.map(|rules| name(&rules).to_owned());
        Ok((slf.get_type().getattr("_restore")?, (text.clone(), rules, given.clone())))
    }

    /// The answer with exactly this text, from a pickle.
    #[classmethod]
    fn _restore(
        _type: &Bound<'_, PyType>,
        py: Python<'_>,
        text: String,
        rules: Option<&str>,
        given: Option<String>,
    ) -> PyResult<Self> {
        let rules = rules.map(self::rules).transpose()?;
        let items = py.detach(|| {
            let _computation = Computation::begin();
            given.as_deref().map(math_verify_items)
        });
        Ok(Self { text, rules, items, given, readings: OnceLock::new() })
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

/// What a pickle holds: text, name of the rules, and the text in which math-verify found the items.
type State = (String, Option<String>, Option<String>);

impl Parsed {
    fn read(&self, py: Python<'_>) -> &[String] {
        py.detach(|| {
            let _computation = Computation::begin();
            self.readings.get_or_init(|| {
                if let Some(items) = &self.items {
                    items.iter().filter_map(shown).collect()
                } else {
                    let explained = explain(&self.text, &self.text, &self.rules.unwrap_or_default());
                    let mathematics = explained.gold.into_iter().filter(|reading| reading.kind != "text");
                    mathematics.map(|reading| reading.read).collect()
                }
            })
        })
    }
}

fn shown(item: &Item) -> Option<String> {
    match item {
        Item::Expression(expression) => Some(expression.text()),
        Item::Text(_) => None,
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

/// Parses an answer, or finds it in a reply: in the first of the places in `order` that has one.
#[pyfunction]
#[pyo3(signature = (text, *, rules = None, order = None))]
pub(crate) fn parse(
    py: Python<'_>,
    text: &Bound<'_, PyString>,
    rules: Option<&str>,
    order: Option<Vec<String>>,
) -> PyResult<Parsed> {
    let places = order.map_or_else(
        || Ok(Place::ORDER.to_vec()),
        |names| names.iter().map(|name| place(name)).collect::<PyResult<Vec<Place>>>(),
    )?;
    let chosen = rules.map(self::rules).transpose()?;
    let text = lossy(text);
    Ok(py.detach(|| {
        let _computation = Computation::begin();
        let items = (chosen == Some(Rules::MathVerify)).then(|| math_verify_items(&text));
        let found = match &items {
            Some(items) => items.iter().rev().find_map(|item| match item {
                Item::Text(text) => Some(text.clone()),
                Item::Expression(_) => None,
            }),
            None => find_answer(&text, &places),
        };
        let given = items.is_some().then(|| text.clone().into_owned());
        let text = found.unwrap_or_else(|| text.trim().to_owned());
        Parsed { text, rules: chosen, items, given, readings: OnceLock::new() }
    }))
}

/// What math-verify finds in a text; nothing where it would exceed its time.
fn math_verify_items(text: &str) -> Vec<Item> {
    aske_math_verify::parse(text, &Target::usual(), Mode::default()).unwrap_or_default()
}

fn place(name: &str) -> PyResult<Place> {
    Place::named(name).ok_or_else(|| {
        let names = Place::ORDER.map(Place::name).join(", ");
        PyValueError::new_err(format!("unknown place {name:?} to look for an answer; use some of {names}"))
    })
}

/// The last boxed answer of a reply; with `word`, its last word if it has no box.
#[pyfunction]
#[pyo3(signature = (reply, *, word = false))]
pub(crate) fn extract(reply: &Bound<'_, PyString>, word: bool) -> Option<String> {
    let reply = lossy(reply);
    let boxed = last_boxed(&reply).map(str::trim);
    boxed.or_else(|| last_word(&reply).filter(|_| word)).map(str::to_owned)
}

/// Whether two answers are equal. Undecided counts as different.
#[pyfunction]
#[pyo3(signature = (gold, target, *, rules = None))]
pub(crate) fn verify(
    py: Python<'_>,
    gold: &Bound<'_, PyAny>,
    target: &Bound<'_, PyAny>,
    rules: Option<&str>,
) -> PyResult<bool> {
    let pair = Pair::new(gold, target, rules.map(self::rules).transpose()?)?;
    Ok(py.detach(|| {
        let _computation = Computation::begin();
        pair.is_equal()
    }))
}

/// Verifies many pairs in parallel, on all cores or on `threads` threads. An interrupt (Ctrl-C) ends it.
#[pyfunction]
#[pyo3(signature = (golds, targets, *, rules = None, threads = None))]
#[expect(clippy::needless_pass_by_value, reason = "Python's lists arrive as vectors")]
pub(crate) fn verify_batch(
    py: Python<'_>,
    golds: Vec<Bound<'_, PyAny>>,
    targets: Vec<Bound<'_, PyAny>>,
    rules: Option<&str>,
    threads: Option<usize>,
) -> PyResult<Vec<bool>> {
    if golds.len() != targets.len() {
        let message =
            format!("{} golds and {} targets; give one target for each gold", golds.len(), targets.len());
        return Err(PyValueError::new_err(message));
    }
    let rules = rules.map(self::rules).transpose()?;
    let pairs: Vec<Pair> = golds
        .iter()
        .zip(&targets)
        .map(|(gold, target)| Pair::new(gold, target, rules))
        .collect::<PyResult<_>>()?;
    map(py, threads, pairs, Pair::is_equal)
}

/// Two answers and the rules that hold for them.
struct Pair {
    gold: Side,
    target: Side,
    rules: Rules,
}

/// An answer: its text, and what math-verify found if it was parsed for its rules.
struct Side {
    text: String,
    items: Option<Vec<Item>>,
    rules: Option<Rules>,
}

impl Pair {
    fn new(gold: &Bound<'_, PyAny>, target: &Bound<'_, PyAny>, rules: Option<Rules>) -> PyResult<Self> {
        let (gold, target) = (Side::new(gold)?, Side::new(target)?);
        let mut named = [rules, gold.rules, target.rules].into_iter().flatten();
        let first = named.next();
        if let (Some(first), Some(other)) = (first, named.find(|other| Some(*other) != first)) {
            return Err(PyValueError::new_err(format!(
                "answers parsed or compared by different rules: {} and {}",
                first.name(),
                other.name()
            )));
        }
        Ok(Self { gold, target, rules: first.unwrap_or_default() })
    }

    fn is_equal(&self) -> bool {
        let comparison = match (&self.gold.items, &self.target.items) {
            (None, None) => self.rules.compare(&self.gold.text, &self.target.text),
            _ => aske_math_verify::verify(&self.gold.found(), &self.target.found(), &Options::default()),
        };
        comparison.verdict == Verdict::Equal
    }
}

impl Side {
    /// A string, or the result of `parse`.
    fn new(answer: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(parsed) = answer.cast::<Parsed>() {
            let parsed = parsed.get();
            return Ok(Self { text: parsed.text.clone(), items: parsed.items.clone(), rules: parsed.rules });
        }
        if let Ok(text) = answer.cast::<PyString>() {
            return Ok(Self { text: lossy(text).into_owned(), items: None, rules: None });
        }
        Err(PyTypeError::new_err(format!(
            "an answer must be a str or the result of parse(), not {}",
            answer.get_type().name()?
        )))
    }

    /// What math-verify finds in it; a plain string stands in a box.
    fn found(&self) -> Cow<'_, [Item]> {
        match &self.items {
            Some(items) => Cow::Borrowed(items),
            None => Cow::Owned(math_verify_items(&format!("\\boxed{{{}}}", self.text))),
        }
    }
}

/// The text of a string; half of a surrogate pair becomes a replacement character.
pub(crate) fn lossy<'a>(text: &'a Bound<'_, PyString>) -> Cow<'a, str> {
    text.to_string_lossy()
}
