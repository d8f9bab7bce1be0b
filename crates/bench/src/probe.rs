//! Probes: one tiny call to each remote model before a run, so that a wrong key, name or address is found within seconds.

use crate::{ModelRegistry, PlannedSession};
use aske_chat::Usd;
use aske_config::{RoleSettings, Settings};
use aske_model::{Completion, ErrorCause, Halt, Limits, Model, ModelError, Request};
use aske_record::{CallKey, CallStore, RunError, StoredCall};
use aske_session::{Need, Role, Session, Slot};
use futures_util::future::join_all;
use std::collections::BTreeSet;
use std::time::UNIX_EPOCH;
use tracing::{Instrument, debug_span};

/// Maximum tokens of a probe's reply: enough for models that think before they answer.
const MAX_TOKENS: u32 = 64;
/// Deadline of an attempt, in seconds.
const TIMEOUT_S: f64 = 20.0;
/// No further attempt begins after this time, in seconds.
const DEADLINE_S: f64 = 5.0;
const ATTEMPTS: u32 = 3;

/// The replies to probes, to be stored in the run folder, and the probes that failed for now.
#[derive(Debug, Default)]
pub struct Probes {
    /// Failures that may pass: the run may begin.
    pub warnings: Vec<ModelError>,
    replies: Vec<StoredCall>,
}

impl Probes {
    /// The number of models that have replied.
    pub fn replied(&self) -> usize {
        self.replies.len()
    }

    /// The cost of all replies.
    pub fn cost(&self) -> Usd {
        self.replies.iter().fold(Usd::default(), |sum, call| sum + call.cost)
    }

    /// Stores the replies, so that they count towards the budgets and the cost of the run.
    pub async fn store(self, calls: &CallStore) -> Result<(), RunError> {
        let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
        for call in self.replies {
            let key =
                CallKey { record: format!("probe/{now}/{}", call.model), slot: Slot::first(0, Role::Panel) };
            calls.put(key, call).await?;
        }
        Ok(())
    }
}

/// Calls the remote models of these roles once each, concurrently. Returns the errors of all models that cannot be used, if
/// there are any.
pub async fn probe(models: &ModelRegistry, roles: &[&RoleSettings]) -> Result<Probes, Vec<ModelError>> {
    let mut names = BTreeSet::new();
    let remote = roles.iter().filter_map(|role| Some((models.get(&role.model)?, *role)));
    let remote = remote.filter(|(model, _)| model.is_remote() && names.insert(model.name().to_owned()));
    let results =
        join_all(remote.map(|(model, role)| async move { (model, probe_model(model, role).await) })).await;
    let (mut probes, mut errors) = (Probes::default(), Vec::new());
    for (model, result) in results {
        match result {
            Ok(call) => probes.replies.push(call),
            // A reply that was cut off is a reply.
            Err(error) if is_cut_off(&error) => {}
            Err(error) if may_pass(&error, model.limits()) => probes.warnings.push(error),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(probes) } else { Err(errors) }
}

async fn probe_model(model: &Model, role: &RoleSettings) -> Result<StoredCall, ModelError> {
    let limits = Limits {
        attempts: model.limits().attempts.min(ATTEMPTS),
        timeout_s: model.limits().timeout_s.min(TIMEOUT_S),
        deadline_s: DEADLINE_S,
        retry_after_cap_s: 1.0,
        reconnect_s: None,
        ..Limits::default()
    };
    // Another seed each time, so that no cache replies.
    let seed = UNIX_EPOCH.elapsed().unwrap_or_default().subsec_nanos();
    let request = Request {
        max_tokens: MAX_TOKENS,
        sampling: role.sampling.clone(),
        seed,
        ..Request::user("This is a connection test. Reply with OK.")
    };
    let Completion { reply, latency, attempts, cost } =
        model.complete_within(&request, &Halt::default(), &limits).instrument(debug_span!("probe")).await?;
    let request = request.hash(model.name()).0;
    Ok(StoredCall { model: model.name().to_owned(), request, reply, latency, attempts, cost })
}

/// Whether a run can begin in spite of this error: the model is busy or slow, or its server is waited for.
fn may_pass(error: &ModelError, limits: &Limits) -> bool {
    match error.cause {
        ErrorCause::Network => limits.reconnect_s.is_some_and(|wait| wait > 0.0),
        cause => cause.is_transient(),
    }
}

/// Some servers reject a request when a model uses up its tokens by thinking.
fn is_cut_off(error: &ModelError) -> bool {
    error.cause == ErrorCause::Rejected && error.message.contains("output limit was reached")
}

/// The roles that these sessions need a reply from which is not stored: the asker, the solvers and the checks. `calls` is the
/// store of their run, if it exists already.
pub fn needed_roles<'s>(
    settings: &'s Settings,
    open: &[&PlannedSession],
    calls: Option<&CallStore>,
) -> Result<Vec<&'s RoleSettings>, RunError> {
    let mut solvers = BTreeSet::new();
    for planned in open {
        if calls.map_or(Ok(true), |calls| needs_reply(settings, planned, calls))? {
            solvers.extend(planned.solvers.iter().map(String::as_str));
        }
    }
    if solvers.is_empty() {
        return Ok(Vec::new());
    }
    let solvers = settings.solvers.iter().filter(|role| solvers.contains(role.model.as_str()));
    let checks = std::iter::once(&settings.check).chain(settings.equivalence.as_ref().map(|(role, _)| role));
    Ok(std::iter::once(&settings.asker).chain(solvers).chain(checks).collect())
}

/// Whether a session needs a reply that is not stored.
fn needs_reply(settings: &Settings, planned: &PlannedSession, calls: &CallStore) -> Result<bool, RunError> {
    let mut replies = calls.earlier_replies(&planned.id.to_string())?;
    let mut session = Session::new(settings.protocol.clone(), settings.pack.clone(), settings.domain);
    while let Need::Calls(calls) = session.need() {
        for call in calls {
            let Some(stored) = replies.remove(&call.slot) else { return Ok(true) };
            if session.feed(call.slot, stored.reply).is_err() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
