//! `aske models catalogue`: models to download.

use crate::arguments::ShowCatalogue;
use crate::display::tables::{Table, table};
use crate::error::{CliError, Exit};
use crate::output::{data, note};
use crate::runs::progress::megabytes;
use aske_report::number;
use aske_weights::{Cache, Catalogue, Model};
use serde_json::{Value, json};

pub(crate) fn run(arguments: &ShowCatalogue) -> Result<Exit, CliError> {
    let (catalogue, cache) = (Catalogue::builtin()?, Cache::open()?);
    if arguments.json {
        data(catalogue.models.iter().map(|model| as_json(model, &cache)).collect::<Value>());
    } else {
        data(as_table(&catalogue, &cache));
        note(format_args!("\nkept in {}", cache.root().display()));
    }
    Ok(Exit::Done)
}

fn as_table(catalogue: &Catalogue, cache: &Cache) -> Table {
    let mut table = table(&["model", "weights", "size", "licence", "repository", "state"], &[1, 2]);
    for model in &catalogue.models {
        table.add_row([
            model.name.clone(),
            number::size(model.params),
            size(model),
            model.licence.clone(),
            model.hub.repo.clone(),
            cache.find(model).map_or_else(String::new, |_| "downloaded".to_owned()),
        ]);
    }
    table
}

/// The size; approximate ones are marked.
fn size(model: &Model) -> String {
    let about = if model.file.is_some() { "" } else { "~" };
    format!("{about}{}", megabytes(model.bytes()))
}

fn as_json(model: &Model, cache: &Cache) -> Value {
    json!({
        "model": model.name,
        "params": model.params,
        "licence": model.licence,
        "bytes": model.bytes(),
        "exact": model.file.is_some(),
        "file": model.file,
        "hub": model.hub,
        "pypi": null,
        "path": cache.find(model),
    })
}
