//! `aske merge`: merges run folders.

use crate::arguments::Merge;
use crate::error::{CliError, Exit};
use crate::output::{data, hint};
use crate::shell::command;
use aske_report::number::counted;
use serde_json::json;
use std::path::Path;

pub(crate) fn run(arguments: &Merge) -> Result<Exit, CliError> {
    let runs: Vec<&Path> = arguments.runs.iter().map(AsRef::as_ref).collect();
    let merged = aske_record::merge(&arguments.into, &runs)?;
    let into = arguments.into.display();
    if arguments.json {
        data(json!({"run": into.to_string(), "records": merged.records, "calls": merged.calls}));
    } else {
        data(format_args!(
            "{into}: {} and {} of {}",
            counted(merged.records, "record"),
            counted(merged.calls, "call"),
            counted(runs.len(), "run")
        ));
        // Folders store the resolved configuration, not the name of its file.
        let words = ["aske", "bench", "--run", &into.to_string(), "--config"].map(str::to_owned);
        hint(format_args!("`{} FILE`, with the configuration of these runs, continues it", command(words)));
    }
    Ok(Exit::Done)
}
