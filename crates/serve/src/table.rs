//! The open sessions: found by name, limited in number, forgotten when nobody comes back.

use crate::episode::Episode;
use crate::problem::Problem;
use aske_bench::PlannedSession;
use aske_session::Seed;
use axum::http::StatusCode;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One session's place.
pub(crate) struct Seat {
    pub(crate) planned: PlannedSession,
    pub(crate) seed: Seed,
    /// Held through a whole step: a repeated step waits for the first.
    pub(crate) episode: tokio::sync::Mutex<Episode>,
    used_at: Mutex<Instant>,
}

impl Seat {
    pub(crate) fn new(planned: PlannedSession, seed: Seed, episode: Episode) -> Self {
        let (episode, used_at) = (tokio::sync::Mutex::new(episode), Mutex::new(Instant::now()));
        Self { planned, seed, episode, used_at }
    }
}

/// All places.
pub(crate) struct Table {
    seats: Mutex<HashMap<String, Arc<Seat>>>,
    most: usize,
    idle: Duration,
}

impl Table {
    pub(crate) fn new(most: usize, idle: Duration) -> Self {
        Self { seats: Mutex::default(), most, idle }
    }

    /// Whether another session may open.
    pub(crate) fn has_room(&self) -> Result<(), Problem> {
        if self.seats().len() < self.most {
            return Ok(());
        }
        let what = format!("{} sessions are open, and no more are allowed", self.most);
        Err(Problem::full(
            what,
            "delete sessions that are done, or start the environment with more --sessions",
        ))
    }

    /// Gives a session its name.
    pub(crate) fn open(&self, seat: Seat) -> String {
        let mut seats = self.seats();
        loop {
            // By chance, so that a name of an earlier start means nothing now.
            let name = format!("{:016x}", fastrand::u64(..));
            if !seats.contains_key(&name) {
                seats.insert(name.clone(), Arc::new(seat));
                return name;
            }
        }
    }

    /// The session of this name.
    pub(crate) fn find(&self, name: &str) -> Result<Arc<Seat>, Problem> {
        let seat = self.seats().get(name).cloned().ok_or_else(|| self.missing(name))?;
        *seat.used_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Ok(seat)
    }

    /// Ends a session.
    pub(crate) fn close(&self, name: &str) -> Result<(), Problem> {
        self.seats().remove(name).map(drop).ok_or_else(|| self.missing(name))
    }

    /// How many are open.
    pub(crate) fn len(&self) -> usize {
        self.seats().len()
    }

    /// The seats, without those that nobody has come back to; one that is being worked on is not idle.
    fn seats(&self) -> MutexGuard<'_, HashMap<String, Arc<Seat>>> {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.retain(|_, seat| {
            let used_at = seat.used_at.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::strong_count(seat) > 1 || used_at.elapsed() < self.idle
        });
        seats
    }

    fn missing(&self, name: &str) -> Problem {
        let known: String = name.chars().filter(char::is_ascii_hexdigit).take(16).collect();
        let minutes = self.idle.as_secs_f64() / 60.0;
        Problem::new(
            StatusCode::NOT_FOUND,
            format!("no session `{known}`"),
            format!(
                "it was deleted, or idle for {minutes} minutes, or belongs to an earlier start; create another"
            ),
        )
    }
}
