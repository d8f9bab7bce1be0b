//! The running counts behind [`Stats`], and the ticket that settles each request exactly once.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use crate::{Fault, Stats};

/// The first 16 bytes of a body's BLAKE3 hash: enough to tell bodies apart.
pub(crate) type BodyHash = [u8; 16];

/// Hashes a raw request body.
pub(crate) fn body_hash(body: &[u8]) -> BodyHash {
    let mut short = [0; 16];
    short.copy_from_slice(&blake3::hash(body).as_bytes()[..16]);
    short
}

/// Counts requests; lives on the server's thread.
#[derive(Default)]
pub(crate) struct Ledger {
    stats: Stats,
    answered: HashSet<BodyHash>,
}

impl Ledger {
    /// The counts so far.
    pub(crate) fn snapshot(&self) -> Stats {
        self.stats.clone()
    }

    fn good(&mut self, hash: BodyHash) {
        self.stats.good += 1;
        if self.answered.insert(hash) {
            self.stats.distinct_good += 1;
        } else {
            self.stats.repeated_good += 1;
        }
    }
}

/// How a request is to end if its reply reaches the socket.
enum Plan {
    Good(BodyHash),
    Refused,
    Fault,
}

/// One request in flight; dropping it writes its end into the ledger.
pub(crate) struct Ticket {
    ledger: Rc<RefCell<Ledger>>,
    plan: Plan,
    number: u64,
    written: bool,
}

impl Ticket {
    /// Opens a request, to be refused unless something better is promised.
    pub(crate) fn open(ledger: &Rc<RefCell<Ledger>>) -> Self {
        let mut inner = ledger.borrow_mut();
        let number = inner.stats.requests;
        inner.stats.requests += 1;
        inner.stats.in_flight += 1;
        inner.stats.in_flight_max = inner.stats.in_flight_max.max(inner.stats.in_flight);
        drop(inner);
        Self { ledger: Rc::clone(ledger), plan: Plan::Refused, number, written: false }
    }

    /// The request's number, counted from 0.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Notes the model the request names.
    pub(crate) fn names(&self, model: &str) {
        let per_model = &mut self.ledger.borrow_mut().stats.per_model;
        match per_model.get_mut(model) {
            Some(count) => *count += 1,
            None => {
                per_model.insert(model.to_owned(), 1);
            }
        }
    }

    /// Plans a good reply to the body with this hash.
    pub(crate) fn promise(&mut self, hash: BodyHash) {
        self.plan = Plan::Good(hash);
    }

    /// Counts a fault at once: it happens whether or not the client waits for it.
    pub(crate) fn fault(&mut self, fault: Fault) {
        self.plan = Plan::Fault;
        *self.ledger.borrow_mut().stats.faults.entry(fault.name().to_owned()).or_default() += 1;
    }

    /// Settles the request: its reply is on the socket.
    pub(crate) fn written(mut self) {
        self.written = true;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut ledger = self.ledger.borrow_mut();
        ledger.stats.in_flight -= 1;
        match self.plan {
            Plan::Fault => {}
            Plan::Good(hash) if self.written => ledger.good(hash),
            Plan::Refused if self.written => ledger.stats.refused += 1,
            Plan::Good(_) | Plan::Refused => ledger.stats.lost += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ticket_is_settled_once() {
        let ledger = Rc::new(RefCell::new(Ledger::default()));
        let good = |body: &[u8]| {
            let mut ticket = Ticket::open(&ledger);
            ticket.promise(body_hash(body));
            ticket
        };
        good(b"a").written();
        good(b"a").written();
        good(b"b").written();
        drop(good(b"c"));
        Ticket::open(&ledger).written();
        let mut faulty = Ticket::open(&ledger);
        faulty.fault(Fault::Status500);
        assert_eq!(ledger.borrow().snapshot().in_flight, 1);
        drop(faulty);

        let stats = ledger.borrow().snapshot();
        assert_eq!((stats.requests, stats.in_flight, stats.in_flight_max), (6, 0, 1));
        assert_eq!((stats.good, stats.distinct_good, stats.repeated_good), (3, 2, 1));
        assert_eq!((stats.refused, stats.lost, stats.faults_total()), (1, 1, 1));
    }
}
