//! Measures the asker before and after training: the benchmark with a fixed cross-check solver, and held-out questions.

use super::seed_folder;
use super::trained::measured;
use crate::arguments::{Configuration, Serving, Train};
use crate::error::{CliError, Exit};
use crate::output::note;
use crate::runs::execute::{Amount, Target, run_and_report};
use crate::runs::folders;
use crate::runs::probe::{Probing, of_plan};
use crate::runs::servers::{Hosting, Servers, during};
use crate::runtime::{runtime, shutdown_signal};
use aske_bench::{ModelRegistry, Runner, Selection, plan};
use aske_config::{Layers, MeasureSection, ModelSection, ProviderKind, Settings, TrainSection};
use aske_report::number::counted;
use aske_train::reinforce::{HeldOutEval, evaluate_held_out};
use std::path::{Path, PathBuf};
use toml::Value;

/// The measurements of a training.
pub(super) struct Measures {
    section: MeasureSection,
    config: String,
    configuration: Configuration,
    asker: String,
    model: ModelSection,
    root: PathBuf,
    serving: Serving,
    no_probe: bool,
}

impl Measures {
    /// `None` if the configuration measures nothing.
    pub(super) fn new(
        arguments: &Train,
        plan: &TrainSection,
        configuration: &Configuration,
        settings: &Settings,
        root: &Path,
    ) -> Result<Option<Self>, CliError> {
        let Some(config) = plan.measure.config.clone() else { return Ok(None) };
        let asker = settings.asker.model.clone();
        let measures = Self {
            section: plan.measure.clone(),
            config,
            configuration: Configuration {
                overrides: Vec::new(),
                rounds: None,
                check: None,
                ..configuration.clone()
            },
            model: settings.models[&asker].clone(),
            asker,
            root: root.to_owned(),
            no_probe: arguments.no_probe,
            serving: Serving {
                gpus: arguments.gpus,
                vllm: arguments.vllm.clone(),
                vllm_flag: plan.vllm.flags.clone(),
            },
        };
        // Reports a wrong name before hours of training, not after.
        measures.servers(&measures.layers(&measures.asker, &measures.model)?.settings()?)?;
        Ok(Some(measures))
    }

    /// The folder of the benchmark before any training.
    pub(super) fn folder_before(&self) -> PathBuf {
        self.root.join("before")
    }

    /// The folder of the benchmark after training with a seed.
    pub(super) fn folder_after(&self, seed: u64) -> PathBuf {
        measured(&self.root, seed)
    }

    /// Measures the untrained asker.
    pub(super) fn before(&self) -> Result<Exit, CliError> {
        self.run("before", &self.asker, &self.model, &self.folder_before())
    }

    /// Measures the asker trained with a seed.
    pub(super) fn after(&self, seed: u64) -> Result<Exit, CliError> {
        let trained = seed_folder(&self.root, seed).join("trained");
        // Absolute, so that the model of the measurement is the same from any working directory.
        let trained = std::path::absolute(&trained).unwrap_or(trained);
        let model = ModelSection {
            provider: Some(ProviderKind::Local),
            path: Some(trained.display().to_string()),
            ..self.model.clone()
        };
        let name = format!("{}-seed-{seed}", self.asker);
        self.run("after", &name, &model, &self.folder_after(seed))
    }

    fn layers(&self, asker: &str, model: &ModelSection) -> Result<Layers, CliError> {
        let configuration = Configuration {
            config: Some(self.config.clone()),
            asker: Some(asker.to_owned()),
            ..self.configuration.clone()
        };
        let model = Value::try_from(model).unwrap_or_else(|_| Value::Table(toml::Table::new()));
        let key = format!("models.\"{asker}\"");
        configuration.load(vec![
            ("train.measure.samples", "run.samples", Some(Value::Integer(self.section.samples.into()))),
            ("train.measure", &key, Some(model)),
        ])
    }

    /// The servers of a measurement. With --gpus also those of the solvers, as during training; a bundled asker is measured in
    /// this process before training and therefore after it, too.
    fn servers(&self, settings: &Settings) -> Result<Option<Servers>, CliError> {
        let bundled = self.model.path.as_deref().is_some_and(|path| path.starts_with("builtin:"));
        let serving = Serving { gpus: self.serving.gpus.filter(|_| !bundled), ..self.serving.clone() };
        Servers::find(settings, Hosting { with_fleet: true, ..Hosting::of(&serving) })
    }

    fn run(&self, when: &str, asker: &str, model: &ModelSection, path: &Path) -> Result<Exit, CliError> {
        let layers = self.layers(asker, model)?;
        let settings = layers.settings()?;
        let plan = plan(&settings, &Selection::default())?;
        let servers = self.servers(&settings)?;
        let models = Servers::registry(servers.as_ref(), &settings, path)?;
        // Servers that are started here are ready before they are called.
        let skip = self.no_probe || servers.is_some();
        let probing = Probing { settings: &settings, models: &models, skip };
        let folder = runtime()?.block_on(probing.open(
            path,
            || folders::open(path, &layers, &settings),
            |folder| of_plan(&settings, &plan, folder),
        ))?;
        let done = folder.grades().len();
        let open = plan.len().saturating_sub(done);
        note(format_args!(
            "{when}: {asker} asks {}, with {} as the cross-check solver; into {}",
            counted(plan.len(), "session"),
            settings.check.model,
            path.display()
        ));
        let target = Target { settings: &settings, models: &models, folder: &folder };
        let exam = self.section.exam_questions > 0 && HeldOutEval::read(path).is_none();
        let amount = Amount { finished: plan.len() - open, open };
        let work = async {
            let sessions = run_and_report(amount, "sessions", target, async |context, progress| {
                Ok(Runner::new(context).run(&plan, progress).await?.jobs)
            });
            let ended = sessions.await?;
            if ended == Exit::Done && exam {
                self.examine(&settings, &models, path).await?;
            }
            Ok(ended)
        };
        runtime()?.block_on(during(servers.as_ref().filter(|_| open > 0 || exam), path, work))
    }

    /// The asker as a solver, on held-out questions of the nano world.
    async fn examine(
        &self,
        settings: &Settings,
        models: &ModelRegistry,
        path: &Path,
    ) -> Result<(), CliError> {
        let Some(model) = models.get(&settings.asker.model) else { return Ok(()) };
        let (questions, samples) = (self.section.exam_questions, self.section.exam_samples);
        let tokens = settings.protocol.check_tokens;
        let exam = tokio::select! {
            exam = evaluate_held_out(model, &settings.pack, tokens, questions, samples) => exam,
            () = shutdown_signal() => return Ok(()),
        };
        exam.map_err(CliError::failure)?.write(path).map_err(CliError::failure)
    }
}
