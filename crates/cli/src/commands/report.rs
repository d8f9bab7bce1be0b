//! `aske report`: the results of runs as tables, JSON or a page.

use crate::arguments::Report;
use crate::browser;
use crate::display::{evidence, scores};
use crate::error::{CliError, Exit};
use crate::output::{BAD, DIM, data, note, paint, safe, write};
use crate::runs::folders::given_or_all;
use aske_eval::Scores;
use aske_evidence::Run;
use aske_report::number::counted;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(crate) fn run(arguments: &Report) -> Result<Exit, CliError> {
    let (runs, damaged) = read(&given_or_all(&arguments.runs)?, arguments.grader.as_deref())?;
    let (evals, runs): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(|run| run.manifest.is_eval());
    let scored: Vec<(String, Scores)> =
        evals.iter().map(|run| (run.path.display().to_string(), aske_eval::scores(&run.evals))).collect();
    for (run, earlier) in runs.iter().map(|run| (run, run.graded_by_earlier_rules())).filter(|(_, n)| *n > 0)
    {
        note(format_args!(
            "{}: {earlier} of {} graded by earlier rules; `aske bench --run`, or `aske regrade` for \
             other grades, grades them again from stored replies",
            safe(&run.path.display().to_string()),
            counted(run.sessions.len(), "session")
        ));
    }
    let evidence = if runs.is_empty() { None } else { Some(aske_evidence::evidence(&runs)) };
    let unread = evidence.iter().flat_map(|evidence| &evidence.runs).any(|run| run.replies_error.is_some());
    if let Some(file) = &arguments.html {
        match &evidence {
            Some(evidence) => write(file, aske_report::page(evidence, &runs)?)?,
            None => write(file, aske_eval::page::scores(&scored))?,
        }
        if evidence.is_some() && !scored.is_empty() {
            note("evaluations are not on this page; name only their folders to write one for them");
        }
        if arguments.open {
            browser::open(&file.to_string_lossy());
        }
    }
    if arguments.json {
        let mut report = evidence.map_or_else(|| json!({}), |evidence| json!(evidence));
        if !scored.is_empty() {
            report["evals"] =
                scored.iter().map(|(run, scores)| json!({ "run": run, "scores": scores })).collect();
        }
        if !damaged.is_empty() {
            report["damaged"] = damaged.iter().map(Damaged::as_json).collect();
        }
        data(report);
    } else if let Some(file) = &arguments.html {
        note(format_args!("written to {}", file.display()));
    } else {
        if let Some(evidence) = evidence {
            evidence::all(&evidence::with_distinct_names(evidence));
        }
        for (path, scores) in &scored {
            data(format_args!("\n{}", paint(DIM, safe(path))));
            scores::show(scores);
        }
    }
    // A folder that is not shown is a failure.
    Ok(if unread || !damaged.is_empty() { Exit::Failures } else { Exit::Done })
}

/// A folder that cannot be read, and why.
struct Damaged {
    run: PathBuf,
    error: CliError,
}

impl Damaged {
    fn as_json(&self) -> Value {
        let Self { run, error } = self;
        json!({ "run": run.display().to_string(), "error": error.message, "hint": error.hint })
    }
}

/// Reads all readable folders and reports the others. Fails if none is readable.
fn read(paths: &[PathBuf], grader: Option<&str>) -> Result<(Vec<Run>, Vec<Damaged>), CliError> {
    let (mut runs, mut damaged) = (Vec::new(), Vec::new());
    for path in paths {
        match Run::read(path, grader) {
            Ok(run) => runs.push(run),
            Err(error) if paths.len() == 1 => return Err(error.into()),
            Err(error) => damaged.push(Damaged { run: path.clone(), error: error.into() }),
        }
    }
    for Damaged { run, error } in &damaged {
        note(format_args!("{} {}", paint(BAD.bold(), "not shown:"), safe(&run.display().to_string())));
        crate::output::error(error);
    }
    if runs.is_empty() {
        return Err(CliError::usage(
            format!("none of the {} folders can be read", paths.len()),
            "the errors above say what is wrong with each",
        ));
    }
    Ok((runs, damaged))
}
