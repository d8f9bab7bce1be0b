//! One file for each command.

pub(crate) mod ask;
pub(crate) mod audit;
pub(crate) mod baseline;
pub(crate) mod bench;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod convert;
pub(crate) mod difficulty;
pub(crate) mod eval;
pub(crate) mod export;
pub(crate) mod fleet;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod merge;
pub(crate) mod models;
pub(crate) mod nano;
pub(crate) mod prompts;
pub(crate) mod regrade;
pub(crate) mod repair;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod train;
pub(crate) mod verify;
pub(crate) mod view;
