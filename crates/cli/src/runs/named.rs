//! Models named on the command line, and checks of the servers that are named.

use crate::error::{CliError, Exit};
use crate::output::safe_line;
use crate::runtime::runtime;
use aske_bench::{Dialogue, ModelRegistry};
use aske_config::{Layers, ModelSection, OneOrMany, ProviderKind, Settings, closest, is_bare_url};
use aske_model::{ErrorCause, Model, ModelError, redact_url};
use aske_session::{Domain, Pack};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const WEIGHTS: &str = "model.safetensors";

/// Models of a server that a hint lists.
const LISTED: usize = 8;

/// The name of the model that a word names: a configured model, a checkpoint folder, a GGUF file, an address, or
/// `PROVIDER/MODEL`. A server that is named without a model is asked for its only one.
pub(crate) fn resolve(word: &str, layers: &mut Layers) -> Result<String, CliError> {
    let bare = word.trim_end_matches('#');
    if is_bare_url(bare) && !layers.config().models.contains_key(word) {
        let model = only_model(bare)?;
        return Ok(layers.name_model(&format!("{bare}#{model}"))?);
    }
    Ok(layers.name_model(word)?)
}

/// Asks the servers that the configuration names without a model for their only one.
pub(crate) fn name_served(layers: &mut Layers) -> Result<(), CliError> {
    for url in layers.bare_urls() {
        let model = only_model(url.trim_end_matches('#'))?;
        layers.name_served(&url, &model)?;
    }
    Ok(())
}

/// A model of the server at this address.
pub(crate) fn at_address(url: &str) -> ModelSection {
    ModelSection {
        provider: Some(ProviderKind::Openai),
        url: OneOrMany::One(url.to_owned()),
        ..ModelSection::default()
    }
}

/// The only model of a server.
fn only_model(url: &str) -> Result<String, CliError> {
    let shown = redact_url(url);
    let section = at_address(url);
    let names = match list("server", &section)? {
        Ok(names) => names.unwrap_or_default(),
        Err(error) => return Err(unreachable(&section, &error)),
    };
    match names.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(CliError::usage(
            format!("{shown}: which model of this server? It lists none"),
            format!("append its name: {shown}#NAME"),
        )),
        several => Err(CliError::usage(
            format!("{shown}: which model of this server? It offers {}", listed(several)),
            format!("append its name: {shown}#{}", safe_line(&several[0])),
        )),
    }
}

/// The names of the models that the server of a model lists; `None` if it lists none.
pub(crate) fn list(
    name: &str,
    section: &ModelSection,
) -> Result<Result<Option<Vec<String>>, ModelError>, CliError> {
    let Some(model) = single(name, section.clone())? else { return Ok(Ok(None)) };
    blocking(async move { model.served().await })
}

/// A model outside any run.
pub(crate) fn single(name: &str, section: ModelSection) -> Result<Option<Arc<Model>>, CliError> {
    let sections = BTreeMap::from([(name.to_owned(), section)]);
    let dialogue = Dialogue { pack: Arc::new(Pack::builtin(&Domain::math())), rounds: 0 };
    Ok(ModelRegistry::from_sections(&sections, 1, &dialogue)?.get(name).cloned())
}

/// Whether a server lists a model, with or without the tag that means the latest.
pub(crate) fn is_listed(names: &[String], model: &str) -> bool {
    names.iter().any(|listed| listed == model || listed.strip_suffix(":latest") == Some(model))
}

/// The first names, and the number of the others.
pub(crate) fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| safe_line(name)).collect();
    let more = names.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Checks that the servers of the user's machine respond and have their models, so that nothing is created if they do
/// not.
pub(crate) fn check_local_servers(settings: &Settings) -> Result<(), CliError> {
    for (name, section) in settings.models.iter().filter(|(_, section)| section.start.is_some()) {
        check_local_server(name, section)?;
    }
    Ok(())
}

