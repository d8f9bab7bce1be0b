//! A session whose asker is the trainer: it submits the asker's replies, and the environment makes all other calls.

use crate::coroutine::coroutine;
use crate::environment::call_error;
use crate::process::Process;
use crate::{rollout, to_python};
use aske_chat::{Finish, Reply, Trace, Usage, Usd};
use aske_model::Completion;
use aske_session::{Call, Role};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of a submitted reply, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// How long a step waits for one before it, which may have been cancelled.
const CANCELLED: Duration = Duration::from_secs(1);

/// One session whose asker is the trainer.
#[pyclass(frozen, module = "aske_env")]
pub(crate) struct Episode(Arc<Shared>);

struct Shared {
    episode: rollout::Episode,
    result: PyOnceLock<Py<PyAny>>,
    /// The connections of the episode are those of this process.
    process: Process,
    /// Held during a step.
    step: tokio::sync::Mutex<()>,
}

impl Episode {
    pub(crate) fn new(py: Python<'_>, episode: rollout::Episode) -> PyResult<Self> {
        episode.resume().map_err(|error| call_error(&episode.inner, &error, &[]))?;
        let shared = Shared {
            episode,
            result: PyOnceLock::new(),
            process: Process::current(),
            step: tokio::sync::Mutex::default(),
        };
        // A session that an earlier start has finished. Its question is in the history already.
        if let Some(result) = shared.episode.result(0.0, 0.0) {
            let result = to_python(py, &result)?.unbind();
            let _ = shared.result.set(py, result);
        }
        Ok(Self(Arc::new(shared)))
    }

    fn next(&self) -> Option<Call> {
        self.0.episode.trainer_calls().into_iter().next()
    }
}

#[pymethods]
impl Episode {
    /// The pair of boundary solvers, as `a:b`.
    #[getter]
    fn pair(&self) -> String {
        self.0.episode.id.pair.to_string()
    }

    /// Which of the pair's samples it is.
    #[getter]
    fn sample(&self) -> u32 {
        self.0.episode.id.sample
    }

    /// What `step` is to be called with: `ask`, the asker's reply to `messages`; `judge`, `draws` answers of the policy to
    /// `messages` at temperature 0; `retry`, nothing, since an earlier step failed or was cancelled; `done`, it is over.
    #[getter]
    fn need(&self, py: Python<'_>) -> &'static str {
        match self.next() {
            Some(call) if call.slot.role == Role::Asker => "ask",
            Some(_) => "judge",
            None if self.done(py) => "done",
            None => "retry",
        }
    }

    /// Whether it is over, and `rollout` there.
    #[getter]
    fn done(&self, py: Python<'_>) -> bool {
        self.0.result.get(py).is_some()
    }

    /// The asker's turn, counted from 1; `None` unless a reply is needed.
    #[getter]
    fn turn(&self) -> Option<u32> {
        self.next().map(|call| call.slot.turn)
    }

    /// The messages to reply to: the asker's whole conversation, or the cross-check question. Empty unless a reply is needed.
    #[getter]
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.next().map(|call| call.messages).unwrap_or_default())
    }

    /// Token limit of the reply; `None` unless a reply is needed.
    #[getter]
    fn max_tokens(&self) -> Option<u32> {
        self.next().map(|call| call.max_tokens)
    }

    /// How many replies are needed: 1 for the asker.
    #[getter]
    fn draws(&self) -> usize {
        self.0.episode.trainer_calls().len()
    }

    /// The finished rollout, like that of `Environment.rollout`.
    #[getter]
    fn rollout(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let result = self.0.result.get(py).map(|result| result.clone_ref(py));
        result.ok_or_else(|| {
            PyValueError::new_err(format!("the episode is not over; `need` is {:?}", self.need(py)))
        })
    }

    /// Submits the needed reply, and makes the calls of all other models up to the next one. Coroutine: returns whether the
    /// episode is over, or raises `RolloutFailure`; `step()` without a reply then continues.
    #[pyo3(signature = (reply = None))]
    fn step<'py>(&self, py: Python<'py>, reply: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let replies = reply.filter(|reply| !reply.is_none()).map(replies).transpose()?;
        let (shared, wanted) = (self.0.clone(), self.next().map(|call| call.slot));
        if shared.process != Process::current() {
            let hint = "hint: create it in the process that steps it";
            return Err(PyRuntimeError::new_err(format!(
                "the episode belongs to the process before a fork\n{hint}"
            )));
        }
        coroutine(py, async move {
            let step = tokio::time::timeout(CANCELLED, shared.step.lock()).await;
            let now = shared.episode.trainer_calls().first().map(|call| call.slot);
            if step.is_err() || (now.is_some() && now != wanted) {
                return Err(PyValueError::new_err("another step of this episode is in progress"));
            }
            shared.step(replies).await?;
            Python::attach(|py| {
                Ok(pyo3::types::PyBool::new(py, shared.result.get(py).is_some())
                    .to_owned()
                    .into_any()
                    .unbind())
            })
        })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("Episode(pair={:?}, sample={}, need={:?})", self.pair(), self.sample(), self.need(py))
    }
}

