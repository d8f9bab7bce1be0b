//! The settings of `aske eval`: a model, optionally a judge, and no boundary solvers.

use crate::settings::{Models, check_names, check_run, in_range};
use crate::{ConfigError, Layers, ModelSection, ProviderKind, RoleSettings, Settings};
use aske_session::{Domain, Pack, Protocol};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

impl Layers {
    /// The settings for the evaluation of one model, which is the asker of the settings; the judge is their equivalence
    /// checker.
    pub fn eval_settings(&self, model: &str) -> Result<Settings, ConfigError> {
        let config = self.config();
        let section = &config.eval;
        check_names(config)?;
        check_run(&config.run)?;
        in_range("eval.samples", section.samples > 0, "at least 1")?;
        in_range("eval.max_tokens", section.max_tokens > 0, "above 0")?;
        in_range("eval.judge.max_tokens", section.judge.max_tokens > 0, "above 0")?;
        let mut models = Models { layers: self, used: BTreeMap::new() };
        let role = models.role("MODEL", model, &section.sampling)?;
        if let Some(found) = models.used.get_mut(model) {
            set_template_defaults(&section.chat_template_kwargs, found);
        }
        let judge = match &section.judge.model {
            Some(name) => {
                let role = models.role("eval.judge.model", name, &section.judge.sampling)?;
                Some((role, section.judge.max_tokens))
            }
            None => None,
        };
        let domain = Domain::math();
        Ok(Settings {
            protocol: Protocol::default(),
            pack: Arc::new(Pack::builtin(&domain)),
            domain,
            asker: role.clone(),
            solvers: Vec::<RoleSettings>::new(),
            check: role,
            equivalence: judge,
            run: config.run.clone(),
            models: models.used,
        })
    }
}

/// Sets chat template variables that the model's section does not set. Hosted servers are left out: some reject unknown
/// parameters. Checkpoint folders get those that their template mentions.
fn set_template_defaults(template: &toml::Table, section: &mut ModelSection) {
    let mut template = template.clone();
    match section.provider {
        Some(ProviderKind::Llama) => {}
        Some(ProviderKind::Openai) if section.api_key_env.is_none() => {}
        Some(ProviderKind::Local) => {
            let text = chat_template(Path::new(section.path.as_deref().unwrap_or_default()));
            template.retain(|key, _| text.contains(key));
        }
        _ => return,
    }
    if template.is_empty() {
        return;
    }
    let given = section
        .extra_body
        .entry("chat_template_kwargs")
        .or_insert_with(|| toml::Value::Table(toml::Table::new()));
    if let toml::Value::Table(given) = given {
        for (key, value) in template {
            given.entry(&key).or_insert(value);
        }
    }
}

