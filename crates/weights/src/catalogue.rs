//! The models that `aske models pull` can download.

use crate::PullError;
use serde::{Deserialize, Serialize};

/// The models that can be downloaded.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalogue {
    /// The models, smallest first.
    #[serde(rename = "model")]
    pub models: Vec<Model>,
}

/// A model of the catalogue: one file, or a repository of the hub.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The name used to download it, and of its folder in the cache.
    pub name: String,
    /// Parameters, in billions.
    pub params: f64,
    /// The licence of the weights.
    pub licence: String,
    /// The model's single file; without it, the model is a repository.
    pub file: Option<WeightFile>,
    /// The approximate size of a repository.
    pub gigabytes: Option<f64>,
    /// The repository on the hub.
    pub hub: HubSource,
}

/// A file of weights.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WeightFile {
    /// The file's name.
    pub name: String,
    /// The file's length.
    pub bytes: u64,
    /// The file's checksum, in hexadecimal.
    pub sha256: String,
}

/// A repository of the Hugging Face hub.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HubSource {
    /// `OWNER/NAME`.
    pub repo: String,
    /// The prefix of the safetensors files to download; some repositories hold their weights twice.
    #[serde(default = "default_weights")]
    pub weights: String,
}

fn default_weights() -> String {
    "model".to_owned()
}

impl Catalogue {
    /// The built-in catalogue.
    pub fn builtin() -> Result<Self, PullError> {
        Self::parse(include_str!("catalogue.toml"))
    }

    /// Parses a catalogue in TOML.
    pub fn parse(text: &str) -> Result<Self, PullError> {
        let catalogue: Self =
            toml::from_str(text).map_err(|error| PullError::Catalogue(error.message().to_owned()))?;
        catalogue.models.iter().try_for_each(Model::validate).map_err(PullError::Catalogue)?;
        Ok(catalogue)
    }

    /// Finds a model by its name or its repository on the hub, ignoring case.
    pub fn find(&self, name: &str) -> Option<&Model> {
        let matches = |other: &str| other.eq_ignore_ascii_case(name);
        self.models.iter().find(|model| matches(&model.name) || matches(&model.hub.repo))
    }
}

impl Model {
    /// The size on disk, which is approximate for a repository.
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

    /// Checks that the names can be those of a folder and a file.
    fn validate(&self) -> Result<(), String> {
        let is_plain = |text: &str| {
            !text.is_empty()
                && !text.starts_with('.')
                && text.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c))
        };
        let name = &self.name;
        if !is_plain(name) {
            return Err(format!("`{name}` is not a valid folder name"));
        }
        match &self.file {
            Some(file) if !is_plain(&file.name) => {
                Err(format!("`{name}`: `{}` is not a valid file name", file.name))
            }
            _ => Ok(()),
        }
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
            assert!(model.bytes() > 0, "{}", model.name);
            if let Some(file) = &model.file {
                assert!(file.sha256.len() == 64 && file.sha256.bytes().all(|b| b.is_ascii_hexdigit()));
            }
        }
        assert_eq!(catalogue.models.len(), 21);
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
            assert_eq!(model.hub.repo, configured["model"].as_str().unwrap());
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
        let entry = |name: &str, file: &str| {
            format!(
                "[[model]]\nname = '{name}'\nparams = 1.0\nlicence = 'MIT'\nhub = {{ repo = 'a/b' }}\n\
                 file = {{ name = '{file}', bytes = 7, sha256 = '' }}"
            )
        };
        Catalogue::parse(&entry("a", "a.gguf")).unwrap();
        let message = |text: &str| Catalogue::parse(text).unwrap_err().to_string();
        assert!(message(&entry("../a", "a.gguf")).contains("not a valid folder name"));
        assert!(message(&entry("a", "../a.gguf")).contains("not a valid file name"));
        assert!(message(&entry("a", "a.gguf").replace("hub", "pypi")).contains("unknown field `pypi`"));
    }
}
