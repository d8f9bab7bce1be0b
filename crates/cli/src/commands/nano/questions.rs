//! `aske nano questions`: questions of the nano world, and the oracle's answer to one.

use crate::arguments::NanoQuestions;
use crate::error::{CliError, Exit};
use crate::output::{data, note};
use aske_nano::{Family, LEVELS, NumberSet, Question, QuestionSampler, TAUGHT_LEVELS, parse_question};
use serde_json::json;

pub(crate) fn run(arguments: &NanoQuestions) -> Result<Exit, CliError> {
    if let Some(text) = &arguments.understand {
        return explain(text, arguments.json);
    }
    let families: Vec<Family> = match &arguments.family {
        Some(name) => vec![name.parse().map_err(|error: aske_nano::UnknownFamilyError| {
            let known = Family::ALL.iter().map(|family| family.as_str()).collect::<Vec<_>>().join(", ");
            CliError::usage(error.to_string(), format!("the families are {known}"))
        })?],
        None => Family::ALL.to_vec(),
    };
    let levels: Vec<u32> = match arguments.level {
        Some(level) if (1..=LEVELS).contains(&level) => vec![level],
        Some(level) => {
            return Err(CliError::usage(
                format!("there is no level {level}"),
                format!("levels go from 1 to {LEVELS}"),
            ));
        }
        None => (1..=TAUGHT_LEVELS).collect(),
    };
    let mut draw = QuestionSampler::new(arguments.seed, NumberSet::Any);
    let cells = families.iter().flat_map(|family| levels.iter().map(move |level| (*family, *level)));
    for (family, level) in cells {
        for question in (0..arguments.number).filter_map(|_| draw.question(family, level)) {
            show(&question, arguments.json);
        }
    }
    Ok(Exit::Done)
}

fn explain(text: &str, json: bool) -> Result<Exit, CliError> {
    if let Some(question) = parse_question(text) {
        show(&question, json);
        note(question.working().unwrap_or_default());
        return Ok(Exit::Done);
    }
    Err(CliError::usage(
        "the oracle cannot parse this question",
        "`aske nano questions` shows questions that it understands",
    ))
}

fn show(question: &Question, json: bool) {
    let answer = question.answer().map_or_else(|| "none".to_owned(), |answer| answer.to_string());
    if json {
        data(json!({
            "family": question.family(),
            "level": question.level(),
            "question": question.text(),
            "answer": answer,
            "held_out": question.is_held_out(),
        }));
    } else {
        let level = question.level().map_or_else(|| "-".to_owned(), |level| level.to_string());
        data(format_args!("{:<10} {level}  {}  →  {answer}", question.family(), question.text()));
    }
}
