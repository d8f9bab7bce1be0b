//! Threads for blocking work: expensive work never occupies all of them, and the cheapest goes first.

use crate::WorkerError;
use crate::budget::{Budget, Permit};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;
use tokio::task::spawn_blocking;

/// Work that costs more than this uses the threads for expensive work.
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
    /// Waits for a thread. `cost` is the approximate number of bytes that the work reads.
    pub(crate) async fn acquire(&self, cost: usize) -> Permit {
        let threads = if cost > EXPENSIVE { &self.expensive } else { &self.cheap };
        threads.acquire(1, cost).await
    }

    /// Runs `work` on a worker thread. `cost` is the approximate number of bytes that it reads.
    pub async fn run<T: Send + 'static>(
        &self,
        cost: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, WorkerError> {
        run_with(self.acquire(cost).await, work).await
    }
}

/// Runs work on an acquired thread. A client that disconnects does not end the work, so the work holds the permit.
pub(crate) async fn run_with<T: Send + 'static>(
    thread: Permit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, WorkerError> {
    let work = move || {
        let done = work();
        drop(thread);
        done
    };
    Ok(spawn_blocking(work).await.inspect_err(|error| tracing::info!(%error, "worker thread failed"))?)
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
