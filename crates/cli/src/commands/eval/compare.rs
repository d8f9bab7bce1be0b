//! `aske eval compare`: a base model against the models trained from it.

use crate::arguments::{EvalCompare, GridFormat};
use crate::display::scores::grid;
use crate::error::{CliError, Exit};
use crate::output::{DIM, NOTE, data, note, paint, raw, safe, width, wrapped, write};
use aske_eval::{ComparedRun, ModelComparison, compare, differences, page, tables};
use aske_evidence::Run;
use std::path::Path;

pub(super) fn run(arguments: &EvalCompare) -> Result<Exit, CliError> {
    let base = read(&arguments.base)?;
    let trained = arguments.trained.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let names = names(&base, &trained);
    let mut differences = Vec::new();
    for (run, name) in trained.iter().zip(&names[1..]) {
        let found = comparable(&base, run)?.into_iter();
        differences.extend(found.map(|difference| format!("{name} has {difference}.")));
    }
    let sides: Vec<ComparedRun<'_>> = trained
        .iter()
        .zip(&names[1..])
        .map(|(run, name)| ComparedRun { name, records: &run.evals })
        .collect();
    let mut found =
        compare(ComparedRun { name: &names[0], records: &base.evals }, &sides).ok_or_else(|| {
            CliError::usage("the runs have no problem in common", "evaluate them on the same --data")
        })?;
    found.differences = differences;
    found.warnings = base_among(&base, &trained, &names[1..]);
    for text in found.notes() {
        let kind = if found.warnings.contains(&text) { "warning:" } else { "note:" };
        note(format_args!("{} {}", paint(NOTE.bold(), kind), safe(&text)));
    }
    if let Some(file) = &arguments.figure {
        written(file, &page::figure(&found))?;
    }
    let format = arguments.format.or_else(|| by_ending(arguments.out.as_deref()));
    let text = match format.unwrap_or(GridFormat::Terminal) {
        GridFormat::Terminal => terminal(&found),
        GridFormat::Markdown => {
            format!("{}\n{}", tables::comparison(&found).markdown(), tables::changes(&found).markdown())
        }
        GridFormat::Latex => {
            format!("{}\n{}", tables::comparison(&found).latex(), tables::changes(&found).latex())
        }
        GridFormat::Html => page::comparison(&found),
    };
    match &arguments.out {
        Some(file) => written(file, &anstream::adapter::strip_str(&text).to_string())?,
        None if arguments.json => {}
        None if matches!(format, None | Some(GridFormat::Terminal)) => data(text),
        None => raw(text.as_bytes()),
    }
    if arguments.json {
        data(serde_json::json!(found));
    }
    Ok(Exit::Done)
}

/// Reads a run of `aske eval`.
fn read(path: &Path) -> Result<Run, CliError> {
    let run = Run::read(path, None)?;
    if run.manifest.is_eval() {
        return Ok(run);
    }
    Err(CliError::usage(
        format!("{} is not an evaluation", path.display()),
        "name folders written by `aske eval`",
    ))
}

/// Returns how the protocols of two runs differ; fails if they use different problems.
fn comparable(base: &Run, other: &Run) -> Result<Vec<String>, CliError> {
    let found = differences(&base.manifest, &other.manifest);
    if let Some(dataset) = found.data.first() {
        return Err(CliError::usage(
            format!("{} and {} use different problems: {dataset}", base.path.display(), other.path.display()),
            "evaluate both on the same files",
        ));
    }
    Ok(found.protocol)
}

/// Warnings about trained runs that are the base run, or a copy of it.
fn base_among(base: &Run, trained: &[Run], names: &[String]) -> Vec<String> {
    let folder = |run: &Run| run.path.canonicalize().unwrap_or_else(|_| run.path.clone());
    let same = |run: &Run| folder(run) == folder(base) || (!run.evals.is_empty() && run.evals == base.evals);
    let among = trained.iter().zip(names).filter(|(run, _)| same(run));
    among
        .map(|(run, name)| {
            format!(
                "{name} ({}) is the base run: its change is zero by construction, and it pulls the mean towards the base.",
                run.path.display()
            )
        })
        .collect()
}

/// Names of the runs: trained ones by their seed if all have one; otherwise by model, or by folder if models are equal.
fn names(base: &Run, trained: &[Run]) -> Vec<String> {
    let model = |run: &Run| run.evals.first().map(|record| record.model.clone()).unwrap_or_default();
    let seed = |run: &Run| {
        let (model, folder) = (model(run), run.folder());
        let after = |text: &str| text.rsplit_once("seed-").map(|(_, seed)| seed.to_owned());
        let seed = after(&model).or_else(|| after(&folder))?;
        (!seed.is_empty() && seed.chars().all(|c| c.is_ascii_digit())).then(|| format!("seed {seed}"))
    };
    let distinct =
        |names: &[String]| names.iter().collect::<std::collections::HashSet<_>>().len() == names.len();
    let all = || std::iter::once(base).chain(trained);
    let models: Vec<String> = all().map(model).collect();
    let seeds: Option<Vec<String>> = trained.iter().map(seed).collect();
    if let Some(seeds) = seeds.filter(|seeds| distinct(seeds)) {
        return std::iter::once(models[0].clone()).chain(seeds).collect();
    }
    if distinct(&models) { models } else { all().map(Run::folder).collect() }
}

fn by_ending(output: Option<&Path>) -> Option<GridFormat> {
    match output?.extension()?.to_str()? {
        "md" => Some(GridFormat::Markdown),
        "tex" => Some(GridFormat::Latex),
        "html" | "htm" => Some(GridFormat::Html),
        _ => None,
    }
}

fn terminal(found: &ModelComparison) -> String {
    let about = "change in points on the same problems, mean over the trained models; p by flipping the sign of whole \
                 problems; the smallest visible change is seen with 80% power";
    format!(
        "{}\n{}\n\n{}\n{}",
        grid(&tables::comparison(found)),
        paint(DIM, format_args!("the baseline is {}. {}", safe(&found.base), tables::BOLD)),
        grid(&tables::changes(found)),
        paint(DIM, wrapped(about, width()).join("\n"))
    )
}

/// Writes a file and prints its path.
fn written(file: &Path, text: &str) -> Result<(), CliError> {
    write(file, text)?;
    note(format_args!("written to {}", file.display()));
    Ok(())
}
