//! Counts of requests, as tests read them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Counts of the chat requests whose body was received in full.
///
/// Once nothing is in flight, `requests = good + refused + lost + (sum of faults)`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Chat requests received.
    pub requests: u64,
    /// Good replies written to the socket in full.
    pub good: u64,
    /// Requests rejected as invalid (400, 401, 404).
    pub refused: u64,
    /// Requests whose client disconnected before the reply was written.
    pub lost: u64,
    /// Faults by name (see [`crate::Fault::name`]).
    pub faults: BTreeMap<String, u64>,
    /// Requests in flight.
    pub in_flight: u64,
    /// The most requests in flight at once; stays at 1 without latency, as each request is answered when it is read.
    pub in_flight_max: u64,
    /// Distinct bodies that got a good reply.
    pub distinct_good: u64,
    /// Good replies beyond the first, summed over bodies.
    pub repeated_good: u64,
    /// Requests by model.
    pub per_model: BTreeMap<String, u64>,
}

impl Stats {
    /// Faults of all kinds.
    pub fn faults_total(&self) -> u64 {
        self.faults.values().sum()
    }
}
