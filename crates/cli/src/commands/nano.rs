//! `aske nano`: the nano world's questions, tables and training.

mod table;
mod train;

use crate::arguments::{Nano, NanoCommand};
use crate::problem::{Exit, Problem};
use aske_config::load_pack;
use aske_session::Pack;

pub(crate) fn run(arguments: &Nano) -> Result<Exit, Problem> {
    match &arguments.command {
        NanoCommand::Table(table) => table::run(table),
        NanoCommand::Train(train) => train::run(train),
    }
}

/// The prompts that the networks were taught.
fn pack() -> Result<Pack, Problem> {
    Ok(load_pack("builtin:nano")?)
}
