//! The datasets of a run: found, brought from the hub where they are not here, read.

use crate::live::until_signal;
use crate::output::note;
use crate::problem::{Exit, Problem};
use crate::progress::Reading;
use aske_eval::locate::{Asked, Places, absent, find, wanted};
use aske_eval::{DataError, Dataset, Declaration};
use aske_weights::{Cache, PullError, PullEvent, PullOptions, pull_dataset};
use std::cell::RefCell;

/// What is taken where nothing is named.
const USUAL: &str = "ladder";

/// Reads the named datasets, each once.
pub(super) fn read(names: &[String]) -> Result<Vec<Dataset>, Problem> {
    let places = Places::usual();
    let usual = [USUAL.to_owned()];
    let names = if names.is_empty() { &usual } else { names };
    let mut datasets: Vec<Dataset> = Vec::new();
    for name in names {
        for asked in find(name, &places)? {
            let declared = asked.declaration().name.clone();
            if datasets.iter().any(|dataset| dataset.declaration.name == declared) {
                return Err(Problem::usage(
                    format!("--data {name}: the dataset `{declared}` is named twice"),
                    "name each dataset once; the name of a plain file is its own",
                ));
            }
            datasets.push(one(asked, &places)?);
        }
    }
    for dataset in &datasets {
        let (declaration, count) = (&dataset.declaration, dataset.problems.len());
        if let Some(expected) = declaration.problems.filter(|expected| *expected != count) {
            note(format_args!("{}: {count} problems, and the release has {expected}", declaration.name));
        }
    }
    Ok(datasets)
}

fn one(asked: Asked, places: &Places) -> Result<Dataset, Problem> {
    let Asked::Absent(declaration) = &asked else { return Ok(asked.read()?) };
    let offline = std::env::var("HF_HUB_OFFLINE").is_ok_and(|value| !matches!(value.as_str(), "" | "0"));
    match (&declaration.hub, &places.own) {
        (Some(repo), Some(cache)) if !offline => {
            bring(repo, declaration, cache)?;
            let found = places.find(declaration).ok_or_else(|| absent(declaration))?;
            Ok(Asked::Files(declaration.clone(), found).read()?)
        }
        _ => Ok(asked.read()?),
    }
}

/// Downloads a dataset from the hub.
fn bring(repo: &str, declaration: &Declaration, cache: &Cache) -> Result<(), Problem> {
    note(format_args!("{}: downloading {repo} from the hub", declaration.name));
    let failed = |error: &PullError| {
        let hint = absent(declaration).hint;
        Problem { message: format!("{}: {error}", declaration.name), hint: Some(hint), exit: Exit::Failures }
    };
    let options = PullOptions::from_environment().map_err(|error| failed(&error))?;
    let reading: RefCell<Option<Reading>> = RefCell::new(None);
    let tell = |event: PullEvent| match event {
        PullEvent::Total(bytes) => *reading.borrow_mut() = Some(Reading::new(bytes)),
        PullEvent::Downloaded(bytes) => {
            if let Some(reading) = reading.borrow().as_ref() {
                reading.at(bytes);
            }
        }
        PullEvent::Waiting => note("another process downloads it; waiting"),
        PullEvent::Verifying | PullEvent::Corrupt => {}
    };
    let files = declaration.files.join(", ");
    let pulled = pull_dataset(repo, wanted(declaration), &files, cache, &options, &tell);
    match until_signal(pulled)? {
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => Err(failed(&error)),
        None => Err(Problem { message: "stopped".to_owned(), hint: None, exit: Exit::Interrupted }),
    }
}

impl From<DataError> for Problem {
    fn from(error: DataError) -> Self {
        Self { message: error.to_string(), hint: Some(error.hint), exit: Exit::Usage }
    }
}
