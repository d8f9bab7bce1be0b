//! `aske export`: runs as Parquet or JSON lines.

use crate::arguments::{Export, FormatName, TableName};
use crate::display::tables::table;
use crate::error::{CliError, Exit};
use crate::output::data;
use crate::runs::folders::given_or_all;
use aske_evidence::Run;
use aske_export::{ExportError, Format, SessionFilter, TableKind, write};
use serde_json::json;
use std::path::PathBuf;

pub(crate) fn run(arguments: &Export) -> Result<Exit, CliError> {
    let runs = given_or_all(&arguments.runs)?
        .iter()
        .map(|path| Run::read(path, arguments.grader.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    let files = files(arguments, &runs)?;
    let filter = SessionFilter { calibrated: arguments.calibrated, difficulty: arguments.difficulty };
    let chosen = aske_export::Export::new(&runs, &filter);
    let mut shown = table(&["file", "table", "rows"], &[2]);
    let mut written = Vec::new();
    for (kind, path) in files {
        let rows = write(chosen.parts(kind), &path)?;
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
fn files(arguments: &Export, runs: &[Run]) -> Result<Vec<(TableKind, PathBuf)>, CliError> {
    let kind = arguments.table.map(|name| match name {
        TableName::Sessions => TableKind::Sessions,
        TableName::Questions => TableKind::Questions,
        TableName::Answers => TableKind::Answers,
        TableName::Grades => TableKind::Grades,
        TableName::Evals => TableKind::Evals,
    });
    let evals = runs.iter().filter(|run| run.manifest.is_eval()).count();
    let mut kinds = if evals < runs.len() { TableKind::OF_SESSIONS.to_vec() } else { Vec::new() };
    kinds.extend((evals > 0).then_some(TableKind::Evals));
    let out = &arguments.out;
    if Format::of(out).is_some() {
        return Ok(vec![(
            kind.unwrap_or(if evals == runs.len() { TableKind::Evals } else { TableKind::Questions }),
            out.clone(),
        )]);
    }
    if out.extension().is_some() && !out.is_dir() {
        return Err(ExportError::Extension(out.clone()).into());
    }
    std::fs::create_dir_all(out).map_err(|source| ExportError::Io { path: out.clone(), source })?;
    let format = match arguments.format {
        FormatName::Parquet => Format::Parquet,
        FormatName::Jsonl => Format::Jsonl,
    };
    let kinds = kind.map_or(kinds, |kind| vec![kind]);
    Ok(kinds
        .into_iter()
        .map(|kind| (kind, out.join(format!("{}.{}", kind.as_str(), format.extension()))))
        .collect())
}
