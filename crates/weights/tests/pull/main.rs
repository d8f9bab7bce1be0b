//! Whole downloads from a server on a real socket, and everything that can fail during one.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod datasets;
mod disk;
mod hub;
mod secrets;
mod server;
mod world;
