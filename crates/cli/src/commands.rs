//! One file for each command.

pub(crate) mod ask;
pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod merge;
pub(crate) mod models;
pub(crate) mod nano;
pub(crate) mod prompts;
pub(crate) mod verify;
