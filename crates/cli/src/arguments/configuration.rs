//! Which configuration a command uses, and the flags that override it.

use crate::completion;
use crate::error::CliError;
use crate::logging;
use crate::output::note_once;
use crate::runs::named::name_served;
use aske_config::{ConfigError, Layers};
use aske_record::Manifest;
use clap::Args;
use std::path::Path;
use toml::Value;

/// The help of `--config` for commands that train.
pub(crate) const TRAINING_CONFIG: &str = "A file, or a built-in configuration: nano-train, gpu-train, paper-train [default: ./aske.toml, else nano-train]";

/// The configuration and the flags that override it.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Configuration {
    /// A file, or a built-in configuration: nano, nano-train, local, paper-bench, paper-train [default: ./aske.toml, else nano]
    #[arg(short, long, value_name = "FILE|NAME", add = completion::configurations())]
    pub(crate) config: Option<String>,
    /// Set a configuration key; may be repeated
    #[arg(short = 'o', long = "override", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
    /// The model that asks: a configured one, a checkpoint folder, a GGUF file, URL#NAME, or PROVIDER/MODEL such as
    /// openai/gpt-5 or ollama/qwen3:0.6b
    #[arg(long, value_name = "MODEL", add = completion::models())]
    pub(crate) asker: Option<String>,
    /// The cross-check solver: the model that gives the reference answer, named like the asker
    #[arg(long, value_name = "MODEL", add = completion::models())]
    pub(crate) check: Option<String>,
    /// The boundary set, by its name in the configuration
    #[arg(long, value_name = "NAME", conflicts_with = "solvers", add = completion::sets())]
    pub(crate) set: Option<String>,
    /// The boundary solvers, separated by commas, named like the asker
    #[arg(long, value_name = "MODEL,…", value_delimiter = ',', add = completion::models())]
    pub(crate) solvers: Vec<String>,
    /// Probing rounds before the final question
    #[arg(long, value_name = "N")]
    pub(crate) rounds: Option<u32>,
    /// The seed of the run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(WHOLE))]
    pub(crate) seed: Option<u64>,
}

/// The configuration for commands that only look up models in it.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConfigurationSource {
    /// A file, or a built-in configuration: nano, nano-train, local, paper-bench, paper-train [default: ./aske.toml, else nano]
    #[arg(short, long, value_name = "FILE|NAME", add = completion::configurations())]
    config: Option<String>,
    /// Set a configuration key; may be repeated
    #[arg(short = 'o', long = "override", value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

impl ConfigurationSource {
    /// Loads the layers with these flags on top.
    pub(crate) fn load(&self) -> Result<Layers, CliError> {
        let (config, overrides) = (self.config.clone(), self.overrides.clone());
        Configuration { config, overrides, ..Configuration::default() }.load(Vec::new())
    }
}

impl Configuration {
    /// These flags over those of `base`.
    pub(crate) fn over(self, base: &Self) -> Self {
        let chooses_solvers = self.set.is_some() || !self.solvers.is_empty();
        let solvers = if chooses_solvers { &self } else { base };
        Self {
            set: solvers.set.clone(),
            solvers: solvers.solvers.clone(),
            overrides: base.overrides.iter().chain(&self.overrides).cloned().collect(),
            config: self.config.or_else(|| base.config.clone()),
            asker: self.asker.or_else(|| base.asker.clone()),
            check: self.check.or_else(|| base.check.clone()),
            rounds: self.rounds.or(base.rounds),
            seed: self.seed.or(base.seed),
        }
    }

    /// The flags as they are given on a command line, for follow-up commands.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
        if let Some(config) = &self.config {
            add("--config", config.clone());
        }
        for text in &self.overrides {
            add("--override", shown_override(text));
        }
        for (flag, _, value) in self.flags() {
            match value {
                Some(Value::String(text)) => add(flag, text),
                Some(Value::Array(_)) => add(flag, self.solvers.join(",")),
                Some(number) => add(flag, number.to_string()),
                None => {}
            }
        }
        words
    }

    /// The flags of single keys, except `--override`.
    fn flags(&self) -> [Flag<'static>; 6] {
        let text = |value: &Option<String>| value.clone().map(Value::String);
        let solvers = (!self.solvers.is_empty()).then(|| Value::from(self.solvers.clone()));
        [
            ("--asker", "asker.model", text(&self.asker)),
            ("--check", "check.model", text(&self.check)),
            ("--set", "boundary.set", text(&self.set)),
            ("--solvers", "boundary.solvers", solvers),
            ("--rounds", "protocol.rounds", self.rounds.map(|n| Value::Integer(n.into()))),
            ("--seed", "run.seed", self.seed.map(whole)),
        ]
    }

    /// This configuration; `nano-train` if none is given and there is no `aske.toml`.
    pub(crate) fn or_nano_train(&self) -> Self {
        let mut configuration = self.clone();
        if configuration.config.is_none() && !Layers::has_default() {
            configuration.config = Some("nano-train".to_owned());
        }
        configuration
    }

    /// Loads the layers with these flags, and `more`, on top. Models may be named by an address, a file, a folder or their
    /// provider.
    pub(crate) fn load(&self, more: Vec<Flag<'_>>) -> Result<Layers, CliError> {
        let flags = given(&self.overrides, self.flags().into_iter().chain(more))?;
        // The set `local` has its own configuration, with budgets that suit it.
        let local = self.set.as_deref().filter(|set| *set == "local");
        named(Layers::load(self.config.as_deref().or(local), environment(), &flags)?)
    }

    /// As [`Self::load`]; but where nothing else says what the experiment is, the run in the folder does.
    pub(crate) fn load_for(&self, run: Option<&Path>, more: Vec<Flag<'_>>) -> Result<Layers, CliError> {
        let chosen = self.config.is_some() || self.set.is_some() || !self.solvers.is_empty();
        let Some(run) = run.filter(|_| !chosen && !Layers::has_default()) else { return self.load(more) };
        let Some(manifest) = Manifest::read(run)?.filter(|manifest| !manifest.is_eval()) else {
            return self.load(more);
        };
        let flags = given(&self.overrides, self.flags().into_iter().chain(more))?;
        named(Layers::of_run(manifest.config, &run.join("run.toml"), None, environment(), &flags)?)
    }
}

