//! Whole pulls from a server on a real socket: the good way, and everything that can break on it.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod datasets;
mod disk;
mod hub;
mod secrets;
mod server;
mod wheels;
mod world;
