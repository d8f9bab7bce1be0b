//! `aske report`: the results of runs as tables, JSON or a page.

use crate::arguments::Report;
use crate::display::{evidence, scores};
use crate::error::{CliError, Exit};
use crate::output::{BAD, DIM, data, note, paint, safe, write};
use crate::runs::folders::given_or_all;
use aske_eval::Scores;
use aske_evidence::Run;
use serde_json::{Value, json};
use std::path::PathBuf;

pub(crate) fn run(arguments: &Report) -> Result<Exit, CliError> {
    let (runs, damaged) = read(&given_or_all(&arguments.runs)?, arguments.grader.as_deref())?;
    let (evals, runs): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(|run| run.manifest.is_eval());
    let scored: Vec<(String, Scores)> =
        evals.iter().map(|run| (run.path.display().to_string(), aske_eval::scores(&run.evals))).collect();
    if runs.is_empty() {
        return report_evals(arguments, &scored, &damaged);
    }
    for (run, earlier) in runs.iter().map(|run| (run, run.graded_by_earlier_rules())).filter(|(_, n)| *n > 0)
    {
        note(format_args!(
            "{}: {earlier} of {} sessions were graded by earlier rules; `aske bench --run`, or `aske regrade` for \
             other grades, grades them again from stored replies",
            safe(&run.path.display().to_string()),
            run.sessions.len()
        ));
    }
    let evidence = aske_evidence::evidence(&runs)?;
    if let Some(file) = &arguments.html {
        write(file, &aske_report::page(&evidence, &runs)?)?;
        if !scored.is_empty() {
            note("evaluations are not on this page; name only their folders to write one for them");
        }
    }
    if arguments.json {
        let mut report = json!(evidence);
        if !scored.is_empty() {
            report["evals"] = as_json(&scored);
        }
        data(with_damaged(report, &damaged));
    } else if let Some(file) = &arguments.html {
        note(format_args!("written to {}", file.display()));
    } else {
        evidence::all(&evidence::sanitized(&evidence));
        show_all(&scored);
    }
    let unread = evidence.runs.iter().any(|run| run.trouble.is_some());
    Ok(if unread { Exit::Failures } else { exit_status(&damaged) })
}

/// A folder that cannot be read, and why.
struct Damaged {
    run: PathBuf,
    error: CliError,
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

/// A folder that is not shown is a failure.
fn exit_status(damaged: &[Damaged]) -> Exit {
    if damaged.is_empty() { Exit::Done } else { Exit::Failures }
}

fn with_damaged(mut report: Value, damaged: &[Damaged]) -> Value {
    if !damaged.is_empty() {
        let one = |Damaged { run, error }: &Damaged| json!({ "run": run.display().to_string(), "error": error.message, "hint": error.hint });
        report["damaged"] = damaged.iter().map(one).collect();
    }
    report
}

/// Reports evaluations alone.
fn report_evals(
    arguments: &Report,
    scored: &[(String, Scores)],
    damaged: &[Damaged],
) -> Result<Exit, CliError> {
    if let Some(file) = &arguments.html {
        write(file, aske_eval::page::scores(scored))?;
    }
    if arguments.json {
        data(with_damaged(json!({ "evals": as_json(scored) }), damaged));
    } else if let Some(file) = &arguments.html {
        note(format_args!("written to {}", file.display()));
    } else {
        show_all(scored);
    }
    Ok(exit_status(damaged))
}

fn show_all(scored: &[(String, Scores)]) {
    for (path, scores) in scored {
        data(format_args!("\n{}", paint(DIM, safe(path))));
        scores::show(scores);
    }
}

fn as_json(scored: &[(String, Scores)]) -> Value {
    scored.iter().map(|(run, scores)| json!({ "run": run, "scores": scores })).collect()
}
