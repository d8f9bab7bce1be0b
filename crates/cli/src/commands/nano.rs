//! `aske nano`: the nano world's questions, tables and training.

mod agreement;
mod export;
mod questions;
mod table;
mod train;

use crate::arguments::{Nano, NanoCommand};
use crate::problem::{Exit, Problem};
use aske_config::load_pack;
use aske_nano::networks;
use aske_session::Pack;
use std::path::Path;

pub(crate) fn run(arguments: &Nano) -> Result<Exit, Problem> {
    match &arguments.command {
        NanoCommand::Agreement(agreement) => agreement::run(agreement),
        NanoCommand::Export(export) => export::run(export),
        NanoCommand::Questions(questions) => questions::run(questions),
        NanoCommand::Table(table) => table::run(table),
        NanoCommand::Train(train) => train::run(train),
    }
}

/// The prompts that the networks were taught.
fn pack() -> Result<Pack, Problem> {
    Ok(load_pack("builtin:nano")?)
}

/// All of these are networks of the nano world.
fn known(names: &[String]) -> Result<(), Problem> {
    match names.iter().find(|name| !networks().any(|known| known == name.as_str())) {
        None => Ok(()),
        Some(name) => Err(Problem::usage(
            format!("no network is called `{name}`"),
            format!("there are {}", networks().collect::<Vec<_>>().join(", ")),
        )),
    }
}

fn failed(error: &dyn std::fmt::Display) -> Problem {
    Problem { message: error.to_string(), hint: None, exit: Exit::Failures }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, bytes)).map_err(|error| {
        Problem::usage(format!("{}: {error}", path.display()), "name a folder that can be written")
    })
}
