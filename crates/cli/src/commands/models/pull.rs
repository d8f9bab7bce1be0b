//! `aske models pull` and `remove`: downloads models and removes them.

use crate::arguments::{Pull, Remove};
use crate::error::{CliError, Exit};
use crate::output::{data, note};
use crate::runs::progress::PullProgress;
use crate::runtime::until_signal;
use aske_config::closest;
use aske_weights::{Cache, Catalogue, Model, PullOptions, pull};

pub(crate) fn run(arguments: &Pull) -> Result<Exit, CliError> {
    let (catalogue, cache) = (Catalogue::builtin()?, Cache::open()?);
    let models = chosen(&catalogue, &arguments.names)?;
    let options =
        PullOptions::from_environment().map_err(|error| CliError { exit: Exit::Usage, ..error.into() })?;
    for model in models {
        let progress = PullProgress::new(&model.name, Some(&model.licence));
        let pulled = until_signal(pull(model, &cache, &options, &|event| progress.report(event)))?;
        drop(progress);
        let Some(pulled) = pulled else {
            note("stopped; the same command resumes the download");
            return Ok(Exit::Interrupted);
        };
        data(pulled?.display());
    }
    Ok(Exit::Done)
}

pub(crate) fn remove(arguments: &Remove) -> Result<Exit, CliError> {
    let (catalogue, cache) = (Catalogue::builtin()?, Cache::open()?);
    for model in chosen(&catalogue, &arguments.names)? {
        let Some(removed) = until_signal(cache.remove(model))? else { return Ok(Exit::Interrupted) };
        let was_here = removed?;
        let state = if was_here { "is removed" } else { "was not downloaded" };
        note(format_args!("{} {state}", model.name));
    }
    Ok(Exit::Done)
}

fn chosen<'c>(catalogue: &'c Catalogue, names: &[String]) -> Result<Vec<&'c Model>, CliError> {
    let find = |name: &String| {
        catalogue.find(name).ok_or_else(|| {
            let known = catalogue.models.iter().map(|model| model.name.as_str());
            let hint = closest(&name.to_lowercase(), known).map_or_else(
                || "`aske models catalogue` lists what can be pulled".to_owned(),
                |likely| format!("did you mean `{likely}`? `aske models catalogue` lists all"),
            );
            CliError::usage(format!("`{name}` is not in the catalogue"), hint)
        })
    };
    names.iter().map(find).collect()
}
