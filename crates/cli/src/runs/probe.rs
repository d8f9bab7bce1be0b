//! Calls every remote model once before a run. A wrong key, name or address stops the command before anything is created.

use super::named::address;
use super::progress::Spinner;
use crate::error::{CliError, Exit};
use crate::output::{NOTE, note, paint, safe_line};
use crate::runtime::shutdown_signal;
use crate::shell::command;
use aske_bench::{Budget, ModelRegistry, PlannedSession, Probes, needed_roles, probe};
use aske_config::{ModelSection, ProviderKind, RoleSettings, Settings, is_env_var_name};
use aske_model::{ErrorCause, ModelError};
use aske_record::RunDir;
use aske_report::number::counted;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// What to probe: the models of a run, unless `--no-probe` is given.
#[derive(Clone, Copy)]
pub(crate) struct Probing<'p> {
    pub(crate) settings: &'p Settings,
    pub(crate) models: &'p ModelRegistry,
    pub(crate) skip: bool,
}

impl Probing<'_> {
    /// Opens a run folder and probes the roles that it needs; the replies are stored there. A new folder is created only after
    /// the probes; in an existing one, `needed` decides by what it has.
    pub(crate) async fn open<'r>(
        self,
        path: &Path,
        open: impl FnOnce() -> Result<RunDir, CliError>,
        needed: impl Fn(Option<&RunDir>) -> Result<Vec<&'r RoleSettings>, CliError>,
    ) -> Result<RunDir, CliError> {
        // A file in its place is an error of `open`.
        if path.join("run.toml").exists() || path.is_file() {
            let folder = open()?;
            self.within(&folder, &needed(Some(&folder))?).await?;
            return Ok(folder);
        }
        let probes = self.probe(&needed(None)?).await?;
        let folder = open()?;
        probes.store(folder.calls()).await?;
        Ok(folder)
    }

    /// Probes these roles for further work in an existing folder, unless its budget is used up.
    pub(crate) async fn within(self, folder: &RunDir, roles: &[&RoleSettings]) -> Result<(), CliError> {
        if Budget::new(&self.settings.run, folder.calls())?.exhausted().is_none() {
            self.probe(roles).await?.store(folder.calls()).await?;
        }
        Ok(())
    }

    /// Probes these roles: says what answered, warns of what may pass, and fails for what cannot be used.
    async fn probe(self, roles: &[&RoleSettings]) -> Result<Probes, CliError> {
        // Not those whose servers this command starts.
        let served = |role: &&&RoleSettings| {
            let section = self.settings.models.get(&role.model);
            section.is_some_and(|section| section.provider == Some(ProviderKind::Openai))
        };
        let roles: Vec<&RoleSettings> = roles.iter().filter(served).copied().collect();
        let names: BTreeSet<&str> = roles.iter().map(|role| role.model.as_str()).collect();
        if self.skip || names.is_empty() {
            return Ok(Probes::default());
        }
        let (begun, spinner) = (Instant::now(), Spinner::new());
        let waiting = async {
            loop {
                tokio::time::sleep(Duration::from_millis(250)).await;
                let seconds = begun.elapsed().as_secs();
                spinner.set(|| format!("trying {}, {seconds} s", counted(names.len(), "model")));
            }
        };
        let result = tokio::select! {
            probed = probe(self.models, &roles) => probed,
            () = shutdown_signal() => return Err(CliError::interrupted()),
            () = waiting => return Err(CliError::interrupted()),
        };
        drop(spinner);
        let probes = result.map_err(|errors| self.unusable(&errors, names.len()))?;
        if probes.replied() > 0 {
            let answer = if probes.replied() == 1 { "answers" } else { "answer" };
            let cost = if probes.cost().0 > 0.0 { format!(", {}", probes.cost()) } else { String::new() };
            let (models, seconds) = (counted(probes.replied(), "model"), begun.elapsed().as_secs_f64());
            note(format_args!("{models} {answer}, tried once each in {seconds:.1} s{cost}"));
        }
        for warning in &probes.warnings {
            note(format_args!(
                "{} {}; its calls are retried",
                paint(NOTE.bold(), "warning:"),
                safe_line(&warning.to_string())
            ));
        }
        Ok(probes)
    }

    /// The error of models that cannot be used.
    fn unusable(&self, errors: &[ModelError], tried: usize) -> CliError {
        let lines: Vec<String> = errors.iter().map(|error| safe_line(&error.to_string())).collect();
        // Models that fail alike need the same.
        let mut causes = BTreeSet::new();
        let first = errors.iter().filter(|error| causes.insert(error.cause));
        let mut hints: Vec<String> =
            first.filter_map(|error| Some(hint(error, self.settings.models.get(&error.model)?))).collect();
        hints.push("--no-probe starts without trying the models".to_owned());
        let (failed, tried) = (errors.len(), counted(tried, "model"));
        CliError {
            message: format!(
                "{failed} of {tried} cannot be used; nothing was started\n  {}",
                lines.join("\n  ")
            ),
            hint: Some(hints.join("\n      ")),
            exit: Exit::Failures,
        }
    }
}

/// The roles that the open sessions of a plan need, for [`Probing::open`].
pub(crate) fn of_plan<'s>(
    settings: &'s Settings,
    plan: &[PlannedSession],
    folder: Option<&RunDir>,
) -> Result<Vec<&'s RoleSettings>, CliError> {
    let recorded = |planned: &&PlannedSession| {
        folder.is_some_and(|folder| folder.index().contains(&planned.id.to_string()))
    };
    let open: Vec<&PlannedSession> = plan.iter().filter(|planned| !recorded(planned)).collect();
    Ok(needed_roles(settings, &open, folder.map(RunDir::calls))?)
}

/// What to type about a model that cannot be used.
fn hint(error: &ModelError, section: &ModelSection) -> String {
    let model = &error.model;
    match (error.cause, &section.api_key_env) {
        (ErrorCause::Auth, Some(variable)) if is_env_var_name(variable) => {
            format!("`export {variable}=…` with a key that is valid for `{model}`")
        }
        (ErrorCause::Auth, _) => {
            format!("name the variable with its key: {}", setting(model, "api_key_env", "VARIABLE"))
        }
        (ErrorCause::NotFound, None) => {
            let url = address(section);
            format!("most addresses end in /v1; `aske models {url}` lists the models at {url}")
        }
        (ErrorCause::NotFound, _) => format!(
            "name it as its server does: {}; `aske models {model}` says whether the server lists it",
            setting(model, "model", "NAME")
        ),
        (ErrorCause::Network, _) => format!(
            "is the server at {} running, and is this its address? Another one: {}",
            address(section),
            setting(model, "url", "http://HOST:PORT/v1")
        ),
        _ => error.hint_with_limits("the token limits"),
    }
}

/// The flag that sets a key of a model.
fn setting(model: &str, key: &str, value: &str) -> String {
    let name = if model.contains('.') { format!("\"{model}\"") } else { model.to_owned() };
    command(["-o", &format!("models.{name}.{key}={value}")])
}
