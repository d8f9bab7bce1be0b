//! What all sessions share: settings, models, the run folder and the history.

use crate::ServeError;
use crate::episode::{Episode, Judge};
use crate::history::History;
use crate::open_sessions::{OpenSession, OpenSessions};
use aske_bench::{
    Budget, Caller, Grader, ModelRegistry, PairOrder, PairSchedule, PlannedSession, Selection, plan_session,
    selected_pairs,
};
use aske_config::Settings;
use aske_http::ApiError;
use aske_model::Halt;
use aske_record::{PairId, RunDir, SessionId};
use aske_session::{Seed, Session};
use axum::http::StatusCode;
use parking_lot::Mutex;
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How many sessions may be open, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct SessionLimits {
    /// Maximum number of open sessions.
    pub sessions: usize,
    /// A session is dropped after this long without a request.
    pub idle: Duration,
}

/// The environment: the trainer supplies the asker's replies, all other models are called here.
pub struct Environment {
    pub(crate) settings: Settings,
    pub(crate) models: ModelRegistry,
    pub(crate) folder: RunDir,
    pub(crate) halt: Halt,
    pub(crate) grader: Grader,
    pub(crate) history: History,
    pub(crate) sessions: OpenSessions,
    pub(crate) judge: Judge,
    budget: Budget,
    /// All pairs, in the order of the solvers.
    pub(crate) pairs: Vec<PairId>,
    schedule: PairSchedule,
    /// The next step of the schedule.
    next_step: AtomicU64,
    /// Sessions opened since startup.
    opened: Mutex<HashSet<SessionId>>,
}

/// The session that a trainer requests; missing fields are chosen by the environment.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct SessionRequest {
    pair: Option<String>,
    seed: Option<u64>,
    sample: Option<u32>,
}

impl Environment {
    /// Prepares the models. If the asker is its own cross-check solver, the trainer supplies the cross-check answers too.
    pub fn new(
        settings: Settings,
        folder: RunDir,
        history: History,
        limits: SessionLimits,
    ) -> Result<Self, ServeError> {
        let judge = if settings.check.model == settings.asker.model { Judge::Trainer } else { Judge::Check };
        let mut served = settings.clone();
        served.models.retain(|name, _| is_served(&settings, name));
        let models = ModelRegistry::new(&served)?;
        let pairs = selected_pairs(&settings, &Selection::default())?;
        Ok(Self {
            grader: Grader::new(&settings, &models),
            budget: Budget::new(&settings.run, folder.calls())?,
            schedule: PairSchedule::new(pairs.clone(), settings.run.seed, 1, 1)
                .with_order(PairOrder::Shuffled),
            sessions: OpenSessions::new(limits),
            halt: Halt::default(),
            next_step: AtomicU64::new(0),
            opened: Mutex::default(),
            settings,
            models,
            folder,
            history,
            judge,
            pairs,
        })
    }

    /// Makes calls with this seed, against the budget of the run.
    pub(crate) fn caller(&self, seed: Seed) -> Caller<'_> {
        Caller::new(self.folder.calls(), seed, &self.halt, self.budget.clone())
    }

    /// Opens a new session; returns its name and plan.
    pub(crate) fn open(&self, request: &SessionRequest) -> Result<(String, PlannedSession), ApiError> {
        self.sessions.check_limit()?;
        let pair = match &request.pair {
            Some(text) => self.pair(text)?,
            None => self.next_pair()?,
        };
        let id = self.new_id(&pair, request.sample)?;
        let seed = Seed(request.seed.unwrap_or(self.settings.run.seed));
        let planned = plan_session(seed, id);
        let Settings { protocol, pack, domain, .. } = &self.settings;
        let session = Session::new(protocol.clone(), pack.clone(), *domain);
        let session = OpenSession::new(planned.clone(), seed, Episode::new(session, self.judge));
        Ok((self.sessions.add(session), planned))
    }

    fn pair(&self, text: &str) -> Result<PairId, ApiError> {
        let selection = Selection { pairs: vec![text.to_owned()], ..Selection::default() };
        let pairs = selected_pairs(&self.settings, &selection)
            .map_err(|error| ApiError::from_error(StatusCode::BAD_REQUEST, &error))?;
        match pairs.as_slice() {
            [pair] => Ok(pair.clone()),
            _ => Err(ApiError::bad_request("`pair` must name two solvers")
                .with_hint("write `a:b`; GET /v1/pairs lists all pairs")),
        }
    }

    fn next_pair(&self) -> Result<PairId, ApiError> {
        let step = self.next_step.fetch_add(1, Ordering::Relaxed);
        let mut sessions = self.schedule.step(step).into_iter().flat_map(|group| group.sessions);
        sessions
            .next()
            .map(|planned| planned.id.pair)
            .ok_or_else(|| ApiError::internal("the schedule of pairs has ended"))
    }

    /// The id of a session for which nothing is stored yet.
    fn new_id(&self, pair: &PairId, sample: Option<u32>) -> Result<SessionId, ApiError> {
        let mut opened = self.opened.lock();
        let is_free =
            |id: &SessionId| !opened.contains(id) && !self.folder.calls().known.contains(&id.to_string());
        let id = |sample| SessionId { pair: pair.clone(), sample };
        let id = match sample {
            Some(sample) => Some(id(sample)).filter(is_free),
            None => (0..u32::MAX).map(id).find(is_free),
        };
        let id = id.ok_or_else(|| {
            let message = format!("sample {} of {pair} was opened before", sample.unwrap_or(u32::MAX));
            ApiError::conflict(message).with_hint("omit `sample` to get the next one")
        })?;
        opened.insert(id.clone());
        Ok(id)
    }
}

/// Whether the environment calls a model: solvers, equivalence checker, and a cross-check solver other than the asker.
fn is_served(settings: &Settings, name: &str) -> bool {
    let check = Some(&settings.check).filter(|check| check.model != settings.asker.model);
    let equivalence = settings.equivalence.as_ref().map(|(role, _)| role);
    settings.solvers.iter().chain(check).chain(equivalence).any(|role| role.model == name)
}
