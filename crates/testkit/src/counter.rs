//! The counters behind [`Stats`], and a guard that counts each request exactly once.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use blake3::Hash;

use crate::{Fault, Stats};

/// Counts requests; lives on the server's thread.
#[derive(Default)]
pub(crate) struct RequestCounter {
    pub(crate) stats: Stats,
    answered: HashSet<Hash>,
}

impl RequestCounter {
    fn good(&mut self, hash: Hash) {
        self.stats.good += 1;
        if self.answered.insert(hash) {
            self.stats.distinct_good += 1;
        } else {
            self.stats.repeated_good += 1;
        }
    }
}

/// The outcome of a request if its reply is written.
enum Planned {
    Good(Hash),
    Refused,
    Fault,
}

/// One request in flight; counted when dropped.
pub(crate) struct InFlight {
    counter: Rc<RefCell<RequestCounter>>,
    planned: Planned,
    /// The index of the request.
    pub(crate) number: u64,
    written: bool,
}

impl InFlight {
    /// Counts a new request, whose outcome is `refused` unless changed.
    pub(crate) fn open(counter: &Rc<RefCell<RequestCounter>>) -> Self {
        let mut inner = counter.borrow_mut();
        let number = inner.stats.requests;
        inner.stats.requests += 1;
        inner.stats.in_flight += 1;
        inner.stats.in_flight_max = inner.stats.in_flight_max.max(inner.stats.in_flight);
        drop(inner);
        Self { counter: Rc::clone(counter), planned: Planned::Refused, number, written: false }
    }

    /// Counts the request's model.
    pub(crate) fn set_model(&self, model: &str) {
        *self.counter.borrow_mut().stats.per_model.entry(model.to_owned()).or_default() += 1;
    }

    /// Plans a good reply to the body with this hash.
    pub(crate) fn plan_good(&mut self, hash: Hash) {
        self.planned = Planned::Good(hash);
    }

    /// Counts a fault at once, as it happens whether or not the client waits for it.
    pub(crate) fn fault(&mut self, fault: Fault) {
        self.planned = Planned::Fault;
        *self.counter.borrow_mut().stats.faults.entry(fault.name()).or_default() += 1;
    }

    /// Marks the reply as written to the socket.
    pub(crate) fn written(mut self) {
        self.written = true;
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut counter = self.counter.borrow_mut();
        counter.stats.in_flight -= 1;
        match self.planned {
            Planned::Fault => {}
            Planned::Good(hash) if self.written => counter.good(hash),
            Planned::Refused if self.written => counter.stats.refused += 1,
            Planned::Good(_) | Planned::Refused => counter.stats.lost += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ticket_is_settled_once() {
        let counter = Rc::new(RefCell::new(RequestCounter::default()));
        let good = |body: &[u8]| {
            let mut in_flight = InFlight::open(&counter);
            in_flight.plan_good(blake3::hash(body));
            in_flight
        };
        good(b"a").written();
        good(b"a").written();
        good(b"b").written();
        drop(good(b"c"));
        InFlight::open(&counter).written();
        let mut faulty = InFlight::open(&counter);
        faulty.fault(Fault::Status500);
        assert_eq!(counter.borrow().stats.in_flight, 1);
        drop(faulty);

        let stats = counter.borrow().stats.clone();
        assert_eq!((stats.requests, stats.in_flight, stats.in_flight_max), (6, 0, 1));
        assert_eq!((stats.good, stats.distinct_good, stats.repeated_good), (3, 2, 1));
        assert_eq!((stats.refused, stats.lost, stats.faults_total()), (1, 1, 1));
    }
}
