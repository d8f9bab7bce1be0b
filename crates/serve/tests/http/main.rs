//! The environment over HTTP, against scripted solvers.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod dialogue;
mod failures;
mod support;
mod workers;
