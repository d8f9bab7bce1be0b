//! What the asker can do before and after: the benchmark with a fixed cross-check solver, and an exam.

use super::folder_of;
use super::trained::measured;
use crate::arguments::Configuration;
use crate::commands::bench::{exit, open, report_open};
use crate::output::note;
use crate::panels::watched;
use crate::problem::{Exit, Problem};
use aske_bench::{ModelRegistry, Runner, Selection, plan};
use aske_config::{Layers, MeasureSection, ModelSection, ProviderKind, Settings, TrainSection};
use aske_train::reinforce::{Exam, exam};
use std::path::{Path, PathBuf};
use toml::Value;

/// The measurements of a training.
pub(super) struct Measures {
    section: MeasureSection,
    config: String,
    configuration: Configuration,
    asker: String,
    model: ModelSection,
    place: PathBuf,
}

impl Measures {
    /// None where nothing is to be measured.
    pub(super) fn new(
        plan: &TrainSection,
        configuration: &Configuration,
        settings: &Settings,
        place: &Path,
    ) -> Result<Option<Self>, Problem> {
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
            place: place.to_owned(),
        };
        // A wrong name is told before hours of training, not after.
        measures.layers(&measures.asker, &measures.model)?.settings()?;
        Ok(Some(measures))
    }

    /// The folder of the benchmark before any training.
    pub(super) fn folder_before(&self) -> PathBuf {
        self.place.join("before")
    }

    /// The folder of the benchmark after training with a seed.
    pub(super) fn folder_after(&self, seed: u64) -> PathBuf {
        measured(&self.place, seed)
    }

    /// Measures the start.
    pub(super) fn before(&self) -> Result<Exit, Problem> {
        self.run("before", &self.asker, &self.model, &self.folder_before())
    }

    /// Measures what was learnt with a seed.
    pub(super) fn after(&self, seed: u64) -> Result<Exit, Problem> {
        let trained = folder_of(&self.place, seed).join("trained");
        // Another checkpoint in the same place would be another model: the folder follows from the seed alone.
        let trained = std::path::absolute(&trained).unwrap_or(trained);
        let model = ModelSection {
            provider: Some(ProviderKind::Local),
            path: Some(trained.display().to_string()),
            ..self.model.clone()
        };
        let name = format!("{}-seed-{seed}", self.asker);
        self.run("after", &name, &model, &self.folder_after(seed))
    }

    fn layers(&self, asker: &str, model: &ModelSection) -> Result<Layers, Problem> {
        let configuration = Configuration {
            config: Some(self.config.clone()),
            asker: Some(asker.to_owned()),
            ..self.configuration.clone()
        };
        let model = Value::try_from(model).unwrap_or_else(|_| Value::Table(toml::Table::new()));
        let key = format!("models.\"{asker}\"");
        Ok(configuration.load(vec![
            ("train.measure.samples", "run.samples", Some(Value::Integer(self.section.samples.into()))),
            ("train.measure", &key, Some(model)),
        ])?)
    }

    fn run(&self, when: &str, asker: &str, model: &ModelSection, path: &Path) -> Result<Exit, Problem> {
        let layers = self.layers(asker, model)?;
        let settings = layers.settings()?;
        let plan = plan(&settings, &Selection::default())?;
        let fleet = ModelRegistry::new(&settings)?;
        let folder = open(path, &layers, &settings, [])?;
        let done = folder.grades().len();
        let open = plan.len().saturating_sub(done);
        note(format_args!(
            "{when}: {asker} asks {} sessions, with {} as the cross-check solver; into {}",
            plan.len(),
            settings.check.model,
            path.display()
        ));
        let on = (&settings, &fleet, &folder);
        let (finished, interrupt) = watched(open, "sessions", on, async |crew, progress| {
            Runner::new(crew).run(&plan, progress).await
        })?;
        report_open(&finished.jobs, "sessions");
        let ended = exit(&finished.jobs, &interrupt);
        if ended == Exit::Done && self.section.exam_questions > 0 && Exam::read(path).is_none() {
            self.examine(&settings, &fleet, path)?;
        }
        Ok(ended)
    }

    /// The asker as a solver, on held-out questions of the nano world.
    fn examine(&self, settings: &Settings, fleet: &ModelRegistry, path: &Path) -> Result<(), Problem> {
        let Some(model) = fleet.get(&settings.asker.model) else { return Ok(()) };
        let taken = crate::live::until_signal(exam(
            model,
            &settings.pack,
            settings.protocol.check_tokens,
            self.section.exam_questions,
            self.section.exam_samples,
        ))?;
        let failed = |message: String| Problem { message, hint: None, exit: Exit::Failures };
        match taken {
            Some(Ok(exam)) => exam.write(path).map_err(|error| failed(error.to_string())),
            Some(Err(failure)) => Err(failed(failure.to_string())),
            None => Ok(()),
        }
    }
}
