//! Run folders as Arrow tables, passed to Python without a copy.

use crate::pool::pool;
use crate::process::Computation;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{Schema, SchemaRef};
use aske_evidence::Run;
use aske_export::{Export, SessionFilter, TableKind};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::HashSet;
use std::path::PathBuf;

/// A table for any Arrow reader: `pyarrow.table(t)`, `polars.DataFrame(t)`, `pandas.DataFrame.from_arrow(t)`.
#[pyclass(frozen, module = "aske_env")]
pub(crate) struct Table(Vec<RecordBatch>);

impl Table {
    fn schema(&self) -> SchemaRef {
        self.0.first().map_or_else(|| Schema::empty().into(), RecordBatch::schema)
    }
}

#[pymethods]
impl Table {
    /// The Arrow stream of the table, for readers.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Readers must accept the table's own schema.
        drop(requested_schema);
        let batches = RecordBatchIterator::new(self.0.clone().into_iter().map(Ok), self.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.0.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows; {})", self.__len__(), self.column_names().join(", "))
    }
}

/// One table of one or more runs: `sessions`, `questions`, `answers`, `grades` or `evals`.
#[pyfunction]
#[pyo3(signature = (*folders, kind = "sessions", calibrated = false))]
#[expect(clippy::needless_pass_by_value, reason = "Python's arguments arrive as a vector")]
pub(crate) fn load_run(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    kind: &str,
    calibrated: bool,
) -> PyResult<Table> {
    let known = || TableKind::ALL.map(TableKind::as_str).join(", ");
    let kind = TableKind::ALL
        .into_iter()
        .find(|one| one.as_str() == kind)
        .ok_or_else(|| PyValueError::new_err(format!("unknown table {kind:?}; use one of {}", known())))?;
    if folders.is_empty() {
        return Err(PyValueError::new_err("name at least one run folder"));
    }
    let mut seen = HashSet::new();
    let twice = |folder: &&PathBuf| folder.canonicalize().is_ok_and(|path| !seen.insert(path));
    if let Some(folder) = folders.iter().find(twice) {
        let what = format!("{} is given twice, and its rows would count twice", folder.display());
        return Err(PyValueError::new_err(what));
    }
    let pool = pool(py)?;
    let read = || {
        let _computation = Computation::begin();
        let failed = |error: aske_record::RunError| PyOSError::new_err(error.to_string());
        let runs = folders
            .iter()
            .map(|folder| Run::read(folder, None))
            .collect::<Result<Vec<_>, _>>()
            .map_err(failed)?;
        let chosen = Export::new(&runs, &SessionFilter { calibrated, ..SessionFilter::default() });
        let batch = |part: Result<aske_export::Table, _>| {
            part.map_err(failed)?.batch().map_err(|error| PyValueError::new_err(error.to_string()))
        };
        chosen.parts(kind).map(batch).collect::<PyResult<_>>().map(Table)
    };
    py.detach(|| pool.install(read))
}
