//! A bound on what all requests hold together: the cheapest request goes first, and whoever holds its share too long
//! while others wait loses it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep};

/// Between two looks at who holds a share for too long.
const LOOK: Duration = Duration::from_millis(20);

/// A number of units, bytes or threads, that requests share.
#[derive(Debug)]
pub struct Budget {
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
    next: u64,
}

#[derive(Debug)]
struct Holder {
    since: Instant,
    revoked: Arc<Notify>,
}

#[derive(Debug)]
struct Waiting {
    amount: usize,
    tell: oneshot::Sender<Permit>,
}

/// A share of a budget; dropping it gives it back.
#[derive(Debug)]
pub struct Permit {
    budget: Arc<Budget>,
    amount: usize,
    number: u64,
    revoked: Arc<Notify>,
}

impl Permit {
    /// Completes once the share is held for too long and others need it. The holder must then let it go.
    pub async fn revoked(&self) {
        self.revoked.notified().await;
    }
}

impl Permit {
    /// The same for a task of its own.
    pub(crate) fn revocation(&self) -> Arc<Notify> {
        Arc::clone(&self.revoked)
    }

    /// Keeps so much of the share, from now on: the time until now does not count.
    pub(crate) fn renew(&mut self, amount: usize) {
        self.revoked = Arc::new(Notify::new());
        let holder = Holder { since: Instant::now(), revoked: Arc::clone(&self.revoked) };
        let mut state = self.budget.state();
        state.free += self.amount.saturating_sub(amount);
        self.amount = self.amount.min(amount);
        state.holders.insert(self.number, holder);
        let granted = self.budget.grant(&mut state);
        drop(state);
        tell(granted);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        state.free += self.amount;
        state.holders.remove(&self.number);
        let granted = self.budget.grant(&mut state);
        drop(state);
        tell(granted);
    }
}

/// Hands out shares, outside the lock: one that nobody waits for any more is given back at once.
fn tell(granted: Vec<(oneshot::Sender<Permit>, Permit)>) {
    for (tell, permit) in granted {
        drop(tell.send(permit));
    }
}

impl Budget {
    /// So many units. A share may be revoked after `grace` where others wait.
    pub fn new(total: usize, grace: Duration) -> Arc<Self> {
        let state = State { free: total, holders: BTreeMap::new(), waiting: BTreeMap::new(), next: 0 };
        Arc::new(Self { total, grace, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a share. Those with a smaller `priority` go first; more than there is counts as all there is.
    pub async fn acquire(self: &Arc<Self>, amount: usize, priority: usize) -> Permit {
        let amount = amount.min(self.total);
        let mut told = {
            let mut state = self.state();
            let (tell_one, told) = oneshot::channel();
            let number = state.next;
            state.next += 1;
            state.waiting.insert((priority, number), Waiting { amount, tell: tell_one });
            let granted = self.grant(&mut state);
            drop(state);
            tell(granted);
            told
        };
        loop {
            tokio::select! {
                biased;
                permit = &mut told => match permit {
                    Ok(permit) => return permit,
                    // The sender is in `waiting` until it is used.
                    Err(_) => std::future::pending().await,
                },
                () = sleep(LOOK) => self.revoke(),
            }
        }
    }

    /// Takes from the front of the queue whoever fits; whoever has gone is skipped.
    fn grant(self: &Arc<Self>, state: &mut State) -> Vec<(oneshot::Sender<Permit>, Permit)> {
        let mut granted = Vec::new();
        while let Some(first) = state.waiting.first_entry() {
            if first.get().tell.is_closed() {
                first.remove();
                continue;
            }
            if first.get().amount > state.free {
                break;
            }
            let Waiting { amount, tell } = first.remove();
            let revoked = Arc::new(Notify::new());
            let number = state.next;
            state.next += 1;
            state.free -= amount;
            state.holders.insert(number, Holder { since: Instant::now(), revoked: Arc::clone(&revoked) });
            granted.push((tell, Permit { budget: Arc::clone(self), amount, number, revoked }));
        }
        granted
    }

    /// Revokes every share that was held for longer than the grace.
    fn revoke(&self) {
        let state = self.state();
        let old = state.holders.values().filter(|holder| holder.since.elapsed() > self.grace);
        old.for_each(|holder| holder.revoked.notify_one());
    }

    #[cfg(test)]
    fn free(&self) -> usize {
        self.state().free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_lite_poll::now_or_never;

    /// Polls a future once.
    mod futures_lite_poll {
        use std::pin::Pin;
        use std::task::{Context, Poll, Waker};

        pub(super) fn now_or_never<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
            match future.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(output) => Some(output),
                Poll::Pending => None,
            }
        }
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
        assert_eq!(budget.free(), 7);
        drop(small);
        drop(large.await);
        assert_eq!(budget.free(), 10);
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
        assert_eq!(budget.free(), 1);
    }
}