fn check_local_server(name: &str, section: &ModelSection) -> Result<(), CliError> {
    let url = address(section);
    let names = match list(name, section)? {
        Ok(names) => names.unwrap_or_default(),
        Err(error) if matches!(error.cause, ErrorCause::Network | ErrorCause::Timeout) => {
            return Err(unreachable(section, &error));
        }
        // The first call says what is wrong.
        Err(_) => return Ok(()),
    };
    let wanted = section.model.as_deref().unwrap_or(name);
    if names.is_empty() && section.pull.is_none() || is_listed(&names, wanted) {
        return Ok(());
    }
    let message = match names.as_slice() {
        [] => format!("the server at {url} has no model yet"),
        names => format!("the server at {url} has no model `{wanted}`; it offers {}", listed(names)),
    };
    let likely = closest(wanted, names.iter().map(String::as_str));
    let likely = likely.map(|likely| format!("did you mean `{}`?", safe_line(likely)));
    let pull = section.pull.as_ref().or(section.start.as_ref());
    let hints: Vec<String> = likely.into_iter().chain(pull.cloned()).collect();
    Err(CliError { message, hint: Some(hints.join(" Otherwise: ")), exit: Exit::Usage })
}

/// The error of a server that does not list its models.
pub(crate) fn unreachable(section: &ModelSection, error: &ModelError) -> CliError {
    let url = address(section);
    let hint = match (error.cause, &section.start, &section.api_key_env) {
        (ErrorCause::Network | ErrorCause::Timeout, Some(start), _) => format!("start it with `{start}`"),
        (ErrorCause::Network | ErrorCause::Timeout, None, _) => {
            "is the server running, and is this its address? Most addresses end in /v1".to_owned()
        }
        (ErrorCause::Auth, _, Some(variable)) => format!("check the key in {variable}"),
        (ErrorCause::Auth, _, None) => {
            "it needs a key: define the model as [models.NAME] with `url` and `api_key_env`, or name it PROVIDER/MODEL"
                .to_owned()
        }
        (ErrorCause::NotFound, ..) if !url.ends_with("/v1") => {
            format!("most addresses end in /v1: {}/v1", url.trim_end_matches('/'))
        }
        _ => format!("append the name of the model: {url}#NAME"),
    };
    CliError::usage(format!("{url}: {}", error.message), hint)
}

/// The address of a server without secrets.
pub(crate) fn address(section: &ModelSection) -> String {
    section.url.to_vec().first().map_or_else(String::new, |url| redact_url(url))
}

/// Waits for a future on a thread of its own, so that it can be called inside and outside a runtime.
pub(crate) fn blocking<T: Send>(work: impl Future<Output = T> + Send) -> Result<T, CliError> {
    let run = || -> Result<T, CliError> { Ok(runtime()?.block_on(work)) };
    std::thread::scope(|scope| scope.spawn(run).join())
        .unwrap_or_else(|_| Err(CliError::failure("a request ended unexpectedly")))
}

/// A checksum of local weights, so that another checkpoint of the same name is not mistaken for this one. `None` for
/// built-in and served models.
pub(crate) fn weights(section: &ModelSection) -> Option<String> {
    let path = section.path.as_deref().filter(|path| !path.starts_with("builtin:"))?;
    match section.provider {
        Some(ProviderKind::Local) => {
            let whole = aske_eval::file_hash(&Path::new(path).join(WEIGHTS)).ok();
            whole.or_else(|| split_weights(Path::new(path)))
        }
        Some(ProviderKind::Llama) if !path.starts_with("pulled:") => {
            aske_eval::file_hash(Path::new(path)).ok()
        }
        _ => None,
    }
}

/// The checksums of weights in several files.
fn split_weights(folder: &Path) -> Option<String> {
    let entries = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "safetensors")).collect();
    files.sort();
    let hashes = files.iter().map(|file| aske_eval::file_hash(file).ok());
    let hashes = hashes.collect::<Option<Vec<_>>>()?;
    (!hashes.is_empty()).then(|| hashes.join(" "))
}
