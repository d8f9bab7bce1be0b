//! Blocking work off the serving thread: expensive work never takes all threads, and the cheapest goes first.

use crate::{Budget, Permit};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;
use tokio::task::{JoinError, spawn_blocking};

/// Work that costs more than this waits for the threads of expensive work.
const EXPENSIVE: usize = 1 << 20;

/// Threads for cheap and for expensive work.
#[derive(Debug)]
pub struct Workers {
    cheap: Arc<Budget>,
    expensive: Arc<Budget>,
}

impl Default for Workers {
    /// Half of the cores for expensive work, at least one, and as many threads as cores for the rest.
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        let threads = |count: usize| Budget::new(count.max(1), Duration::MAX);
        Self { cheap: threads(cores.max(2)), expensive: threads(cores / 2) }
    }
}

impl Workers {
    /// Waits for a thread. `cost` is about how many bytes the work reads or looks at.
    pub(crate) async fn enter(&self, cost: usize) -> Permit {
        let threads = if cost > EXPENSIVE { &self.expensive } else { &self.cheap };
        threads.acquire(1, cost).await
    }

    /// Runs `work` on a thread of its own. `cost` is about how many bytes it reads or looks at.
    pub async fn run<T: Send + 'static>(
        &self,
        cost: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        run_with(self.enter(cost).await, work).await
    }
}

/// Runs work on a thread that was waited for. A client that leaves does not end the work, so the work holds the thread.
pub(crate) async fn run_with<T: Send + 'static>(
    thread: Permit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    spawn_blocking(move || {
        let done = work();
        drop(thread);
        done
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[tokio::test]
    async fn cheap_work_does_not_wait_for_expensive_work() {
        let workers = Arc::new(Workers::default());
        let (release, wait) = mpsc::channel::<()>();
        let wait = Arc::new(std::sync::Mutex::new(wait));
        let slow: Vec<_> = (0..64)
            .map(|_| {
                let (workers, wait) = (Arc::clone(&workers), Arc::clone(&wait));
                tokio::spawn(async move {
                    workers.run(EXPENSIVE + 1, move || wait.lock().unwrap().recv().is_ok()).await
                })
            })
            .collect();
        tokio::task::yield_now().await;
        assert_eq!(workers.run(10, || 7).await.unwrap(), 7);
        drop(release);
        for one in slow {
            one.await.unwrap().unwrap();
        }
    }
}
