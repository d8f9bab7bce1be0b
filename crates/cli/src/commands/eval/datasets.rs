//! `aske eval datasets`: what is known, and where it lies.

use crate::arguments::EvalDatasets;
use crate::output::{DIM, data, note, paint};
use crate::problem::{Exit, Problem};
use crate::tables::table;
use aske_eval::locate::{Asked, Places, find};
use aske_eval::{Declaration, Grading, Kind};
use serde_json::json;

pub(super) fn run(arguments: &EvalDatasets) -> Result<Exit, Problem> {
    let places = Places::usual();
    let mut shown =
        table(&["dataset", "title", "problems", "answers", "graded by", "licence", "where"], &[2]);
    let mut listed = Vec::new();
    for declaration in Declaration::builtin()? {
        let asked = find(&declaration.name, &places)?.remove(0);
        let mut found = match &asked {
            Asked::Shipped(_) => "shipped".to_owned(),
            Asked::Files(_, files) => {
                files.first().map(|file| file.display().to_string()).unwrap_or_default()
            }
            Asked::Absent(_) => format!("hub: {}", declaration.hub.as_deref().unwrap_or_default()),
        };
        let here = !matches!(asked, Asked::Absent(_));
        // What is here is counted, and what is wrong with it is told before a run wants it.
        let mut problems = declaration.problems;
        match here.then(|| asked.read()) {
            Some(Ok(dataset)) => problems = Some(dataset.problems.len()),
            Some(Err(error)) => found = format!("cannot be read: {error}"),
            None => {}
        }
        let (answers, grading) = words(&declaration);
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

fn words(declaration: &Declaration) -> (&'static str, &'static str) {
    let answers = match declaration.answers {
        Kind::Integer => "0 to 999",
        Kind::Free => "free",
    };
    let grading = match declaration.grading {
        Grading::Rules => "rules",
        Grading::Judge => "judge",
    };
    (answers, grading)
}
