//! `aske completions`.

use crate::arguments::Completions;
use crate::completion::VARIABLE;
use crate::error::{CliError, Exit};
use crate::output::raw;
use clap_complete::env::Shells;

pub(crate) fn run(arguments: &Completions) -> Result<Exit, CliError> {
    let shell = arguments.shell.to_string();
    let mut script = Vec::new();
    Shells::builtins()
        .completer(&shell)
        .ok_or_else(|| CliError::usage(format!("no completions for {shell}"), "use bash, zsh or fish"))?
        .write_registration(VARIABLE, "aske", "aske", "aske", &mut script)
        .map_err(CliError::failure)?;
    raw(&script);
    Ok(Exit::Done)
}
