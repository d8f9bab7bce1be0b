//! A signal to stop: nothing new begins, calls in flight may finish.

use std::future::Future;
use tokio::sync::watch;

/// Tells all calls of a run to begin nothing new.
#[derive(Debug)]
pub struct Halt(watch::Sender<bool>);

impl Default for Halt {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Halt {
    /// Stops everything from now on; idempotent.
    pub fn trigger(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was triggered.
    pub fn is_triggered(&self) -> bool {
        *self.0.borrow()
    }

    /// Awaits a future; `None` as soon as the halt is triggered.
    pub async fn unless<T>(&self, wait: impl Future<Output = T>) -> Option<T> {
        if self.is_triggered() {
            return None;
        }
        let mut wait = std::pin::pin!(wait);
        // Most futures are ready at once: poll before subscribing.
        if let std::task::Poll::Ready(value) = futures_util::poll!(wait.as_mut()) {
            return Some(value);
        }
        let mut watcher = self.0.subscribe();
        tokio::select! {
            value = wait => Some(value),
            _ = watcher.wait_for(|called| *called) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn waits_end_when_halt_is_triggered() {
        let halt = Halt::default();
        assert_eq!(halt.unless(async { 1 }).await, Some(1));
        assert_eq!(halt.unless(tokio::time::sleep(Duration::from_secs(1))).await, Some(()));
        let long = halt.unless(tokio::time::sleep(Duration::from_hours(1)));
        let call = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            halt.trigger();
        };
        assert_eq!(tokio::join!(long, call).0, None);
        assert_eq!(halt.unless(async { 1 }).await, None);
    }
}
