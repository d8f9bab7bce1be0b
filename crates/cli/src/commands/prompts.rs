//! `aske prompts`: export and check prompt packs.

use crate::arguments::{Prompts, PromptsCommand};
use crate::error::{CliError, Exit};
use crate::output::{data, hint};
use aske_config::load_pack;
use aske_report::number::counted;
use aske_session::{Pack, UnknownDomainError};
use std::path::Path;

pub(crate) fn run(arguments: &Prompts) -> Result<Exit, CliError> {
    match &arguments.command {
        PromptsCommand::Export { folder, domain } => export(folder, domain),
        PromptsCommand::Check { folder } => check(folder),
    }
}

fn export(folder: &Path, domain: &str) -> Result<Exit, CliError> {
    let files = match Pack::extra_files(domain) {
        Some(files) => files,
        None => Pack::builtin_files(&domain.parse().map_err(|error: UnknownDomainError| {
            CliError::usage(
                error.to_string(),
                "`--domain math` is the default; `nano` and `small` have short prompts",
            )
        })?),
    };
    let failed = |error: std::io::Error| {
        CliError::usage(format!("{}: {error}", folder.display()), "name a folder that can be written")
    };
    std::fs::create_dir_all(folder).map_err(failed)?;
    if std::fs::read_dir(folder).map_err(failed)?.next().is_some() {
        return Err(CliError::usage(
            format!("{} is not empty", folder.display()),
            "name a new folder, so that nothing you edited is overwritten",
        ));
    }
    for (name, text) in &files {
        std::fs::write(folder.join(name), text).map_err(failed)?;
    }
    data(format_args!("{}: {} of the domain {domain}", folder.display(), counted(files.len(), "prompt")));
    hint(format_args!("edit them, then set `protocol.prompts = \"{}\"`", folder.display()));
    Ok(Exit::Done)
}

fn check(folder: &Path) -> Result<Exit, CliError> {
    let pack = load_pack(&folder.to_string_lossy())?;
    let problems = pack.review();
    if !problems.is_empty() {
        let listed: Vec<String> = problems.iter().map(|problem| format!("\n  {problem}")).collect();
        return Err(CliError::usage(
            format!(
                "{}: the prompts do not tell the asker what to write:{}",
                folder.display(),
                listed.concat()
            ),
            "`aske prompts export FOLDER` writes a complete pack to compare with",
        ));
    }
    data(format_args!("{}: complete, {}", folder.display(), pack.hash()));
    Ok(Exit::Done)
}
