//! Finds, downloads and reads the datasets of an evaluation.

use crate::error::{CliError, Exit};
use crate::output::note;
use crate::runs::progress::PullProgress;
use crate::runtime::until_signal;
use aske_chat::Hint;
use aske_eval::locate::{DatasetSource, SearchPaths, find, not_found, select_files};
use aske_eval::{Dataset, Declaration};
use aske_report::number::counted;
use aske_weights::{Cache, PullError, PullOptions, pull_dataset};
use std::borrow::Cow;

/// The dataset that is used if none is named.
const DEFAULT: &str = "ladder";

/// Reads the named datasets, each once.
pub(super) fn read(names: &[String]) -> Result<Vec<Dataset>, CliError> {
    let paths = SearchPaths::from_env();
    let default = [DEFAULT.to_owned()];
    let names = if names.is_empty() { &default } else { names };
    let mut datasets: Vec<Dataset> = Vec::new();
    for name in names {
        for source in find(name, &paths)? {
            let declared = source.declaration().name.clone();
            if datasets.iter().any(|dataset| dataset.declaration.name == declared) {
                return Err(CliError::usage(
                    format!("--data {name}: the dataset `{declared}` is named twice"),
                    "name each dataset once; a plain file is named after its file name",
                ));
            }
            datasets.push(one(source, &paths)?);
        }
    }
    for dataset in &datasets {
        let (declaration, count) = (&dataset.declaration, dataset.problems.len());
        if let Some(expected) = declaration.problems.filter(|expected| *expected != count) {
            note(format_args!(
                "{}: {}; the release has {expected}",
                declaration.name,
                counted(count, "problem")
            ));
        }
    }
    Ok(datasets)
}

fn one(source: DatasetSource, paths: &SearchPaths) -> Result<Dataset, CliError> {
    let DatasetSource::Absent(declaration) = &source else { return Ok(source.read()?) };
    let offline = std::env::var("HF_HUB_OFFLINE").is_ok_and(|value| !matches!(value.as_str(), "" | "0"));
    match (&declaration.hub, &paths.own) {
        (Some(repo), Some(cache)) if !offline => {
            download(repo, declaration, cache)?;
            let found = paths.find(declaration).ok_or_else(|| not_found(declaration))?;
            Ok(DatasetSource::Files(declaration.clone(), found).read()?)
        }
        _ => Ok(source.read()?),
    }
}

/// Downloads a dataset from the hub.
fn download(repo: &str, declaration: &Declaration, cache: &Cache) -> Result<(), CliError> {
    note(format_args!("{}: downloading {repo} from the hub", declaration.name));
    let failed = |error: &PullError| {
        let hint = not_found(declaration).hint().map(Cow::into_owned);
        CliError { message: format!("{}: {error}", declaration.name), hint, exit: Exit::Failures }
    };
    let options = PullOptions::from_environment().map_err(|error| failed(&error))?;
    let progress = PullProgress::new(&declaration.name, None);
    let files = declaration.files.join(", ");
    let report = |event| progress.report(event);
    let pulled = pull_dataset(repo, select_files(declaration), &files, cache, &options, &report);
    match until_signal(pulled)? {
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => Err(failed(&error)),
        None => Err(CliError::interrupted()),
    }
}
