//! Which models of a configuration are served on this machine, and their sequence lengths and concurrency.

use crate::arguments::Planning;
use crate::error::CliError;
use aske_config::{ModelSection, ProviderKind, Settings, did_you_mean};
use aske_fleet::{Model, ModelFolder, Quantisation};
use aske_session::Protocol;
use std::path::Path;

/// The models to serve here, and the solvers that are served elsewhere.
pub(crate) struct Served {
    pub(crate) models: Vec<Model>,
    pub(crate) elsewhere: Vec<String>,
}

/// Tokens of a prompt with a question of 200 words, or of a grading request.
pub(crate) const PROMPT_TOKENS: u32 = 2048;
/// Lengths are rounded up to a multiple of this.
const LENGTH_STEP: u32 = 1024;

pub(crate) fn served(settings: &Settings, planning: &Planning) -> Result<Served, CliError> {
    let is_elsewhere = |(name, role): &(&str, Role)| {
        *role == Role::Solver && settings.models.get(*name).is_some_and(|section| !is_here(section))
    };
    let elsewhere = roles(settings).filter(is_elsewhere).map(|(name, _)| name.to_owned()).collect();
    let here = |name: &str, section: &ModelSection| is_here(section).then(|| hub(name, section));
    let mut models = placed(settings, here, |_| planning.length, planning.sequences)?;
    apply_flags(&mut models, planning)?;
    Ok(Served { models, elsewhere })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Solver,
    Asker,
    Check,
    Equivalence(u32),
}

fn roles(settings: &Settings) -> impl Iterator<Item = (&str, Role)> {
    let solvers = settings.solvers.iter().map(|solver| (solver.model.as_str(), Role::Solver));
    let equivalence =
        settings.equivalence.iter().map(|(role, tokens)| (role.model.as_str(), Role::Equivalence(*tokens)));
    let others = [(settings.asker.model.as_str(), Role::Asker), (settings.check.model.as_str(), Role::Check)];
    solvers.chain(others).chain(equivalence)
}

/// Whether the URL of a model points to this machine.
pub(crate) fn is_here(section: &ModelSection) -> bool {
    let host = |url: &String| {
        let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let authority = rest.split('/').next().unwrap_or_default();
        authority.rsplit_once(':').map_or(authority, |(host, _)| host).to_owned()
    };
    let own = |host: String| matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]" | "0.0.0.0");
    section.provider == Some(ProviderKind::Openai) && section.url.to_vec().first().map(host).is_some_and(own)
}

/// The name of a model on its server.
pub(crate) fn hub(name: &str, section: &ModelSection) -> String {
    section.model.clone().unwrap_or_else(|| name.to_owned())
}

/// The models to serve: those for which `hub` gives a repository or a folder, each once. `length` and `sequences` replace
/// those that follow from the protocol and the concurrency.
pub(crate) fn placed(
    settings: &Settings,
    hub: impl Fn(&str, &ModelSection) -> Option<String>,
    length: impl Fn(Role) -> Option<u32>,
    sequences: Option<u32>,
) -> Result<Vec<Model>, CliError> {
    let mut models: Vec<Model> = Vec::new();
    for (name, role) in roles(settings) {
        let Some(section) = settings.models.get(name) else { continue };
        let Some(hub) = hub(name, section) else { continue };
        let length = length(role).unwrap_or_else(|| self::length(&settings.protocol, role));
        let most = count(settings.run.concurrency.min(section.limits.concurrency));
        let sequences = sequences.unwrap_or_else(|| {
            let share = match role {
                // A session calls two solvers; some are called more often than others.
                Role::Solver => (4 * most).div_ceil(count(settings.solvers.len()).max(1)),
                // Every other role is called less often.
                Role::Asker | Role::Check | Role::Equivalence(_) => most.div_ceil(4),
            };
            share.clamp(1, most.max(1))
        });
        let known = models.iter().position(|model| model.hub == hub);
        let at = known.unwrap_or(models.len());
        if known.is_none() {
            models.push(Model {
                folder: folder(&hub)?,
                length: 0,
                sequences: 0,
                max_num_seqs: 0,
                solver: false,
                ..Model::solver(name, &hub)
            });
        }
        let model = &mut models[at];
        if model.name != name && !model.aliases.iter().any(|alias| alias == name) {
            model.aliases.push(name.to_owned());
        }
        model.params = model.params.or(section.params);
        model.length = model.length.max(length);
        model.sequences = model.sequences.max(sequences);
        model.max_num_seqs = model.max_num_seqs.max(most);
        model.solver |= role == Role::Solver;
        model.resident |= role != Role::Solver;
    }
    Ok(models)
}

