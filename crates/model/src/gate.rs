//! How many calls may be in flight: up slowly while all goes well, down on throttling.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

/// Throttling within this time of a cut belongs to the same burst.
const ONE_BURST: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(crate) struct Gate {
    places: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    limit: usize,
    most: usize,
    /// Places to take away when their calls end.
    owed: usize,
    /// Successes since the last change.
    good: usize,
    last_cut: Option<Instant>,
}

impl Gate {
    pub(crate) fn new(most: usize) -> Self {
        let most = most.clamp(1, Semaphore::MAX_PERMITS);
        let state = State { limit: most, most, owed: 0, good: 0, last_cut: None };
        Self { places: Semaphore::new(most), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place.
    pub(crate) async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        self.places.acquire().await.ok()
    }

    /// Gives a place back, or takes it out of use when places are owed.
    pub(crate) fn leave(&self, place: Option<SemaphorePermit<'_>>) {
        let mut state = self.state();
        if state.owed > 0
            && let Some(place) = place
        {
            state.owed -= 1;
            place.forget();
        }
    }

    /// A call went well: one more place after as many successes as there are places.
    pub(crate) fn succeeded(&self) {
        let mut state = self.state();
        if state.limit >= state.most {
            return;
        }
        state.good += 1;
        if state.good >= state.limit {
            state.good = 0;
            state.limit += 1;
            if state.owed > 0 {
                state.owed -= 1;
            } else {
                self.places.add_permits(1);
            }
        }
    }

    /// The server asked to slow down: half the places, once a burst.
    pub(crate) fn throttled(&self) {
        let mut state = self.state();
        let now = Instant::now();
        if state.last_cut.is_some_and(|cut| now.duration_since(cut) < ONE_BURST) {
            return;
        }
        let lower = (state.limit / 2).max(1);
        // Places that nobody holds go at once, the others when their calls end.
        let cut = state.limit - lower;
        state.owed += cut - self.places.forget_permits(cut);
        state.limit = lower;
        state.good = 0;
        state.last_cut = Some(now);
    }

    #[cfg(test)]
    fn limit(&self) -> usize {
        self.state().limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn throttling_halves_and_success_adds_one_by_one() {
        let gate = Gate::new(8);
        let mut held = Vec::new();
        for _ in 0..8 {
            held.push(gate.enter().await);
        }
        gate.throttled();
        gate.throttled();
        assert_eq!(gate.limit(), 4, "one burst, one cut");
        for place in held {
            gate.leave(place);
        }
        assert_eq!(gate.places.available_permits(), 4);
        for _ in 0..4 {
            gate.succeeded();
        }
        assert_eq!((gate.limit(), gate.places.available_permits()), (5, 5));
        tokio::time::advance(Duration::from_secs(2)).await;
        gate.throttled();
        assert_eq!(gate.limit(), 2);
        for _ in 0..100 {
            gate.succeeded();
        }
        assert_eq!(gate.limit(), 8, "never over the most");
        assert_eq!(gate.places.available_permits(), 8);
        tokio::time::advance(Duration::from_secs(2)).await;
        gate.throttled();
        assert_eq!(gate.places.available_permits(), 4, "places that nobody holds go at once");
    }
}