/// The files of a checkpoint that may have its chat template, as one text.
fn chat_template(folder: &Path) -> String {
    let files = ["chat_template.jinja", "chat_template.json", "tokenizer_config.json"];
    files.iter().filter_map(|file| std::fs::read_to_string(folder.join(file)).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(flags: &[&str]) -> Layers {
        let flags: Vec<_> = flags
            .iter()
            .map(|text| {
                let (_, key, value) = Layers::parse_override(text).unwrap();
                ((*text).to_owned(), key, value)
            })
            .collect();
        Layers::load(Some("nano"), std::iter::empty(), &flags).unwrap()
    }

    #[test]
    fn the_defaults_are_the_papers() {
        let layers = Layers::load(Some("paper-train"), std::iter::empty(), &[]).unwrap();
        let section = &layers.config().eval;
        assert_eq!((section.samples, section.max_tokens), (8, 32_000));
        let settings = layers.eval_settings("qwen3.5-4b-asker").unwrap();
        let sampling = serde_json::to_value(&settings.asker.sampling).unwrap();
        assert_eq!(
            sampling,
            serde_json::json!({
                "temperature": 1.0, "top_p": 0.95, "top_k": 20, "min_p": 0.0,
                "presence_penalty": 1.5, "repetition_penalty": 1.0,
            })
        );
        assert!(settings.equivalence.is_none() && settings.solvers.is_empty());
        assert_eq!(settings.models.len(), 1, "nobody else is needed");
    }

    #[test]
    fn one_value_of_the_sampling_changes_no_other() {
        let settings =
            layers(&["boundary.sampling.top_p=0.9", "check.sampling.top_p=0.9"]).settings().unwrap();
        for role in settings.solvers.iter().chain([&settings.check]) {
            assert_eq!((role.sampling.top_p, role.sampling.temperature), (Some(0.9), Some(0.7)));
        }
        let settings = layers(&["eval.sampling.presence_penalty=0"]).eval_settings("nano-asker").unwrap();
        let sampling = settings.asker.sampling;
        assert_eq!(
            (sampling.presence_penalty, sampling.top_k, sampling.temperature),
            (Some(0.0), Some(20), Some(1.0))
        );
    }

    #[test]
    fn thinking_is_off_unless_the_model_says_otherwise_or_has_a_key() {
        let thinking = |flags: &[&str]| {
            let flags: Vec<&str> = ["models.m.provider=openai", "models.m.url=http://x/v1"]
                .iter()
                .chain(flags)
                .copied()
                .collect();
            let settings = layers(&flags).eval_settings("m").unwrap();
            let given = settings.models["m"].extra_body.get("chat_template_kwargs").cloned();
            given.and_then(|given| given.get("enable_thinking")?.as_bool())
        };
        assert_eq!(thinking(&[]), Some(false));
        assert_eq!(thinking(&["models.m.extra_body.chat_template_kwargs.enable_thinking=true"]), Some(true));
        assert_eq!(thinking(&["models.m.api_key_env=KEY"]), None);
    }

    #[test]
    fn a_checkpoint_gets_the_variables_that_its_template_has() {
        let folder = tempfile::tempdir().unwrap();
        let template = || {
            let path = format!("models.m.path={}", folder.path().display());
            let settings = layers(&["models.m.provider=local", &path]).eval_settings("m").unwrap();
            settings.models["m"].extra_body.get("chat_template_kwargs").cloned()
        };
        std::fs::write(folder.path().join("tokenizer_config.json"), "{}").unwrap();
        assert_eq!(template(), None);
        let thinking = "{% if enable_thinking %}<think>{% endif %}";
        std::fs::write(folder.path().join("chat_template.jinja"), thinking).unwrap();
        let off = toml::Table::from_iter([("enable_thinking".to_owned(), toml::Value::Boolean(false))]);
        assert_eq!(template(), Some(toml::Value::Table(off)));
    }

    #[test]
    fn bundled_models_are_prompted_with_the_instruction_they_were_trained_on() {
        let files = Pack::extra_files("nano").unwrap();
        let taught = files["solver_final_suffix.txt"].trim();
        let config = layers(&[]).config().clone();
        let ships =
            |model: &&ModelSection| model.path.as_ref().is_some_and(|path| path.starts_with("builtin:"));
        let networks: Vec<&ModelSection> = config.models.values().filter(ships).collect();
        assert_eq!(networks.len(), 10);
        for network in networks {
            assert_eq!(config.eval.instruction_for(network), Some(taught));
        }
        assert_eq!(config.eval.instruction_for(&config.models["staircase"]), None);
        let config = layers(&["eval.instruction=Answer."]).config().clone();
        assert_eq!(config.eval.instruction_for(&config.models["nano-1m"]), Some("Answer."));
    }

    #[test]
    fn a_judge_is_a_model_of_its_own() {
        let settings = layers(&["eval.judge.model=nano-check"]).eval_settings("nano-asker").unwrap();
        let (judge, tokens) = settings.equivalence.unwrap();
        assert_eq!((judge.model.as_str(), tokens), ("nano-check", 4_000));
        assert!(layers(&["eval.samples=0"]).eval_settings("nano-asker").is_err());
        assert!(layers(&[]).eval_settings("staircase").is_err(), "it can only ask");
    }
}