/// Prints the notices of the layers, and names the models of servers that have only one.
fn named(mut layers: Layers) -> Result<Layers, CliError> {
    layers.notices().iter().for_each(note_once);
    name_served(&mut layers)?;
    Ok(layers)
}

/// A flag, the key that it sets, and its value if it is given.
pub(crate) type Flag<'a> = (&'a str, &'a str, Option<Value>);

/// The overrides, and the flags that are given.
pub(super) fn given<'a>(
    overrides: &[String],
    flags: impl IntoIterator<Item = Flag<'a>>,
) -> Result<Vec<(String, String, Value)>, ConfigError> {
    let mut given =
        overrides.iter().map(|text| Layers::parse_override(text)).collect::<Result<Vec<_>, _>>()?;
    for (flag, key, value) in flags {
        given.extend(value.map(|value| (flag.to_owned(), key.to_owned(), value)));
    }
    Ok(given)
}

/// `KEY=VALUE` without secrets.
pub(crate) fn shown_override(text: &str) -> String {
    let flag = Layers::parse_override(text).map(|(flag, ..)| flag);
    flag.ok().and_then(|flag| Some(flag.strip_prefix("--override ")?.to_owned())).unwrap_or_default()
}

/// Environment variables that may set configuration keys. Skips variables that are not valid UTF-8.
pub(crate) fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter(|(name, _)| name != logging::VARIABLE)
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// The integers that a TOML value can hold.
pub(super) const WHOLE: std::ops::RangeInclusive<u64> = 0..=i64::MAX as u64;

/// An integer as a TOML value; arguments are limited to [`WHOLE`].
pub(crate) fn whole(number: u64) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// How the plan of `aske bench` or `aske eval` is executed, and what is printed.
#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate flag")]
pub(crate) struct Execution {
    /// Maximum number of concurrent sessions or answers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(WHOLE))]
    concurrency: Option<u64>,
    /// Stop when all calls stored in the folder have cost this much
    #[arg(long, value_name = "USD")]
    budget_usd: Option<f64>,
    /// Stop when all calls stored in the folder have used this many tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(WHOLE))]
    budget_tokens: Option<u64>,
    /// Stop after this many minutes
    #[arg(long, value_name = "MINUTES")]
    budget_minutes: Option<f64>,
    /// Run an experiment that differs from the one in the usual folder in a new folder, also if models cost money
    #[arg(long)]
    pub(crate) new: bool,
    /// Show the plan and what it is expected to use, without calling a model
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Start without trying each model that is called over HTTP once
    #[arg(long)]
    pub(crate) no_probe: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Execution {
    /// The flags that set configuration keys.
    pub(crate) fn flags(&self) -> [Flag<'static>; 4] {
        [
            ("--concurrency", "run.concurrency", self.concurrency.map(whole)),
            ("--budget-usd", "run.budget_usd", self.budget_usd.map(Value::Float)),
            ("--budget-tokens", "run.budget_tokens", self.budget_tokens.map(whole)),
            ("--budget-minutes", "run.budget_minutes", self.budget_minutes.map(Value::Float)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_repeated() {
        use clap::Parser;
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            configuration: Configuration,
        }
        let words = [
            "--config",
            "my.toml",
            "--override",
            "run.samples=3",
            "--asker",
            "a",
            "--check",
            "c",
            "--solvers",
            "x,y",
            "--rounds",
            "2",
            "--seed",
            "7",
        ];
        let parsed = Line::parse_from(std::iter::once("aske").chain(words)).configuration;
        assert_eq!(parsed.words(), words);
        let set = Line::parse_from(["aske", "--set", "small"]).configuration;
        assert_eq!(set.words(), ["--set", "small"]);
    }
}
