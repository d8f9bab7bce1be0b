//! The session machine, for callers that make the calls themselves.

use crate::data::graded;
use crate::to_python;
use aske_chat::{Finish, Reply};
use aske_session::{Domain, Need, Pack, Protocol, Slot};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// A call that a session needs: send the messages and feed the reply back.
#[pyclass(frozen, module = "aske_env")]
pub(crate) struct Call {
    inner: aske_session::Call,
}

#[pymethods]
impl Call {
    /// The role that replies: `asker`, `one`, `two` (the boundary solvers) or `check`.
    #[getter]
    fn role(&self) -> &'static str {
        self.inner.slot.role.as_str()
    }

    /// The asker's turn, counted from 1.
    #[getter]
    fn turn(&self) -> u32 {
        self.inner.slot.turn
    }

    /// The index of this reply among independent replies to the same request, from 0.
    #[getter]
    fn draw(&self) -> u32 {
        self.inner.slot.draw
    }

    /// Token limit of the reply.
    #[getter]
    fn max_tokens(&self) -> u32 {
        self.inner.max_tokens
    }

    /// The chat messages to send.
    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.inner.messages)
    }

    fn __repr__(&self) -> String {
        let Slot { turn, role, draw } = self.inner.slot;
        format!(
            "Call(role={:?}, turn={turn}, draw={draw}, max_tokens={})",
            role.as_str(),
            self.inner.max_tokens
        )
    }
}

/// One session, from the first probing turn to the grade. It makes no calls itself.
#[pyclass(module = "aske_env")]
pub(crate) struct Session {
    machine: aske_session::Session,
    domain: Domain,
}

impl Session {
    pub(crate) fn new(protocol: Protocol, pack: Arc<Pack>, domain: Domain) -> Self {
        Self { machine: aske_session::Session::new(protocol, pack, domain), domain }
    }
}

#[pymethods]
impl Session {
    /// The calls that are needed next, in any order; empty when the session is done.
    fn calls(&self) -> Vec<Call> {
        match self.machine.need() {
            Need::Calls(calls) => calls.into_iter().map(|inner| Call { inner }).collect(),
            Need::Done(_) => Vec::new(),
        }
    }

    /// Whether nothing more is needed.
    #[getter]
    fn done(&self) -> bool {
        matches!(self.machine.need(), Need::Done(_))
    }

    /// Feeds the reply to a needed call; `finish_reason` is `stop`, `length` or another reason given by the server.
    #[pyo3(signature = (call, content, finish_reason = "stop"))]
    fn feed(&mut self, call: &Call, content: String, finish_reason: &str) -> PyResult<()> {
        let reply = Reply { finish: Finish::from_name(finish_reason), ..Reply::text(content) };
        self.machine.feed(call.inner.slot, reply).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Outcome, right solvers and reward of a finished session.
    #[pyo3(signature = (novelty = 0.0))]
    fn result<'py>(&self, py: Python<'py>, novelty: f64) -> PyResult<Bound<'py, PyAny>> {
        match self.machine.need() {
            Need::Done(transcript) => to_python(py, &graded(transcript, &self.domain, novelty)),
            Need::Calls(_) => {
                Err(PyValueError::new_err("the session is not done; feed the replies to `calls()`"))
            }
        }
    }
}
