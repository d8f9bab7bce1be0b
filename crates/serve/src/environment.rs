//! Everything that episodes share: settings, models, the run folder, the open sessions and the history.

use crate::ServeError;
use crate::episode::{Episode, Judge};
use crate::history::History;
use crate::problem::Problem;
use crate::table::{Seat, Table};
use aske_bench::{
    Budget, Caller, Grader, ModelRegistry, PairSchedule, PlannedSession, Selection, plan_session,
    selected_pairs,
};
use aske_config::Settings;
use aske_model::Halt;
use aske_record::{PairId, RunDir, SessionId};
use aske_session::{Seed, Session};
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How much may be open at once, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Open sessions at most.
    pub sessions: usize,
    /// A session is forgotten when it was not used for this long.
    pub idle: Duration,
}

/// The environment: a trainer brings the asker, and everyone else is here.
pub struct Environment {
    pub(crate) settings: Settings,
    pub(crate) fleet: ModelRegistry,
    pub(crate) folder: RunDir,
    pub(crate) halt: Halt,
    pub(crate) grader: Grader,
    pub(crate) history: History,
    pub(crate) table: Table,
    pub(crate) judge: Judge,
    purse: Budget,
    pairs: Vec<PairId>,
    course: PairSchedule,
    /// The next place in the course.
    place: AtomicU64,
    /// Sessions that this start has begun.
    begun: Mutex<HashSet<SessionId>>,
}

/// Which session a trainer wants; what it leaves open is chosen here.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Wish {
    pair: Option<String>,
    seed: Option<u64>,
    sample: Option<u32>,
}

impl Environment {
    /// Prepares the models; where the asker is its own cross-check solver, the trainer judges.
    pub fn new(
        settings: Settings,
        folder: RunDir,
        history: History,
        options: Options,
    ) -> Result<Self, ServeError> {
        let judge = if settings.check.model == settings.asker.model { Judge::Trainer } else { Judge::Check };
        let mut served = settings.clone();
        served.models.retain(|name, _| is_served(&settings, name));
        let fleet = ModelRegistry::new(&served)?;
        let pairs = selected_pairs(&settings, &Selection::default())?;
        Ok(Self {
            grader: Grader::new(&settings, &fleet),
            purse: Budget::new(&settings.run, folder.calls())?,
            course: PairSchedule::new(pairs.clone(), settings.run.seed, 1, 1),
            table: Table::new(options.sessions, options.idle),
            halt: Halt::default(),
            place: AtomicU64::new(0),
            begun: Mutex::default(),
            settings,
            fleet,
            folder,
            history,
            judge,
            pairs,
        })
    }

    /// All pairs, in the order of the solvers.
    pub(crate) fn pairs(&self) -> &[PairId] {
        &self.pairs
    }

    /// Makes calls that count into the purse of all, and are drawn by this seed.
    pub(crate) fn caller(&self, seed: Seed) -> Caller<'_> {
        Caller::new(self.folder.calls(), seed, &self.halt, self.purse.clone())
    }

    /// A session that has not begun, and its name.
    pub(crate) fn open(&self, wish: &Wish) -> Result<(String, PlannedSession), Problem> {
        self.table.has_room()?;
        let pair = match &wish.pair {
            Some(text) => self.pair(text)?,
            None => self.next_pair()?,
        };
        let id = self.begin(&pair, wish.sample)?;
        let seed = Seed(wish.seed.unwrap_or(self.settings.run.seed));
        let planned = plan_session(seed, id);
        let Settings { protocol, pack, domain, .. } = &self.settings;
        let session = Session::new(protocol.clone(), pack.clone(), *domain);
        let seat = Seat::new(planned.clone(), seed, Episode::new(session, self.judge));
        Ok((self.table.open(seat), planned))
    }

    fn pair(&self, text: &str) -> Result<PairId, Problem> {
        let selection = Selection { pairs: vec![text.to_owned()], ..Selection::default() };
        match selected_pairs(&self.settings, &selection)?.as_slice() {
            [pair] => Ok(pair.clone()),
            _ => Err(Problem::bad(
                "`pair` must name two solvers",
                "write `a:b`; GET /v1/pairs lists all pairs",
            )),
        }
    }

    fn next_pair(&self) -> Result<PairId, Problem> {
        let place = self.place.fetch_add(1, Ordering::Relaxed);
        let mut sessions = self.course.step(place).into_iter().flat_map(|group| group.sessions);
        sessions
            .next()
            .map(|planned| planned.id.pair)
            .ok_or_else(|| Problem::ours("the order of pairs is at its end"))
    }

    /// The name of a session under which nothing is stored yet.
    fn begin(&self, pair: &PairId, sample: Option<u32>) -> Result<SessionId, Problem> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = |id: &SessionId| !begun.contains(id) && !self.folder.calls().is_known(&id.to_string());
        let named = |sample| SessionId { pair: pair.clone(), sample };
        let id = match sample {
            Some(sample) => Some(named(sample)).filter(is_free),
            None => (0..u32::MAX).map(named).find(is_free),
        };
        let id = id.ok_or_else(|| {
            let what = format!("sample {} of {pair} has begun before", sample.unwrap_or(u32::MAX));
            Problem::conflict(what, "leave `sample` out to get the next one")
        })?;
        begun.insert(id.clone());
        Ok(id)
    }
}

/// Whether this side answers for a model: solvers, equivalence checker, and a cross-check solver that is not the asker.
fn is_served(settings: &Settings, name: &str) -> bool {
    let check = Some(&settings.check).filter(|check| check.model != settings.asker.model);
    let equivalence = settings.equivalence.as_ref().map(|(role, _)| role);
    settings.solvers.iter().chain(check).chain(equivalence).any(|role| role.model == name)
}
