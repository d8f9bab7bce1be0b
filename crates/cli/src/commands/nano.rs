//! `aske nano`: questions, tables and training of the nano world.

mod agreement;
mod export;
mod questions;
mod table;
mod train;

use crate::arguments::{Nano, NanoCommand};
use crate::error::{CliError, Exit};
use aske_config::load_pack;
use aske_nano::networks;
use aske_session::Pack;
use std::path::Path;

pub(crate) fn run(arguments: &Nano) -> Result<Exit, CliError> {
    match &arguments.command {
        NanoCommand::Agreement(agreement) => agreement::run(agreement),
        NanoCommand::Export(export) => export::run(export),
        NanoCommand::Questions(questions) => questions::run(questions),
        NanoCommand::Table(table) => table::run(table),
        NanoCommand::Train(train) => train::run(train),
    }
}

/// The prompts that the networks were trained on.
fn pack() -> Result<Pack, CliError> {
    Ok(load_pack("builtin:nano")?)
}

/// Checks that all of these are networks of the nano world.
fn check_names(names: &[String]) -> Result<(), CliError> {
    match names.iter().find(|name| !networks().any(|known| known == name.as_str())) {
        None => Ok(()),
        Some(name) => Err(CliError::usage(
            format!("unknown network `{name}`"),
            format!("choose from {}", networks().collect::<Vec<_>>().join(", ")),
        )),
    }
}

/// Whether `--only` selects this network; without it, all are selected.
fn is_selected(only: &[String], name: &str) -> bool {
    only.is_empty() || only.iter().any(|selected| selected == name)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, bytes)).map_err(|error| {
        CliError::usage(format!("{}: {error}", path.display()), "name a folder that you can write to")
    })
}
