//! Rebuilds lost records and grades from stored replies. No model is called.

use crate::{CallError, PlannedSession, RunContext, Runner, plan_session};
use aske_record::{PairId, RunDir, RunError, SessionId};
use aske_session::{Role, Seed, Side, Slot};
use parking_lot::Mutex;
use std::collections::BTreeSet;

/// The result of a repair.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairSummary {
    /// Sessions with a record, a grade or a stored reply.
    pub sessions: usize,
    /// Rebuilt records.
    pub records: usize,
    /// Rebuilt grades.
    pub grades: usize,
    /// Sessions that stored replies cannot finish, with the reason.
    pub open: Vec<(String, String)>,
}

/// The number of records of audits, baselines, difficulty measurements and evaluations that have stored replies but are
/// missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissingRecords {
    /// Final questions solved again.
    pub audits: usize,
    /// Questions without probing.
    pub baselines: usize,
    /// Final questions put to an independent solver.
    pub difficulties: usize,
    /// Samples of evaluations.
    pub evals: usize,
}

/// Finishes every session that stored replies are sufficient for. The models of the context must be offline.
pub async fn repair(context: &RunContext<'_>) -> Result<RepairSummary, RunError> {
    let (folder, seed) = (context.folder, Seed(context.settings.run.seed));
    let sessions = sessions(folder);
    let runner = Runner::with_all_grades(context);
    let mut done = RepairSummary { sessions: sessions.len(), ..RepairSummary::default() };
    let unfinished: Vec<(&str, SessionId)> = sessions
        .into_iter()
        .filter(|name| runner.grade(name).is_none())
        .filter_map(|name| Some((name, session_id(name)?)))
        .collect();
    let made = Mutex::new([0_usize; 2]);
    let odd: Mutex<Vec<(String, String)>> = Mutex::default();
    let work = async |(name, id): &(&str, SessionId)| {
        let planned = with_solvers(folder, plan_session(seed, id.clone()))?;
        let listed = |name: &&String| !context.settings.solvers.iter().any(|solver| solver.model == **name);
        if let Some(solver) = planned.solvers.iter().find(listed) {
            odd.lock().push(((*name).to_owned(), format!("run.toml does not list the solver `{solver}`")));
            return Ok(());
        }
        match runner.finish(&planned, &()).await {
            Ok(new) => {
                let mut made = made.lock();
                made[0] += usize::from(new.record);
                made[1] += usize::from(new.grade);
                Ok(())
            }
            Err(CallError::Folder(error @ RunError::OtherRequest { .. })) => {
                odd.lock().push(((*name).to_owned(), error.to_string()));
                Ok(())
            }
            Err(other) => Err(other),
        }
    };
    let ended = context.run_all(&unfinished, |(name, _)| (*name).to_owned(), work, |_| {}).await?;
    [done.records, done.grades] = made.into_inner();
    done.open = odd.into_inner();
    let failed = ended.failures.into_iter().map(|failed| (failed.record, failed.failure.to_string()));
    done.open.extend(failed);
    done.open.sort();
    Ok(done)
}

/// Counts records outside of sessions that have stored replies but are missing. Running their command again rebuilds them.
pub fn missing_records(folder: &RunDir) -> MissingRecords {
    let mut found = MissingRecords::default();
    let (mut audited, mut measured) = (BTreeSet::new(), BTreeSet::new());
    for name in folder.index().names() {
        // `audit/DEPTH/SESSION` and `difficulty/SOLVER/SESSION`.
        let Some((kind, rest)) = name.split_once('/') else { continue };
        let Some((_, session)) = rest.split_once('/') else { continue };
        match kind {
            "audit" => audited.extend([session]),
            "difficulty" => measured.extend([session]),
            _ => {}
        }
    }
    let mut seen = BTreeSet::new();
    for name in &folder.calls().known {
        // Replies of a panel are stored under the session's name and the solver's.
        let Some((kind, rest)) = name.split_once('/') else { continue };
        let session = rest.rsplit_once('/').map_or(rest, |(session, _)| session);
        match kind {
            "eval" if !folder.index().contains(name) => found.evals += 1,
            "baseline" if !rest.contains('/') && !folder.index().contains(name) => found.baselines += 1,
            "audit" if !audited.contains(session) && seen.insert((kind, session)) => found.audits += 1,
            "difficulty" if !measured.contains(session) && seen.insert((kind, session)) => {
                found.difficulties += 1;
            }
            _ => {}
        }
    }
    found
}

/// The names of all sessions with a record, a grade or a stored reply.
fn sessions(folder: &RunDir) -> BTreeSet<&str> {
    let graded = folder.grades().iter().map(|line| line.record.as_str());
    let all = graded.chain(folder.index().names()).chain(folder.calls().known.iter().map(String::as_str));
    all.filter(|name| session_id(name).is_some()).collect()
}

/// Parses the name of a session; names of other records have another format.
fn session_id(name: &str) -> Option<SessionId> {
    let (pair, sample) = name.split_once('/')?;
    Some(SessionId { pair: pair.parse::<PairId>().ok()?, sample: sample.parse().ok()? })
}

/// The session with its solvers as in its stored replies: with `aske ask` the user chooses the order.
fn with_solvers(folder: &RunDir, mut planned: PlannedSession) -> Result<PlannedSession, RunError> {
    let calls = folder.calls().earlier_replies(&planned.id.to_string())?;
    let model = |side: Side| {
        let mut turns = 1..=u32::try_from(calls.len()).unwrap_or(u32::MAX);
        turns
            .find_map(|turn| calls.get(&Slot::first(turn, Role::Solver(side))))
            .map(|call| call.model.clone())
    };
    if let [Some(one), Some(two)] = Side::BOTH.map(model) {
        planned.solvers = [one, two];
    }
    Ok(planned)
}
