//! Hints of errors.

use std::borrow::Cow;
use std::error::Error;

/// An error that can tell its reader what to do next.
///
/// The advice is never part of [`Display`](std::fmt::Display): programs print it after the message as `hint: …`, servers send
/// it as a field of its own. Commands and servers convert any `Hint` into their own error type, so every error type that
/// reaches a user implements it.
pub trait Hint: Error {
    /// What to do next, in one sentence without a full stop.
    fn hint(&self) -> Option<Cow<'_, str>> {
        None
    }
}
