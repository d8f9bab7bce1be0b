//! `aske models pull` and `remove`: downloads and their end.

use super::catalogue;
use crate::arguments::{Pull, Remove};
use crate::live::until_signal;
use crate::output::{data, note};
use crate::problem::{Exit, Problem};
use crate::progress::Reading;
use aske_chat::Hint;
use aske_config::closest;
use aske_weights::{Cache, Catalogue, Model, PullError, PullEvent, PullOptions, pull};
use std::cell::RefCell;

pub(crate) fn run(arguments: &Pull) -> Result<Exit, Problem> {
    let (catalogue, cache) = open()?;
    let models = chosen(&catalogue, &arguments.names)?;
    let options =
        PullOptions::from_environment().map_err(|error| Problem { exit: Exit::Usage, ..failed(&error) })?;
    for model in models {
        let shown = Shown::new(model);
        let pulled = until_signal(pull(model, &cache, &options, &|event| shown.event(event)))?;
        drop(shown);
        let Some(pulled) = pulled else {
            note("stopped; the same command goes on where it was");
            return Ok(Exit::Interrupted);
        };
        data(pulled.map_err(|error| failed(&error))?.display());
    }
    Ok(Exit::Done)
}

pub(crate) fn remove(arguments: &Remove) -> Result<Exit, Problem> {
    let (catalogue, cache) = open()?;
    for model in chosen(&catalogue, &arguments.names)? {
        let Some(removed) = until_signal(cache.remove(model))? else { return Ok(Exit::Interrupted) };
        let was_here = removed.map_err(|error| failed(&error))?;
        let said = if was_here { "is removed" } else { "was not downloaded" };
        note(format_args!("{} {said}", model.name));
    }
    Ok(Exit::Done)
}

/// A failure, as the program tells it.
pub(super) fn failed(error: &PullError) -> Problem {
    let hint = error.hint().map(std::borrow::Cow::into_owned);
    Problem { message: error.to_string(), hint, exit: Exit::Failures }
}

fn open() -> Result<(Catalogue, Cache), Problem> {
    let catalogue = Catalogue::builtin().map_err(|error| failed(&error))?;
    let cache = Cache::open().map_err(|error| failed(&error))?;
    Ok((catalogue, cache))
}

fn chosen<'c>(catalogue: &'c Catalogue, names: &[String]) -> Result<Vec<&'c Model>, Problem> {
    let find = |name: &String| {
        catalogue.find(name).ok_or_else(|| {
            let known = catalogue.models.iter().map(|model| model.name.as_str());
            let hint = closest(&name.to_lowercase(), known).map_or_else(
                || "`aske models catalogue` lists what can be pulled".to_owned(),
                |likely| format!("did you mean `{likely}`? `aske models catalogue` lists all"),
            );
            Problem::usage(format!("`{name}` is not in the catalogue"), hint)
        })
    };
    names.iter().map(find).collect()
}

/// What is seen of a pull.
struct Shown<'m> {
    model: &'m Model,
    bytes: RefCell<Option<Reading>>,
}

impl<'m> Shown<'m> {
    fn new(model: &'m Model) -> Self {
        Self { model, bytes: RefCell::default() }
    }

    fn event(&self, event: PullEvent) {
        let name = &self.model.name;
        match event {
            PullEvent::Waiting => note(format_args!("{name}: another aske pulls it; waiting for that")),
            PullEvent::Verifying => note(format_args!("{name} is here; checking it")),
            PullEvent::Corrupt => note(format_args!("{name} is broken, and is pulled anew")),
            PullEvent::Total(bytes) => {
                note(format_args!("{name}: {}, {}", catalogue::bytes(bytes), self.model.licence));
                self.bytes.replace(Some(Reading::new(bytes)));
            }
            PullEvent::Downloaded(bytes) => {
                if let Some(reading) = &*self.bytes.borrow() {
                    reading.at(bytes);
                }
            }
        }
    }
}
