//! `aske export`: runs as tables for other programs.

use crate::arguments::{Export, FormatName, TableName};
use crate::commands::report;
use crate::output::data;
use crate::problem::{Exit, Problem};
use crate::tables::table;
use aske_evidence::Run;
use aske_export::{Choice, ExportError, Format, Kind, write_parts};
use aske_record::io_hint;
use serde_json::json;
use std::path::PathBuf;

pub(crate) fn run(arguments: &Export) -> Result<Exit, Problem> {
    let runs = report::chosen(&arguments.runs)?
        .iter()
        .map(|path| Run::read(path, arguments.grader.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    let files = files(arguments, &runs)?;
    let choice = Choice { calibrated: arguments.calibrated, difficulty: arguments.difficulty };
    let chosen = aske_export::Export::new(&runs, &choice);
    let mut shown = table(&["file", "table", "rows"], &[2]);
    let mut written = Vec::new();
    for (kind, path) in files {
        let rows = write_parts(chosen.parts(kind), &path).map_err(failed)?;
        shown.add_row([path.display().to_string(), kind.as_str().to_owned(), rows.to_string()]);
        written.push(json!({ "file": path, "table": kind.as_str(), "rows": rows }));
    }
    if arguments.json {
        data(json!(written));
    } else {
        data(shown);
    }
    Ok(Exit::Done)
}

/// Which tables go into which files: of evaluations their samples, of other runs the tables of sessions.
fn files(arguments: &Export, runs: &[Run]) -> Result<Vec<(Kind, PathBuf)>, Problem> {
    let kind = arguments.table.map(|name| match name {
        TableName::Sessions => Kind::Sessions,
        TableName::Questions => Kind::Questions,
        TableName::Answers => Kind::Answers,
        TableName::Grades => Kind::Grades,
        TableName::Evals => Kind::Evals,
    });
    let evals = runs.iter().filter(|run| run.manifest.is_eval()).count();
    let mut kinds = if evals < runs.len() { Kind::OF_SESSIONS.to_vec() } else { Vec::new() };
    kinds.extend((evals > 0).then_some(Kind::Evals));
    let out = &arguments.out;
    if Format::of(out).is_some() {
        return Ok(vec![(
            kind.unwrap_or(if evals == runs.len() { Kind::Evals } else { Kind::Questions }),
            out.clone(),
        )]);
    }
    if out.extension().is_some() && !out.is_dir() {
        return Err(failed(ExportError::Ending(out.clone())));
    }
    std::fs::create_dir_all(out).map_err(|source| failed(ExportError::Io { path: out.clone(), source }))?;
    let format = match arguments.format {
        FormatName::Parquet => Format::Parquet,
        FormatName::Jsonl => Format::Jsonl,
    };
    let kinds = kind.map_or(kinds, |kind| vec![kind]);
    Ok(kinds
        .into_iter()
        .map(|kind| (kind, out.join(format!("{}.{}", kind.as_str(), format.ending()))))
        .collect())
}

fn failed(error: ExportError) -> Problem {
    let hint = match &error {
        ExportError::Ending(_) => "end the name in .parquet or .jsonl, or name a folder",
        ExportError::Io { source, .. } => io_hint(source),
        ExportError::Parquet { .. } => "is there room on the disk for the file?",
        ExportError::Arrow(_) => "write JSON lines instead: name a file that ends in .jsonl",
        ExportError::Run(_) => "",
    };
    match error {
        ExportError::Run(error) => error.into(),
        error => Problem::usage(error.to_string(), hint),
    }
}
