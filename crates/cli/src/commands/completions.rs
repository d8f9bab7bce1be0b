//! `aske completions`.

use crate::arguments::{Arguments, Completions};
use crate::output::raw;
use crate::problem::{Exit, Problem};
use clap::CommandFactory;

#[expect(clippy::unnecessary_wraps, reason = "every command has one signature")]
pub(crate) fn run(arguments: &Completions) -> Result<Exit, Problem> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "aske", &mut script);
    raw(&script);
    Ok(Exit::Done)
}
