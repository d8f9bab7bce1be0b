//! The session machine, for callers that make the calls themselves.

use crate::data::graded;
use crate::environment::Environment;
use crate::source::Source;
use crate::to_python;
use aske_chat::{Finish, Reply};
use aske_config::Settings;
use aske_session::{Domain, Need, Role, Slot};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::sync::Arc;

/// A call that a session needs: send the messages and feed the reply back.
#[pyclass(frozen, module = "aske_env")]
pub(crate) struct Call {
    inner: aske_session::Call,
}

/// The fields of a call: role, turn, draw, token limit, and the messages as JSON.
type CallState = (String, u32, u32, u32, String);

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

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, CallState)> {
        let aske_session::Call { slot: Slot { turn, role, draw }, messages, max_tokens } = &slf.get().inner;
        let messages =
            serde_json::to_string(messages).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let state = (role.as_str().to_owned(), *turn, *draw, *max_tokens, messages);
        Ok((slf.get_type().getattr("_restore")?, state))
    }

    /// The call with these fields, from a pickle.
    #[classmethod]
    fn _restore(
        _type: &Bound<'_, PyType>,
        role: &str,
        turn: u32,
        draw: u32,
        max_tokens: u32,
        messages: &str,
    ) -> PyResult<Self> {
        let messages =
            serde_json::from_str(messages).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let slot = Slot { turn, role: role_of(role)?, draw };
        Ok(Self { inner: aske_session::Call { slot, messages, max_tokens } })
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
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

fn role_of(name: &str) -> PyResult<Role> {
    let role = Role::ALL.into_iter().find(|role| role.as_str() == name);
    role.ok_or_else(|| PyValueError::new_err(format!("unknown role {name:?}")))
}

/// One session, from the first probing turn to the grade. It makes no calls itself.
///
/// A pickle names the configuration and holds the replies; the configuration is loaded again to unpickle it.
#[pyclass(module = "aske_env")]
#[derive(Clone)]
pub(crate) struct Session {
    machine: aske_session::Session,
    domain: Domain,
    source: Arc<Source>,
    /// What the prompts and the protocol depend on.
    rules: String,
    /// All replies, in order.
    fed: Vec<Fed>,
}

/// A reply that was fed: role, turn and draw of the call, content and finish reason.
type Fed = (String, u32, u32, String, String);

impl Session {
    pub(crate) fn new(source: Arc<Source>, settings: &Settings) -> Self {
        let Settings { protocol, pack, domain, .. } = settings;
        let rules = format!("{protocol:?} {domain:?} {}", pack.hash());
        let machine = aske_session::Session::new(protocol.clone(), pack.clone(), *domain);
        Self { machine, domain: *domain, source, rules, fed: Vec::new() }
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
        let slot = call.inner.slot;
        let fed = (slot.role.as_str().to_owned(), slot.turn, slot.draw, content, finish_reason.to_owned());
        self.accept(fed)
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

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<SessionState<'py>> {
        let session = slf.borrow();
        let source = session.source.arguments(slf.py())?;
        Ok((slf.get_type().getattr("_restore")?, (source, session.rules.clone(), session.fed.clone())))
    }

    /// The session of a configuration after these replies, from a pickle.
    #[classmethod]
    fn _restore(
        _type: &Bound<'_, PyType>,
        py: Python<'_>,
        source: (Bound<'_, PyAny>, Bound<'_, PyAny>, Option<String>),
        rules: &str,
        fed: Vec<Fed>,
    ) -> PyResult<Self> {
        let (config, options, diversity_url) = source;
        let source = Source::new(Some(&config), Some(&options), diversity_url)?;
        let mut session = Environment::load(py, source, None)?.session();
        if session.rules != rules {
            return Err(PyValueError::new_err(
                "the session cannot be restored: the protocol or the prompts of its configuration have changed",
            ));
        }
        fed.into_iter().try_for_each(|fed| session.accept(fed))?;
        Ok(session)
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }
}

/// How a session is made again: the function and its arguments.
type SessionState<'py> = (Bound<'py, PyAny>, (crate::source::Arguments<'py>, String, Vec<Fed>));

impl Session {
    fn accept(&mut self, fed: Fed) -> PyResult<()> {
        let (role, turn, draw, content, finish) = &fed;
        let slot = Slot { turn: *turn, role: role_of(role)?, draw: *draw };
        let reply = Reply { finish: Finish::from_name(finish), ..Reply::text(content.clone()) };
        self.machine.feed(slot, reply).map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.fed.push(fed);
        Ok(())
    }
}
