//! The models a command calls: looked up in the configuration, ready to be called.

use crate::error::CliError;
use aske_bench::{Dialogue, ModelRegistry};
use aske_config::{Config, Settings, did_you_mean};
use aske_session::{Domain, Pack};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The configured models with these names; all of them if no name is given.
pub(crate) fn configured<'c>(config: &'c Config, names: &[String]) -> Result<Vec<&'c str>, CliError> {
    let known = || config.models.keys().map(String::as_str);
    for name in names {
        if !config.models.contains_key(name) {
            let otherwise = "`aske models` lists what is configured; --config chooses the configuration";
            let hint = did_you_mean(name, known(), otherwise);
            return Err(CliError::usage(format!("unknown model `{name}`"), hint));
        }
    }
    Ok(known().filter(|name| names.is_empty() || names.iter().any(|given| given == name)).collect())
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
