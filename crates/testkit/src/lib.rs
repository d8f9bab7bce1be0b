//! A real OpenAI-compatible HTTP server with scripted models and injected faults.
//!
//! For tests and benchmarks: replies are a pure function of the request, faults are a pure function of a seed, and
//! requests are counted. Depends on no other crate of the workspace, so that it cannot share their mistakes.
//!
//! ```
//! use aske_testkit::{TestServerOptions, TestServer};
//! let server = TestServer::start(TestServerOptions { faults: 0.1, fault_seed: 7, ..TestServerOptions::default() });
//! assert!(server.url().ends_with("/v1")); // point the client here
//! assert_eq!(server.stats().requests, 0); // dropping the server stops it
//! ```
//!
//! | model | behaviour |
//! |---|---|
//! | `asker…` | writes `What is A + B?` in its `#Question#` section; 2 % lack the section, 1 % are truncated |
//! | `solver-NN` | answers the last such question, correctly in NN % of cases |
//! | `check…` | answers correctly in 99 % of cases, always with a `#Summary#` |
//! | `equiv…` | replies `no` |

mod behaviour;
mod body;
mod connection;
mod counter;
mod dump;
mod fault;
mod options;
mod raw;
mod reply;
mod server;
mod service;
mod stats;

pub use fault::Fault;
pub use options::TestServerOptions;
pub use raw::{RawServer, RecordedRequest, chunked, response};
pub use server::TestServer;
pub use stats::Stats;
