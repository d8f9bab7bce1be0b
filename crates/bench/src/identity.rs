//! The identity of a run: everything that changes its requests or grades.

use aske_config::{Layers, Origin, RoleSettings, Settings, load_script};
use aske_record::{Identity, Manifest};
use aske_session::Domain;
use serde::Serialize;
use std::collections::BTreeMap;

/// The manifest of a run with these settings.
pub fn manifest(version: &str, layers: &Layers, settings: &Settings) -> Manifest {
    manifest_with(version, layers, settings, dialogue(settings))
}

/// The manifest of a run with these identity keys and the models of the settings.
pub fn manifest_with(
    version: &str,
    layers: &Layers,
    settings: &Settings,
    mut keys: BTreeMap<String, String>,
) -> Manifest {
    models(settings, &mut keys);
    // A model without a name of its own is the one at its address.
    let addresses = layers.addresses().filter(|(name, _)| settings.models.contains_key(*name));
    keys.extend(addresses.map(|(name, url)| (format!("models.{name} address"), url.to_owned())));
    let mut config = layers.stored();
    // Only the models in use belong to the run.
    if let Some(toml::Value::Table(models)) = config.get_mut("models") {
        models.retain(|name, _| settings.models.contains_key(name));
    }
    // In an evaluation the asker may be another model than the configured one.
    if let Some(toml::Value::Table(asker)) = config.get_mut("asker") {
        asker.insert("model".to_owned(), settings.asker.model.clone().into());
    }
    // Solvers are stored by name: a later version may define the set differently.
    config.remove("sets");
    if let Some(toml::Value::Table(boundary)) = config.get_mut("boundary") {
        let names = settings.solvers.iter().map(|solver| solver.model.as_str());
        boundary.remove("set");
        boundary.insert("solvers".to_owned(), toml::Value::from(names.collect::<Vec<_>>()));
    }
    let mut manifest = Manifest::new(version, Identity(keys), config);
    let origins = layers.values().into_iter().filter(|(.., origin)| *origin != Origin::Default);
    manifest.origins = origins.map(|(key, _, origin)| (key, origin_name(&origin))).collect();
    // The solvers that are stored are those of the set.
    if let Some(set) = manifest.origins.remove("boundary.set") {
        manifest.origins.entry("boundary.solvers".to_owned()).or_insert(set);
    }
    manifest
}

/// The name of an origin, without the folders of a file: run folders are shared.
fn origin_name(origin: &Origin) -> String {
    match origin {
        Origin::File(path) => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        other => other.to_string(),
    }
}

/// The keys that change sessions and their grades.
fn dialogue(settings: &Settings) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let mut add = |key: &str, value: String| keys.insert(key.to_owned(), value);
    add("protocol", json(&settings.protocol));
    add("domain", json(&settings.domain));
    if let Domain::Math { rules } = settings.domain {
        add("comparison", rules.name().to_owned());
    }
    add("prompts", settings.pack.hash().to_owned());
    add("seed", settings.run.seed.to_string());
    add("asker", role_identity(&settings.asker));
    add("check", role_identity(&settings.check));
    add(
        "equivalence",
        match &settings.equivalence {
            Some((checker, tokens)) => checker_identity(checker, *tokens),
            None => "none".to_owned(),
        },
    );
    for solver in &settings.solvers {
        add(&format!("models.{} as a solver", solver.model), json(&solver.sampling));
    }
    keys
}

/// The keys that change a model's replies.
fn models(settings: &Settings, keys: &mut BTreeMap<String, String>) {
    for (name, model) in &settings.models {
        let served = model.model.as_deref().unwrap_or(name);
        let script = model.script.as_deref().map(|path| load_script(path).unwrap_or_default());
        let script = script.map(|text| blake3::hash(text.as_bytes()).to_hex().to_string());
        let asked = (served, &model.omit, model.fold_system, sorted(&model.extra_body), script);
        keys.insert(format!("models.{name}"), json(&asked));
        if model.reuse_probes == Some(false) {
            keys.insert(format!("models.{name}.reuse_probes"), "false".to_owned());
        }
    }
}

/// A table with sorted keys.
fn sorted(table: &toml::Table) -> BTreeMap<&String, &toml::Value> {
    table.iter().collect()
}

/// The identity of a checker: its role and token limit.
pub fn checker_identity(role: &RoleSettings, tokens: u32) -> String {
    format!("{} within {tokens} tokens", role_identity(role))
}

/// The identity of a role: its model and sampling.
pub fn role_identity(role: &RoleSettings) -> String {
    format!("{} {}", role.model, json(&role.sampling))
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
