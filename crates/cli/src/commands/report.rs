//! `aske report`: what runs tell, as tables, as JSON, or as a page.

use crate::arguments::Report;
use crate::commands::eval::show;
use crate::evidence;
use crate::output::{BAD, DIM, data, note, paint, safe, write};
use crate::problem::{Exit, Problem};
use aske_eval::{Scores, scores};
use aske_evidence::Run;
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &Report) -> Result<Exit, Problem> {
    let (runs, damaged) = read(&chosen(&arguments.runs)?, arguments.grader.as_deref())?;
    let (evals, runs): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(|run| run.manifest.is_eval());
    let scored: Vec<(String, Scores)> =
        evals.iter().map(|run| (run.path.display().to_string(), scores(&run.evals))).collect();
    if runs.is_empty() {
        return of_evals(arguments, &scored, &damaged);
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
        data(with_damaged(told, &damaged));
    } else if let Some(file) = &arguments.html {
        note(format_args!("written to {}", file.display()));
    } else {
        evidence::all(&evidence::cleaned(&evidence));
        show_all(&scored);
    }
    let unread = evidence.runs.iter().any(|run| run.trouble.is_some());
    Ok(if unread { Exit::Failures } else { ended(&damaged) })
}

/// A folder that cannot be read, and why.
struct Damaged {
    run: PathBuf,
    problem: Problem,
}

/// Reads all folders that can be read, and names the others. Fails where none can.
fn read(paths: &[PathBuf], grader: Option<&str>) -> Result<(Vec<Run>, Vec<Damaged>), Problem> {
    let (mut runs, mut damaged) = (Vec::new(), Vec::new());
    for path in paths {
        match Run::read(path, grader) {
            Ok(run) => runs.push(run),
            Err(error) if paths.len() == 1 => return Err(error.into()),
            Err(error) => damaged.push(Damaged { run: path.clone(), problem: error.into() }),
        }
    }
    for Damaged { run, problem } in &damaged {
        note(format_args!("{} {}", paint(BAD.bold(), "not shown:"), safe(&run.display().to_string())));
        crate::output::problem(problem);
    }
    if runs.is_empty() {
        return Err(Problem::usage(
            format!("none of the {} folders can be read", paths.len()),
            "see above what is wrong with each",
        ));
    }
    Ok((runs, damaged))
}

/// The exit status: a folder that is not shown is a failure.
fn ended(damaged: &[Damaged]) -> Exit {
    if damaged.is_empty() { Exit::Done } else { Exit::Failures }
}

fn with_damaged(mut told: serde_json::Value, damaged: &[Damaged]) -> serde_json::Value {
    if !damaged.is_empty() {
        let one = |Damaged { run, problem }: &Damaged| {
            serde_json::json!({
                "run": run.display().to_string(),
                "error": problem.message,
                "hint": problem.hint,
            })
        };
        told["damaged"] = damaged.iter().map(one).collect();
    }
    told
}

/// The report of evaluations alone.
fn of_evals(arguments: &Report, scored: &[(String, Scores)], damaged: &[Damaged]) -> Result<Exit, Problem> {
    if let Some(file) = &arguments.html {
        write(file, &aske_eval::page::scores(scored))?;
    }
    if arguments.json {
        data(with_damaged(serde_json::json!({ "evals": as_json(scored) }), damaged));
    } else if let Some(file) = &arguments.html {
        note(format_args!("written to {}", file.display()));
    } else {
        show_all(scored);
    }
    Ok(ended(damaged))
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
