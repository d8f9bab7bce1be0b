//! Writes finished rollouts to a run folder.

use crate::data::{CallData, SavedRollout};
use crate::environment::{Inner, folder_error};
use crate::folder::RunFolder;
use crate::rollout::{Episode, Players};
use crate::sampling::AskerSampling;
use aske_record::{CallKey, GradeLine, Record, RunError, StoredCall};
use aske_session::{Role, Slot};
use futures_util::future::try_join_all;
use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Replies that are stored at once.
const BATCH: usize = 256;

/// A rollout that fits the configuration.
#[derive(PartialEq)]
pub(crate) struct Checked {
    calls: Vec<(Slot, StoredCall)>,
    record: Record,
    grade: GradeLine,
}

/// Plays the replies of these rollouts again. Each must answer the requests of this configuration.
pub(crate) fn checked(inner: &Arc<Inner>, rollouts: &[SavedRollout]) -> PyResult<Vec<Checked>> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut all: Vec<Checked> = Vec::new();
    for rollout in rollouts {
        let one = replayed(inner, rollout)?;
        match seen.entry(one.grade.record.clone()) {
            Entry::Vacant(place) => {
                place.insert(all.len());
                all.push(one);
            }
            Entry::Occupied(first) if all[*first.get()].is_same(&one.calls) => {}
            Entry::Occupied(_) => return Err(another(&one.grade.record, "among these rollouts")),
        }
    }
    Ok(all)
}

impl Checked {
    fn is_same(&self, calls: &[(Slot, StoredCall)]) -> bool {
        let content = |(slot, call): &(Slot, StoredCall)| (*slot, call.request, call.reply.content.clone());
        self.calls.iter().map(content).eq(calls.iter().map(content))
    }
}

fn replayed(inner: &Arc<Inner>, rollout: &SavedRollout) -> PyResult<Checked> {
    let SavedRollout { pair, sample, turns, check, sampling } = rollout;
    let id = inner.session_id(pair, Some(*sample), |_| true)?;
    let sampling = AskerSampling::parse(sampling.clone()).map_err(PyValueError::new_err)?;
    let name = id.to_string();
    let find = |slot: Slot| {
        let turn = turns.iter().find(|turn| turn.turn == slot.turn)?;
        match slot.role {
            Role::Asker => turn.reply.as_ref(),
            Role::Solver(side) => turn.solvers.get(side.index()),
            _ => check.get(slot.draw as usize),
        }
    };
    let episode = Episode::new(inner.clone(), id.clone(), Players::absent(inner, &id)?, sampling, None);
    let calls = episode.play_back(|slot, model, request| {
        let place = format!("rollout {name}, turn {}, {}", slot.turn, slot.role);
        let call: &CallData =
            find(slot).ok_or_else(|| PyValueError::new_err(format!("{place}: the reply is missing")))?;
        if !call.answers(model, request) {
            let hint =
                "hint: save rollouts with the environment that made them; its configuration must be the same";
            return Err(PyValueError::new_err(format!("{place}: the reply answers another request\n{hint}")));
        }
        Ok(call.completion())
    })?;
    let rollout = episode
        .result(0.0, 0.0)
        .ok_or_else(|| PyValueError::new_err(format!("rollout {name} is not over")))?;
    Ok(Checked { calls, record: rollout.record, grade: rollout.grade })
}

/// Writes what is not in the folder yet; returns how many sessions are new.
pub(crate) fn write(folder: &RunFolder, rollouts: &[Checked]) -> PyResult<usize> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let mut new = 0;
    for batch in rollouts.chunks(BATCH) {
        let mut missing = Vec::new();
        for rollout in batch {
            let name = &rollout.grade.record;
            let mut stored = folder.replies(name).map_err(|error| folder_error(&error))?;
            for (slot, call) in &rollout.calls {
                match stored.remove(slot) {
                    None => missing.push((CallKey { record: name.clone(), slot: *slot }, call.clone())),
                    Some(there)
                        if there.request == call.request && there.reply.content == call.reply.content => {}
                    Some(_) => return Err(another(name, "in the folder")),
                }
            }
            if !stored.is_empty() {
                return Err(another(name, "in the folder"));
            }
        }
        let put = async {
            try_join_all(missing.into_iter().map(|(key, call)| folder.dir.calls().put(key, call))).await?;
            Ok::<(), RunError>(())
        };
        runtime.block_on(put).map_err(|error| folder_error(&error))?;
        for rollout in batch {
            new += usize::from(
                folder.add(&rollout.record, &rollout.grade).map_err(|error| folder_error(&error))?,
            );
        }
    }
    Ok(new)
}

fn another(name: &str, place: &str) -> pyo3::PyErr {
    let hint = "hint: give every rollout of a pair its own sample";
    PyValueError::new_err(format!("session {name} is {place} already, with other replies\n{hint}"))
}

impl Players {
    /// Models that never reply, for replies that are there.
    fn absent(inner: &Inner, id: &aske_record::SessionId) -> PyResult<Self> {
        let solvers = id.solvers(aske_session::Seed(inner.settings.run.seed));
        let [one, two] = solvers.map(|name| inner.find(&name));
        Ok(Self { asker: None, solvers: [one?, two?], check: None })
    }
}
