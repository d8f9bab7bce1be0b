//! `aske eval compare`: a base model and what training made of it.

use super::show;
use crate::arguments::{EvalCompare, GridFormat};
use crate::output::{DIM, NOTE, data, note, paint, raw, safe, write};
use crate::problem::{Exit, Problem};
use aske_eval::{Compared, Side, compare, differences, page, tables};
use aske_evidence::Run;
use std::path::Path;

pub(super) fn run(arguments: &EvalCompare) -> Result<Exit, Problem> {
    let base = read(&arguments.base)?;
    let trained = arguments.trained.iter().map(|path| read(path)).collect::<Result<Vec<_>, _>>()?;
    let names = names(&base, &trained);
    let mut differences = Vec::new();
    for (run, name) in trained.iter().zip(&names[1..]) {
        let found = comparable(&base, run)?.into_iter();
        differences.extend(found.map(|difference| format!("{name} has {difference}.")));
    }
    let sides: Vec<Side<'_>> =
        trained.iter().zip(&names[1..]).map(|(run, name)| Side { name, records: &run.evals }).collect();
    let mut found = compare(Side { name: &names[0], records: &base.evals }, &sides).ok_or_else(|| {
        Problem::usage("the runs have no problem in common", "evaluate them on the same --data")
    })?;
    found.differences = differences;
    for told in found.notes() {
        note(format_args!("{} {}", paint(NOTE.bold(), "note:"), safe(&told)));
    }
    if let Some(file) = &arguments.figure {
        written(file, &page::figure(&found))?;
    }
    let format = arguments.format.or_else(|| by_ending(arguments.output.as_deref()));
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
    match &arguments.output {
        // A file has no colours.
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

/// A run of `aske eval`.
fn read(path: &Path) -> Result<Run, Problem> {
    let run = Run::read(path, None)?;
    if run.manifest.is_eval() {
        return Ok(run);
    }
    Err(Problem::usage(
        format!("{} holds no evaluation", path.display()),
        "name folders that `aske eval` has written",
    ))
}

/// Refuses runs on other problems; where the protocol differs.
fn comparable(base: &Run, other: &Run) -> Result<Vec<String>, Problem> {
    let found = differences(&base.manifest, &other.manifest);
    if let Some(dataset) = found.data.first() {
        return Err(Problem::usage(
            format!(
                "{} and {} are of different problems: {dataset}",
                base.path.display(),
                other.path.display()
            ),
            "evaluate both on the same files",
        ));
    }
    Ok(found.protocol)
}

/// What the runs are called: trained ones by their seed where all have one; by their model, or by their folder where
/// models are alike.
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

fn terminal(found: &Compared) -> String {
    let about = "change in points on the same problems, mean over the trained models; p by flipping the sign of whole\n\
                 problems; the smallest visible change is seen with 80% power";
    format!(
        "{}\n{}\n\n{}\n{}",
        show::grid(&tables::comparison(found)),
        paint(DIM, format_args!("the baseline is {}; what beats it is bold", safe(&found.base))),
        show::grid(&tables::changes(found)),
        paint(DIM, about)
    )
}

/// Writes a file, and says so.
fn written(file: &Path, text: &str) -> Result<(), Problem> {
    write(file, text)?;
    note(format_args!("written to {}", file.display()));
    Ok(())
}
