//! math-verify's `parse` and `verify` for the package `aske_env.math_verify`.

use crate::answers::lossy;
use crate::process::Computation;
use aske_answer::Verdict;
use aske_math_verify::{Boxes, Expression, Item, Mode, Normalisation, Options, Source, Target};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use std::hash::{DefaultHasher, Hash, Hasher};

/// An expression that math-verify's rules parsed.
#[pyclass(frozen, name = "Expression", module = "aske_env.math_verify.parser")]
#[derive(Clone)]
pub(crate) struct PyExpression(Expression);

/// What an expression is parsed from: its kind, and its texts, each with a percent sign or not.
type Parts = (String, Vec<(String, bool)>);

#[pymethods]
impl PyExpression {
    /// Parses normalised LaTeX (`latex`), arithmetic (`arithmetic`) or a number (`number`).
    #[new]
    fn new(py: Python<'_>, kind: &str, texts: Vec<(String, bool)>) -> PyResult<Self> {
        let first = || texts.first().cloned().unwrap_or_default();
        let source = match kind {
            "latex" => Source::Latex(texts),
            "arithmetic" => Source::Arithmetic(first().0),
            "number" => Source::Number(first().0, first().1),
            _ => return Err(PyValueError::new_err(format!("no such kind of expression: {kind:?}"))),
        };
        py.detach(|| {
            let _computation = Computation::begin();
            Expression::new(source)
        })
        .map(Self)
        .ok_or_else(|| PyValueError::new_err("not an expression"))
    }

    fn __getnewargs__(&self) -> Parts {
        match self.0.source() {
            Source::Latex(texts) => ("latex".to_owned(), texts.clone()),
            Source::Arithmetic(text) => ("arithmetic".to_owned(), vec![(text.clone(), false)]),
            Source::Number(text, percent) => ("number".to_owned(), vec![(text.clone(), *percent)]),
        }
    }

    fn __repr__(&self) -> String {
        self.0.text()
    }

    /// Whether it is the same expression, also as a number or an object of sympy.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let is_same =
            |other: &Bound<'_, PyAny>| other.cast::<Self>().is_ok_and(|other| self.0 == other.get().0);
        if is_same(other) || other.is_instance_of::<PyString>() || other.is_none() {
            return Ok(is_same(other));
        }
        let grader = other.py().import("aske_env.math_verify.grader")?;
        Ok(is_same(&grader.call_method1("expression_of", (other,))?))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        hasher.finish()
    }

    /// Whether it is a division by zero, which math-verify refuses to compare.
    #[getter]
    fn is_undefined(&self) -> bool {
        self.0.is_undefined()
    }
}

/// A configuration as a tuple: its kind and its fields.
#[derive(FromPyObject)]
pub(crate) enum Config {
    #[pyo3(annotation = "LatexExtractionConfig")]
    Latex(bool, i64, (bool, bool, bool, bool, String, bool)),
    #[pyo3(annotation = "StringExtractionConfig")]
    Words(Vec<String>, bool, bool),
    #[pyo3(annotation = "ExprExtractionConfig")]
    Expression((bool,)),
}

impl From<Config> for Target {
    fn from(config: Config) -> Self {
        match config {
            Config::Latex(
                anchorless,
                boxed_priority,
                (basic_latex, units, malformed_operators, nits, boxed, equations),
            ) => {
                let boxed = match boxed.as_str() {
                    "all" => Boxes::All,
                    "last" => Boxes::Last,
                    _ => Boxes::None,
                };
                let normalisation =
                    Normalisation { basic_latex, units, malformed_operators, nits, boxed, equations };
                Self::Latex { anchorless, boxed_priority, normalisation }
            }
            Config::Words(words, anchorless, lowercase) => Self::Words { words, anchorless, lowercase },
            Config::Expression((anchorless,)) => Self::Expression { anchorless },
        }
    }
}

/// Finds the answer in a text; `None` if the work exceeds its limits.
#[pyfunction]
pub(crate) fn math_verify_parse<'py>(
    text: &Bound<'py, PyString>,
    configs: Vec<Config>,
    fallback: bool,
    first_match: bool,
) -> PyResult<Option<Bound<'py, PyList>>> {
    let py = text.py();
    let targets: Vec<Target> = configs.into_iter().map(Target::from).collect();
    let text = lossy(text);
    let found = py.detach(|| {
        let _computation = Computation::begin();
        aske_math_verify::parse(&text, &targets, Mode { fallback, first_match })
    });
    let Ok(found) = found else { return Ok(None) };
    let out = PyList::empty(py);
    for item in found {
        match item {
            Item::Expression(expression) => out.append(PyExpression(*expression))?,
            Item::Text(text) => out.append(text)?,
        }
    }
    Ok(Some(out))
}

/// Whether one of the gold answers equals one of the others; `None` if that is undecided.
#[pyfunction]
pub(crate) fn math_verify_verify(
    py: Python<'_>,
    gold: &Bound<'_, PyList>,
    target: &Bound<'_, PyList>,
    float_rounding: i32,
    numeric_precision: u32,
    strict: bool,
    set_relation: bool,
) -> Option<bool> {
    let options = Options { float_rounding, numeric_precision, strict, set_relation };
    let (gold, target) = (items(gold), items(target));
    let comparison = py.detach(|| {
        let _computation = Computation::begin();
        aske_math_verify::verify(&gold, &target, &options)
    });
    match comparison.verdict {
        Verdict::Equal => Some(true),
        Verdict::Different => Some(false),
        Verdict::Undecided => None,
    }
}

/// The expressions and texts of a list; nothing else equals anything.
fn items(list: &Bound<'_, PyList>) -> Vec<Item> {
    list.iter()
        .filter_map(|item| {
            if let Ok(expression) = item.cast::<PyExpression>() {
                return Some(Item::Expression(Box::new(expression.get().0.clone())));
            }
            item.cast::<PyString>().ok().map(|text| Item::Text(lossy(text).into_owned()))
        })
        .collect()
}
