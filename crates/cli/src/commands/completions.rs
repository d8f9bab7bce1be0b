//! `aske completions`.

use crate::arguments::{Arguments, Completions};
use crate::error::{CliError, Exit};
use crate::output::raw;
use clap::CommandFactory;

#[expect(clippy::unnecessary_wraps, reason = "every command has one signature")]
pub(crate) fn run(arguments: &Completions) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "aske", &mut script);
    raw(&script);
    Ok(Exit::Done)
}
