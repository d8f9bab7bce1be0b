//! Real processes, started, kept and ended, with a stand-in for vLLM.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod ending;
mod jobs;
mod restarting;
mod starting;
mod support;
