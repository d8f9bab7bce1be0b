//! A shared budget of bytes or threads: the cheapest request goes first, and a holder that is too slow loses its share
//! to waiting requests.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep};

/// How often a waiting request looks for shares to revoke.
const REVOKE_INTERVAL: Duration = Duration::from_millis(20);

/// A number of units, bytes or threads, that requests share.
#[derive(Debug)]
pub(crate) struct Budget {
    total: usize,
    grace: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// By order of arrival.
    holders: BTreeMap<u64, Holder>,
    /// By priority, then by order of arrival.
    waiting: BTreeMap<(usize, u64), Waiting>,
    next_id: u64,
}

impl State {
    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}

#[derive(Debug)]
struct Holder {
    since: Instant,
    revoked: Arc<Notify>,
}

#[derive(Debug)]
struct Waiting {
    amount: usize,
    sender: oneshot::Sender<Permit>,
}

/// A share of a budget; dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Permit {
    budget: Arc<Budget>,
    amount: usize,
    id: u64,
    revoked: Arc<Notify>,
}

impl Permit {
    /// Completes once the share has been held for too long and other requests need it. The holder must then drop it.
    pub(crate) async fn revoked(&self) {
        self.revoked.notified().await;
    }

    /// The same for another task.
    pub(crate) fn revocation(&self) -> Arc<Notify> {
        Arc::clone(&self.revoked)
    }

    /// Reduces the share to `amount` and restarts its grace period.
    pub(crate) fn renew(&mut self, amount: usize) {
        self.revoked = Arc::new(Notify::new());
        let holder = Holder { since: Instant::now(), revoked: Arc::clone(&self.revoked) };
        let freed = self.amount.saturating_sub(amount);
        self.amount -= freed;
        self.budget.update(|state| {
            state.free += freed;
            state.holders.insert(self.id, holder);
        });
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.budget.update(|state| {
            state.free += self.amount;
            state.holders.remove(&self.id);
        });
    }
}

impl Budget {
    /// A budget of `total` units. A share may be revoked after `grace` if other requests wait.
    pub(crate) fn new(total: usize, grace: Duration) -> Arc<Self> {
        let state = State { free: total, holders: BTreeMap::new(), waiting: BTreeMap::new(), next_id: 0 };
        Arc::new(Self { total, grace, state: Mutex::new(state) })
    }

    /// Waits for a share. Requests with a smaller `priority` go first; `amount` is capped at the total.
    pub(crate) async fn acquire(self: &Arc<Self>, amount: usize, priority: usize) -> Permit {
        let amount = amount.min(self.total);
        let (sender, mut receiver) = oneshot::channel();
        self.update(|state| {
            let id = state.new_id();
            state.waiting.insert((priority, id), Waiting { amount, sender });
        });
        loop {
            tokio::select! {
                biased;
                permit = &mut receiver => match permit {
                    Ok(permit) => return permit,
                    // The sender is in `waiting` until it is used.
                    Err(_) => std::future::pending().await,
                },
                () = sleep(REVOKE_INTERVAL) => self.revoke(),
            }
        }
    }

    /// Changes the state, then grants shares to waiting requests. They are sent outside the lock, because a permit whose
    /// receiver is gone is dropped at once.
    fn update(self: &Arc<Self>, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        change(&mut state);
        let granted = self.grant(&mut state);
        drop(state);
        for (sender, permit) in granted {
            drop(sender.send(permit));
        }
    }

    /// Takes requests from the front of the queue while they fit; abandoned ones are skipped.
    fn grant(self: &Arc<Self>, state: &mut State) -> Vec<(oneshot::Sender<Permit>, Permit)> {
        let mut granted = Vec::new();
        while let Some(first) = state.waiting.first_entry() {
            if first.get().sender.is_closed() {
                first.remove();
                continue;
            }
            if first.get().amount > state.free {
                break;
            }
            let Waiting { amount, sender } = first.remove();
            let (id, revoked) = (state.new_id(), Arc::new(Notify::new()));
            state.free -= amount;
            state.holders.insert(id, Holder { since: Instant::now(), revoked: Arc::clone(&revoked) });
            granted.push((sender, Permit { budget: Arc::clone(self), amount, id, revoked }));
        }
        granted
    }

    /// Revokes every share that has been held for longer than the grace period.
    fn revoke(&self) {
        let state = self.state.lock();
        let old = state.holders.values().filter(|holder| holder.since.elapsed() > self.grace);
        old.for_each(|holder| holder.revoked.notify_one());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use poll_once::now_or_never;

    /// Polls a future once.
    mod poll_once {
        use std::pin::Pin;
        use std::task::{Context, Poll, Waker};

        pub(super) fn now_or_never<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
            match future.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(output) => Some(output),
                Poll::Pending => None,
            }
        }
    }

    fn free(budget: &Budget) -> usize {
        budget.state.lock().free
    }

    const GRACE: Duration = Duration::from_millis(200);

    #[tokio::test(start_paused = true)]
    async fn the_cheapest_goes_first_and_nothing_is_lost() {
        let budget = Budget::new(10, GRACE);
        let all = budget.acquire(99, 0).await;
        let (mut large, mut small, mut gone) =
            (Box::pin(budget.acquire(8, 8)), Box::pin(budget.acquire(3, 3)), Box::pin(budget.acquire(1, 1)));
        assert!(now_or_never(large.as_mut()).is_none() && now_or_never(small.as_mut()).is_none());
        assert!(now_or_never(gone.as_mut()).is_none());
        drop(gone);
        drop(all);
        let small = small.await;
        assert!(now_or_never(large.as_mut()).is_none(), "8 do not fit beside 3");
        assert_eq!(free(&budget), 7);
        drop(small);
        drop(large.await);
        assert_eq!(free(&budget), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_share_is_revoked_only_while_others_wait() {
        let budget = Budget::new(1, GRACE);
        let held = budget.acquire(1, 0).await;
        sleep(10 * GRACE).await;
        assert!(now_or_never(Box::pin(held.revoked()).as_mut()).is_none());
        let waits = tokio::spawn({
            let budget = Arc::clone(&budget);
            async move { drop(budget.acquire(1, 0).await) }
        });
        held.revoked().await;
        // What was still being made when others began to wait is as good as new.
        let mut held = held;
        held.renew(1);
        let renewed = Instant::now();
        held.revoked().await;
        assert!(renewed.elapsed() > GRACE);
        drop(held);
        waits.await.unwrap();
        assert_eq!(free(&budget), 1);
    }

    #[tokio::test]
    async fn shares_are_given_back_whatever_becomes_of_their_holders() {
        let budget = Budget::new(4, Duration::from_millis(10));
        for _ in 0..100 {
            let waits: Vec<_> = (0..10)
                .map(|at| {
                    let budget = Arc::clone(&budget);
                    tokio::spawn(async move {
                        let held = budget.acquire(1 + at % 3, at).await;
                        tokio::task::yield_now().await;
                        drop(held);
                    })
                })
                .collect();
            for (at, wait) in waits.into_iter().enumerate() {
                if at % 2 == 0 { wait.abort() } else { wait.await.unwrap() }
            }
        }
        tokio::time::timeout(Duration::from_secs(1), budget.acquire(4, 0)).await.unwrap();
    }
}