/// What the folder of a model says, if it is a local one.
fn folder(hub: &str) -> Result<Option<ModelFolder>, CliError> {
    let path = Path::new(hub);
    Ok(if path.is_dir() { Some(ModelFolder::read(path)?) } else { None })
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX / 8)
}

/// The maximum sequence length of the asker, prompt and answer.
pub(crate) fn asker_length(protocol: &Protocol) -> u32 {
    length(protocol, Role::Asker)
}

/// The maximum sequence length of a role, prompt and answer.
fn length(protocol: &Protocol, role: Role) -> u32 {
    let tokens = match role {
        Role::Solver => protocol.solver_tokens.max(protocol.solver_final_tokens) + PROMPT_TOKENS,
        Role::Asker => {
            // Both answers of a round are returned shortened; a token is at most three characters here.
            let answers = 2 * count(protocol.summary_chars) / 3 + 256;
            protocol.rounds * (protocol.asker_tokens + answers) + protocol.asker_final_tokens + PROMPT_TOKENS
        }
        Role::Check => protocol.check_tokens + PROMPT_TOKENS,
        Role::Equivalence(tokens) => tokens + PROMPT_TOKENS,
    };
    tokens.div_ceil(LENGTH_STEP) * LENGTH_STEP
}

/// Applies --quantisation and --flag.
fn apply_flags(models: &mut [Model], planning: &Planning) -> Result<(), CliError> {
    for text in &planning.quantisation {
        let (name, kind) =
            text.split_once('=').map_or((None, text.as_str()), |(name, kind)| (Some(name), kind));
        if kind != "fp8" {
            return Err(CliError::usage(format!("--quantisation {text}: `{kind}` is not known"), "use fp8"));
        }
        for model in named(models, "--quantisation", name)? {
            model.quantisation = Some(Quantisation::Fp8);
        }
    }
    for text in &planning.flag {
        // `--flag=value` is a flag with a value; only a model name may precede it.
        let own = text.split_once('=').filter(|(name, _)| !name.starts_with('-'));
        let (name, flag) = own.map_or((None, text.as_str()), |(name, flag)| (Some(name), flag));
        for model in named(models, "--flag", name)? {
            model.flags.push(flag.to_owned());
        }
    }
    Ok(())
}

/// All models, or the one with this name.
fn named<'m>(
    models: &'m mut [Model],
    flag: &str,
    name: Option<&str>,
) -> Result<Vec<&'m mut Model>, CliError> {
    let Some(name) = name else { return Ok(models.iter_mut().collect()) };
    let is = |model: &Model| model.name == name || model.aliases.iter().any(|alias| alias == name);
    if !models.iter().any(is) {
        let known = models.iter().map(|model| model.name.as_str());
        let hint = did_you_mean(name, known, "`aske fleet plan` shows what is served here");
        return Err(CliError::usage(format!("{flag}: no server of this fleet is `{name}`"), hint));
    }
    Ok(models.iter_mut().filter(|model| is(model)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(url: &str) -> ModelSection {
        let url = aske_config::OneOrMany::One(url.to_owned());
        ModelSection { provider: Some(ProviderKind::Openai), url, ..ModelSection::default() }
    }

    #[test]
    fn only_addresses_of_this_machine_are_served_here() {
        for here in ["http://localhost:8001/v1", "http://127.0.0.1/v1", "http://[::1]:9/v1"] {
            assert!(is_here(&section(here)), "{here}");
        }
        for away in ["https://api.openai.com/v1", "http://boundary:8001/v1", "http://localhost.example/v1"] {
            assert!(!is_here(&section(away)), "{away}");
        }
    }

    #[test]
    fn lengths_follow_the_papers_budgets() {
        let paper = Protocol::default();
        // 6,000 tokens of a final answer and its prompt: 8,048, in steps of 1,024.
        assert_eq!(length(&paper, Role::Solver), 8192);
        assert!(length(&paper, Role::Asker) > 4 * paper.asker_tokens + paper.asker_final_tokens);
    }
}
