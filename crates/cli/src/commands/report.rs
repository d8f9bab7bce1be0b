//! `aske report`: what runs tell, as tables, as JSON, or as a page.

use crate::arguments::Report;
use crate::evidence;
use crate::output::{data, note};
use crate::problem::{Exit, Problem};
use aske_evidence::Run;
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &Report) -> Result<Exit, Problem> {
    let runs = chosen(&arguments.runs)?
        .iter()
        .map(|path| Run::read(path, arguments.grader.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    let evidence = aske_evidence::evidence(&runs)?;
    if let Some(file) = &arguments.html {
        let page = aske_report::page(&evidence, &runs)?;
        std::fs::write(file, page).map_err(|error| {
            Problem::usage(format!("{}: {error}", file.display()), "name a file in a folder that is there")
        })?;
    }
    if arguments.json {
        data(serde_json::json!(evidence));
    } else if let Some(file) = &arguments.html {
        note(format_args!("written to {}", file.display()));
    } else {
        evidence::all(&evidence::cleaned(&evidence));
    }
    Ok(Exit::Done)
}

/// The named folders, or every run in `runs/` that is more than a single session of `aske ask`.
pub(crate) fn chosen(named: &[PathBuf]) -> Result<Vec<PathBuf>, Problem> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let entries = std::fs::read_dir("runs").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_run(path)).collect();
    found.sort();
    if found.is_empty() {
        return Err(Problem::usage(
            "there is no run in runs/",
            "name a run folder, or make one with `aske bench`",
        ));
    }
    Ok(found)
}

fn is_run(path: &Path) -> bool {
    let single = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ask-"));
    path.join("run.toml").is_file() && !single
}
