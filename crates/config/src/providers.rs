//! `[providers.NAME]`: what the models of a provider have in common. The bundled table is the lowest layer of every
//! configuration, so a configuration can extend and override it.

use crate::layers::merge;
use crate::{ModelSection, OneOrMany};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// The bundled providers.
pub(crate) const BUNDLED: &str = include_str!("../providers.toml");
/// The name of the bundled table as the origin of a value.
pub(crate) const BUNDLED_PROVIDERS: &str = "providers";

/// `[providers.NAME]`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSection {
    /// The base address.
    pub url: Option<String>,
    /// Environment variables that replace the address.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub url_env: OneOrMany,
    /// Environment variables that may hold the key.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub api_key_env: OneOrMany,
    /// Whether calls without a key are accepted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub key_optional: bool,
    /// Other names of the provider.
    #[serde(skip_serializing_if = "OneOrMany::is_empty")]
    pub aliases: OneOrMany,
    /// The command that starts its server; `{model}` is the model.
    pub start: Option<String>,
    /// The command that downloads `{model}`.
    pub pull: Option<String>,
    /// The page that the prices were read from.
    pub prices: Option<String>,
    /// Keys of all its models, as in `[models.NAME]`.
    #[serde(deserialize_with = "model_keys", skip_serializing_if = "Table::is_empty")]
    pub defaults: Table,
    /// Further keys of models by name; `*` at the end of a name stands for any text.
    #[serde(deserialize_with = "models", skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, Table>,
}

/// Keys of a model, which must be those of `[models.NAME]`.
fn model_keys<'d, D: Deserializer<'d>>(given: D) -> Result<Table, D::Error> {
    let table = Table::deserialize(given)?;
    ModelSection::deserialize(table.clone()).map_err(|error| de::Error::custom(error.message()))?;
    Ok(table)
}

fn models<'d, D: Deserializer<'d>>(given: D) -> Result<BTreeMap<String, Table>, D::Error> {
    #[derive(Deserialize)]
    struct Keys(#[serde(deserialize_with = "model_keys")] Table);
    let models = BTreeMap::<String, Keys>::deserialize(given)?;
    Ok(models.into_iter().map(|(name, Keys(table))| (name, table)).collect())
}

/// What the environment says about providers: addresses, and which keys are set. It holds no keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProviderEnvironment {
    urls: BTreeMap<String, String>,
    set: BTreeSet<String>,
}

impl ProviderEnvironment {
    /// What these variables say.
    pub(crate) fn new(providers: &BTreeMap<String, ProviderSection>, variables: &[(String, String)]) -> Self {
        let urls: BTreeSet<String> =
            providers.values().flat_map(|provider| provider.url_env.to_vec()).collect();
        let given = variables.iter().filter(|(_, value)| !value.trim().is_empty());
        Self {
            urls: given.clone().filter(|(name, _)| urls.contains(name)).cloned().collect(),
            set: given.map(|(name, _)| name.clone()).collect(),
        }
    }
}

impl ProviderSection {
    /// Whether its server usually runs on the user's machine.
    pub fn is_local(&self) -> bool {
        self.start.is_some()
    }

    /// The environment variable that holds the key: the first that is set, else the first.
    pub(crate) fn key_variable(&self, environment: &ProviderEnvironment) -> Option<String> {
        let names = self.api_key_env.to_vec();
        let set = names.iter().find(|name| environment.set.contains(*name)).cloned();
        set.or_else(|| names.into_iter().next().filter(|_| !self.key_optional))
    }

    /// The base address, from the environment if it has one.
    pub(crate) fn base_url(&self, environment: &ProviderEnvironment) -> Option<String> {
        let default = self.url.clone().unwrap_or_default();
        let given = self.url_env.to_vec().into_iter().find_map(|name| environment.urls.get(&name).cloned());
        given.map(|given| completed(&given, &default)).or(self.url.clone())
    }

    /// The keys of `[models.NAME]` for a model of this provider.
    pub(crate) fn model(&self, model: &str, environment: &ProviderEnvironment) -> Table {
        let mut keys = self.defaults.clone();
        let mut fitting: Vec<(&String, &Table)> =
            self.models.iter().filter(|(pattern, _)| fits(pattern, model)).collect();
        // An exact name is more specific than a pattern of the same length.
        fitting.sort_by_key(|(pattern, _)| (pattern.trim_end_matches('*').len(), !pattern.ends_with('*')));
        for (_, more) in fitting {
            merge(&mut keys, more.clone());
        }
        let command = |text: &Option<String>| text.as_ref().map(|text| text.replace("{model}", model));
        for (key, value) in [
            ("provider", Some("openai".to_owned())),
            ("url", self.base_url(environment)),
            ("model", Some(model.to_owned())),
            ("api_key_env", self.key_variable(environment)),
            ("start", command(&self.start)),
            ("pull", command(&self.pull)),
        ] {
            if let Some(value) = value {
                keys.entry(key).or_insert(Value::String(value));
            }
        }
        keys
    }
}

fn fits(pattern: &str, model: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == model, |start| model.starts_with(start))
}

