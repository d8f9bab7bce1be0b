//! A real OpenAI-compatible HTTP server with scripted models and injected faults.
//!
//! One job: give tests and benchmarks a peer on a real socket, whose replies are a pure function of the request,
//! whose faults are a pure function of a seed, and which counts what it saw. It depends on no other crate of the
//! workspace, so that it cannot share their mistakes.
//!
//! ```
//! use aske_testkit::{Options, TestServer};
//! let server = TestServer::start(Options { faults: 0.1, fault_seed: 7, ..Options::default() });
//! assert!(server.url().ends_with("/v1")); // point the client here
//! assert_eq!(server.stats().requests, 0); // dropping the server stops it
//! ```
//!
//! | model | what it does |
//! |---|---|
//! | `asker…` | writes `What is A + B?` in its `#Question#` section; now and then forgets it or is cut short |
//! | `solver-NN` | answers the last such question, rightly in NN % of cases |
//! | `check…` | answers rightly in 99 % of cases, always with a `#Summary#` |
//! | `equiv…` | says `no` |

mod behaviour;
mod body;
mod connection;
mod dump;
mod fault;
mod ledger;
mod options;
mod raw;
mod reply;
mod server;
mod service;
mod stats;

pub use fault::{Fault, UnknownFault};
pub use options::Options;
pub use raw::{RawServer, Seen, chunked, response};
pub use server::TestServer;
pub use stats::Stats;
