//! The models a command calls: looked up in the configuration, ready to be called.

use crate::error::CliError;
use crate::runs::named::resolve;
use aske_bench::{Dialogue, ModelRegistry};
use aske_config::{Config, Layers, Settings};
use aske_session::{Domain, Pack};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The models that these words name; all configured ones if no word is given.
pub(crate) fn named(layers: &mut Layers, words: &[String]) -> Result<Vec<String>, CliError> {
    let named = words.iter().map(|word| resolve(word, layers)).collect::<Result<BTreeSet<_>, _>>()?;
    let known = layers.config().models.keys();
    Ok(known.filter(|name| words.is_empty() || named.contains(*name)).cloned().collect())
}

/// The dialogue of this configuration for commands that call models outside sessions and never use its prompts.
pub(crate) fn dialogue(config: &Config) -> Dialogue {
    Dialogue { pack: Arc::new(Pack::builtin(&Domain::math())), rounds: config.protocol.rounds }
}

/// Prepares only the models that are called, so that no other one needs its key or its server. The equivalence checker
/// is always included.
pub(crate) fn only(settings: &Settings, called: &BTreeSet<String>) -> Result<ModelRegistry, CliError> {
    let mut settings = settings.clone();
    let checker = settings.equivalence.as_ref().map(|(role, _)| role.model.clone());
    settings.models.retain(|name, _| called.contains(name) || checker.as_ref() == Some(name));
    Ok(ModelRegistry::new(&settings)?)
}
