//! `aske eval datasets`: the known datasets and where they are.

use crate::arguments::EvalDatasets;
use crate::display::tables::table;
use crate::error::{CliError, Exit};
use crate::output::{DIM, data, note, paint};
use aske_eval::locate::{DatasetSource, SearchPaths, find};
use aske_eval::{AnswerKind, Declaration, Grading};
use serde_json::json;

pub(super) fn run(arguments: &EvalDatasets) -> Result<Exit, CliError> {
    let paths = SearchPaths::from_env();
    let mut shown =
        table(&["dataset", "title", "problems", "answers", "graded by", "licence", "where"], &[2]);
    let mut listed = Vec::new();
    for declaration in Declaration::builtin()? {
        let source = find(&declaration.name, &paths)?.remove(0);
        let mut found = match &source {
            DatasetSource::Shipped(_) => "shipped".to_owned(),
            DatasetSource::Files(_, files) => {
                files.first().map(|file| file.display().to_string()).unwrap_or_default()
            }
            DatasetSource::Absent(_) => format!("hub: {}", declaration.hub.as_deref().unwrap_or_default()),
        };
        let here = !matches!(source, DatasetSource::Absent(_));
        // Reading counts the problems and finds errors before a run does.
        let mut problems = declaration.problems;
        match here.then(|| source.read()) {
            Some(Ok(dataset)) => problems = Some(dataset.problems.len()),
            Some(Err(error)) => found = format!("cannot be read: {error}"),
            None => {}
        }
        let (answers, grading) = answers_and_grading(&declaration);
        let licence = declaration.licence.clone().unwrap_or_default();
        shown.add_row([
            declaration.name.clone(),
            declaration.title().to_owned(),
            problems.map(|count| count.to_string()).unwrap_or_default(),
            answers.to_owned(),
            grading.to_owned(),
            licence,
            found.clone(),
        ]);
        listed.push(json!({
            "name": declaration.name,
            "title": declaration.title(),
            "problems": problems,
            "answers": answers,
            "grading": grading,
            "licence": declaration.licence,
            "hub": declaration.hub,
            "here": here,
            "where": found,
        }));
    }
    if arguments.json {
        data(json!(listed));
    } else {
        data(shown);
        note(paint(DIM, "`--data paper` is the first four: 550 problems"));
    }
    Ok(Exit::Done)
}

fn answers_and_grading(declaration: &Declaration) -> (&'static str, &'static str) {
    let answers = match declaration.answers {
        AnswerKind::Integer => "0 to 999",
        AnswerKind::Free => "free",
    };
    let grading = match declaration.grading {
        Grading::Rules => "rules",
        Grading::Judge => "judge",
    };
    (answers, grading)
}