/// An address as environment variables give it, such as `0.0.0.0:11434` in `OLLAMA_HOST`: parts that it lacks are those
/// of the usual address.
fn completed(given: &str, usual: &str) -> String {
    let given = given.trim().trim_end_matches('/');
    let parts = |url: &str| {
        let (scheme, rest) =
            url.split_once("://").map_or((None, url), |(scheme, rest)| (Some(scheme.to_owned()), rest));
        let (host, path) =
            rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path.to_owned())));
        (scheme, host.to_owned(), path)
    };
    let (scheme, host, path) = parts(given);
    let (usual_scheme, usual_host, usual_path) = parts(usual);
    // A server that listens on every interface is reached through the local one.
    let host = host.replace("0.0.0.0", "127.0.0.1");
    let host = match (&scheme, usual_host.rsplit_once(':')) {
        (None, Some((_, port))) if !host.contains(':') => format!("{host}:{port}"),
        _ => host,
    };
    let scheme = scheme.or(usual_scheme).unwrap_or_else(|| "http".to_owned());
    let path = path.or(usual_path).map_or_else(String::new, |path| format!("/{path}"));
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundled() -> BTreeMap<String, ProviderSection> {
        toml::from_str::<crate::Config>(BUNDLED).unwrap().providers
    }

    #[test]
    fn every_bundled_provider_has_an_address_and_a_key_or_a_command() {
        let providers = bundled();
        for name in "openai anthropic google mistral deepseek xai groq together fireworks openrouter ollama vllm lmstudio"
            .split(' ')
        {
            assert!(providers.contains_key(name), "{name}");
        }
        for (name, provider) in &providers {
            let url = provider.url.as_deref().unwrap_or_default();
            assert!(crate::is_valid_name(name) && url.starts_with("http"), "{name}");
            assert!(provider.is_local() || url.starts_with("https://"), "{name}");
            assert!(provider.is_local() || !provider.api_key_env.is_empty(), "{name}");
            for (model, keys) in &provider.models {
                let month = keys.get("price_date").and_then(Value::as_str);
                assert_eq!(keys.contains_key("price"), month.is_some(), "{name}/{model}: a price has a date");
                let digits = |month: &str| month.chars().filter(char::is_ascii_digit).count();
                assert!(month.is_none_or(|month| month.len() == 7 && digits(month) == 6), "{name}/{model}");
                assert!(month.is_none() || provider.prices.is_some(), "{name}: a price has a source");
            }
        }
    }

    #[test]
    fn longer_patterns_override_shorter_ones() {
        let openai = &bundled()["openai"];
        let keys = |model: &str| -> ModelSection {
            openai.model(model, &ProviderEnvironment::default()).try_into().unwrap()
        };
        let sends =
            |model: &str, parameter: &str| !keys(model).omit.iter().any(|omitted| omitted == parameter);
        assert!(sends("gpt-4.1", "temperature") && !sends("gpt-4.1", "top_k"));
        assert!(!sends("gpt-5", "temperature") && !sends("gpt-5-mini-2025-08-07", "temperature"));
        assert!(sends("gpt-5-chat-latest", "temperature"));
        assert!(keys("gpt-5").price.is_some() && keys("gpt-5").price_date.is_some());
        assert_eq!(keys("gpt-5-2025-08-07").price, None, "a price is that of the named model only");
        assert_eq!(keys("gpt-4.1").max_tokens_field, aske_model::TokensField::MaxCompletionTokens);
    }

    #[test]
    fn addresses_from_the_environment_are_completed() {
        let usual = "http://localhost:11434/v1";
        for (given, expected) in [
            ("0.0.0.0", "http://127.0.0.1:11434/v1"),
            ("127.0.0.1:9999", "http://127.0.0.1:9999/v1"),
            ("http://gpu-1:11434", "http://gpu-1:11434/v1"),
            ("http://gpu-1:11434/", "http://gpu-1:11434/v1"),
            ("https://gpu-1/ollama/v1", "https://gpu-1/ollama/v1"),
            ("https://gpu-1", "https://gpu-1/v1"),
        ] {
            assert_eq!(completed(given, usual), expected, "{given}");
        }
        assert_eq!(completed("http://proxy:4000", "https://api.openai.com/v1"), "http://proxy:4000/v1");
    }

    #[test]
    fn a_key_is_looked_up_in_the_first_variable_that_is_set() {
        let providers = bundled();
        let variable = |name: &str, set: &[&str]| {
            let set: Vec<_> = set.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
            providers[name].key_variable(&ProviderEnvironment::new(&providers, &set))
        };
        assert_eq!(variable("google", &[]).as_deref(), Some("GEMINI_API_KEY"));
        assert_eq!(variable("google", &["GOOGLE_API_KEY"]).as_deref(), Some("GOOGLE_API_KEY"));
        assert_eq!(variable("vllm", &[]), None);
        assert_eq!(variable("vllm", &["VLLM_API_KEY"]).as_deref(), Some("VLLM_API_KEY"));
        assert_eq!(variable("ollama", &["OLLAMA_HOST"]), None);
    }
}
