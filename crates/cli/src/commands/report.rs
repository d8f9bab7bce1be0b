//! `aske report`: what runs tell, as tables, as JSON, or as a page.

use crate::arguments::Report;
use crate::commands::eval::show;
use crate::evidence;
use crate::output::{DIM, data, note, paint, safe, write};
use crate::problem::{Exit, Problem};
use aske_eval::{Scores, scores};
use aske_evidence::Run;
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &Report) -> Result<Exit, Problem> {
    let runs = chosen(&arguments.runs)?
        .iter()
        .map(|path| Run::read(path, arguments.grader.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    let (evals, runs): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(|run| run.manifest.is_eval());
    let scored: Vec<(String, Scores)> =
        evals.iter().map(|run| (run.path.display().to_string(), scores(&run.evals))).collect();
    if runs.is_empty() {
        return of_evals(arguments, &scored);
    }
    for (run, earlier) in runs.iter().map(|run| (run, run.graded_by_earlier_rule())).filter(|(_, n)| *n > 0) {
        note(format_args!(
            "{}: {earlier} of {} sessions were graded before the equivalence checker was told which answer is the \
             reference; `aske bench --run`, or `aske regrade` for other grades, grades them again",
            safe(&run.path.display().to_string()),
            run.sessions.len()
        ));
    }
    let evidence = aske_evidence::evidence(&runs)?;
    if let Some(file) = &arguments.html {
        write(file, &aske_report::page(&evidence, &runs)?)?;
        if !scored.is_empty() {
            note("evaluations have a page of their own: name their folders alone");
        }
    }
    if arguments.json {
        let mut told = serde_json::json!(evidence);
        if !scored.is_empty() {
            told["evals"] = as_json(&scored);
        }
        data(told);
    } else if let Some(file) = &arguments.html {
        note(format_args!("written to {}", file.display()));
    } else {
        evidence::all(&evidence::cleaned(&evidence));
        show_all(&scored);
    }
    Ok(Exit::Done)
}

/// The report of evaluations alone.
fn of_evals(arguments: &Report, scored: &[(String, Scores)]) -> Result<Exit, Problem> {
    if let Some(file) = &arguments.html {
        write(file, &aske_eval::page::scores(scored))?;
    }
    if arguments.json {
        data(serde_json::json!({ "evals": as_json(scored) }));
    } else if let Some(file) = &arguments.html {
        note(format_args!("written to {}", file.display()));
    } else {
        show_all(scored);
    }
    Ok(Exit::Done)
}

fn show_all(scored: &[(String, Scores)]) {
    for (path, scores) in scored {
        data(format_args!("\n{}", paint(DIM, safe(path))));
        show::scores(scores);
    }
}

fn as_json(scored: &[(String, Scores)]) -> serde_json::Value {
    scored.iter().map(|(run, scores)| serde_json::json!({ "run": run, "scores": scores })).collect()
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