impl Shared {
    async fn step(&self, replies: Option<Vec<Completion>>) -> PyResult<()> {
        let (episode, failed) = (&self.episode, |error| call_error(&self.episode.inner, &error, &[]));
        let wanted = episode.trainer_calls();
        match (wanted.first(), replies) {
            (None, Some(_)) if Python::attach(|py| self.result.get(py).is_some()) => {
                return Err(PyValueError::new_err("the episode is over; its result is in `rollout`"));
            }
            // A repeated step.
            (None, Some(replies))
                if episode.last_reply().as_ref() != replies.first().map(|one| &one.reply.content) =>
            {
                let hint = "hint: call step() without a reply to continue, or with the same one";
                return Err(PyValueError::new_err(format!("this turn has another reply already\n{hint}")));
            }
            (None, _) => {}
            (Some(call), None) => {
                let (role, turn) = (call.slot.role, call.slot.turn);
                return Err(PyValueError::new_err(format!(
                    "step needs the reply of the {role} to turn {turn}"
                )));
            }
            (Some(_), Some(replies)) if replies.len() != wanted.len() => {
                let what = format!("{} replies were given, and {} are needed", replies.len(), wanted.len());
                return Err(PyValueError::new_err(what));
            }
            (Some(_), Some(replies)) => episode.answer(replies).await.map_err(failed)?,
        }
        episode.advance(true).await.map_err(failed)?;
        if let Some(rollout) = episode.finish().await.map_err(failed)? {
            Python::attach(|py| {
                let rollout = to_python(py, &rollout)?.unbind();
                let _ = self.result.set(py, rollout);
                Ok::<_, PyErr>(())
            })?;
        }
        Ok(())
    }
}

/// A reply, or a list of replies.
fn replies(given: &Bound<'_, PyAny>) -> PyResult<Vec<Completion>> {
    match given.cast::<PyList>() {
        Ok(list) => list.iter().map(|one| reply(&one)).collect(),
        Err(_) => Ok(vec![reply(given)?]),
    }
}

/// A text, or a dictionary with `content` and optionally `finish_reason`, `reasoning` and the sampled tokens.
fn reply(given: &Bound<'_, PyAny>) -> PyResult<Completion> {
    let mut reply = Reply::default();
    if let Ok(fields) = given.cast::<PyDict>() {
        for (name, value) in fields {
            let name: String = name.extract()?;
            if value.is_none() && name != "content" {
                continue;
            }
            match name.as_str() {
                "content" => reply.content = text(&value)?,
                "reasoning" => reply.reasoning = Some(text(&value)?),
                "finish_reason" => reply.finish = Finish::from_name(&value.extract::<String>()?),
                "token_ids" => trace(&mut reply).tokens = value.extract()?,
                "logprobs" => trace(&mut reply).logprobs = value.extract()?,
                "prompt_token_ids" => trace(&mut reply).prompt = value.extract()?,
                _ => {
                    let hint = "hint: use content, finish_reason, reasoning, token_ids, logprobs and prompt_token_ids";
                    return Err(PyValueError::new_err(format!("a reply has no {name:?}\n{hint}")));
                }
            }
        }
        if !fields.contains("content")? {
            return Err(PyValueError::new_err("a reply needs \"content\""));
        }
    } else {
        reply.content = text(given)?;
    }
    if let Some(Trace { tokens, logprobs, prompt, .. }) = &reply.trace {
        if !tokens.is_empty() && !logprobs.is_empty() && tokens.len() != logprobs.len() {
            let what = format!("{} token_ids and {} logprobs", tokens.len(), logprobs.len());
            return Err(PyValueError::new_err(what));
        }
        // They could not be stored as JSON, and nothing can be learned from them.
        if let Some(at) = logprobs.iter().position(|logprob| !logprob.is_finite()) {
            return Err(PyValueError::new_err(format!("logprobs[{at}] is {}", logprobs[at])));
        }
        reply.usage =
            Usage { prompt: prompt.len() as u64, completion: tokens.len() as u64, ..Usage::default() };
    }
    Ok(Completion { reply, latency: Duration::ZERO, attempts: 1, cost: Usd::default() })
}

fn trace(reply: &mut Reply) -> &mut Trace {
    reply.trace.get_or_insert_default()
}

fn text(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text: String = value.extract().map_err(|error| {
        if value.is_instance_of::<pyo3::types::PyString>() {
            return error;
        }
        let kind = value.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
        PyTypeError::new_err(format!("a reply must be a str or a dict with \"content\", not {kind}"))
    })?;
    if text.len() > MAX_BYTES {
        return Err(PyValueError::new_err(format!(
            "the reply has {} bytes; at most {MAX_BYTES} are read",
            text.len()
        )));
    }
    Ok(text)
}
