//! What the server saw, as tests read it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Counts over the chat requests whose whole body arrived.
///
/// Once nothing is in flight, `requests = good + refused + lost + (sum of faults)`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// Chat requests received.
    pub requests: u64,
    /// Good replies written to the socket in full.
    pub good: u64,
    /// Requests answered with an error of their own making (400, 401, 404).
    pub refused: u64,
    /// Requests whose client went away before the reply was written.
    pub lost: u64,
    /// Faults by name (see [`crate::Fault::name`]).
    pub faults: BTreeMap<String, u64>,
    /// Requests being answered now.
    pub in_flight: u64,
    /// The most requests being answered at once; without latency each is answered as it is read, so this stays at 1.
    pub in_flight_max: u64,
    /// Distinct bodies that got a good reply.
    pub distinct_good: u64,
    /// Good replies beyond the first, summed over bodies.
    pub repeated_good: u64,
    /// Requests by the model they name.
    pub per_model: BTreeMap<String, u64>,
}

impl Stats {
    /// Faults of all kinds.
    pub fn faults_total(&self) -> u64 {
        self.faults.values().sum()
    }
}
