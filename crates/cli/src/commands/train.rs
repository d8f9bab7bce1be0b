//! `aske train`: the asker learns to ask.

mod curves;
mod measure;
mod outcome;
mod picture;
mod trained;

use crate::arguments::{Configuration, Train};
use crate::commands::bench::open;
use crate::live::{Interrupt, block_on};
use crate::output::{BOLD, hint, note, paint};
use crate::problem::{Exit, Problem};
use aske_bench::{ModelRegistry, PairSchedule, Selection, selected_pairs};
use aske_chat::Hint;
use aske_config::{Layers, Settings, TrainSection};
use aske_diversity::Embedder;
use aske_model::Halt;
use aske_record::RunDir;
use aske_train::reinforce::{Sampler, Stop, TrainError, Trainer, Watch, policy};
use aske_train::{LearnError, Objective, Policy};
use curves::Curves;
use measure::Measures;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is used where no configuration is named and none lies here.
const NANO: &str = "nano-train";

pub(crate) fn run(arguments: &Train) -> Result<Exit, Problem> {
    let configuration = with_default(&arguments.configuration);
    let seeds = configuration.seed.map_or_else(|| arguments.seeds.clone(), |seed| vec![seed]);
    let layers = |seed: u64| {
        configuration.load(vec![
            ("--steps", "train.steps", arguments.steps.map(crate::arguments::whole)),
            ("--seeds", "run.seed", Some(crate::arguments::whole(seed))),
        ])
    };
    let first = layers(seeds[0])?;
    let place = arguments.run.clone().unwrap_or_else(|| Path::new("runs").join(first.name()));
    let settings = first.settings()?;
    check(&settings, first.config())?;
    let plan = &first.config().train;
    let measures =
        if arguments.no_measure { None } else { Measures::new(plan, &configuration, &settings, &place)? };
    if let Some(measures) = &measures
        && measures.before()? == Exit::Interrupted
    {
        return Ok(Exit::Interrupted);
    }
    let mut worst = Exit::Done;
    for seed in &seeds {
        let layers = layers(*seed)?;
        let exit = one(&layers, *seed, &place)?;
        if exit != Exit::Done {
            worst = exit;
        }
        if exit == Exit::Interrupted {
            return Ok(exit);
        }
        if let Some(measures) = &measures
            && measures.after(*seed)? == Exit::Interrupted
        {
            return Ok(Exit::Interrupted);
        }
    }
    outcome::show(&place, &seeds, measures.as_ref(), arguments.json)?;
    Ok(worst)
}

/// The configuration, or that of the nano world's training where none is named and none lies here.
pub(crate) fn with_default(configuration: &Configuration) -> Configuration {
    let mut configuration = configuration.clone();
    if configuration.config.is_none() && !Layers::usual() {
        configuration.config = Some(NANO.to_owned());
    }
    configuration
}

/// Refuses what cannot be trained, before anything is spent.
fn check(settings: &Settings, config: &aske_config::Config) -> Result<(), Problem> {
    let plan = &config.train;
    if settings.check.model != settings.asker.model {
        return Err(Problem::usage(
            format!("check.model is {}, and the asker {}", settings.check.model, settings.asker.model),
            "in training the policy is its own cross-check solver: give both the same model",
        ));
    }
    if settings.solvers.iter().any(|solver| solver.model == settings.asker.model) {
        return Err(Problem::usage(
            "the policy is among the boundary solvers",
            "solvers stay as they are; name others",
        ));
    }
    plan.check()?;
    Ok(())
}

/// The folder of a seed.
fn folder_of(place: &Path, seed: u64) -> PathBuf {
    place.join(format!("seed-{seed}"))
}

/// Trains with one seed.
fn one(layers: &Layers, seed: u64, place: &Path) -> Result<Exit, Problem> {
    let settings = layers.settings()?;
    let plan = &layers.config().train;
    let path = folder_of(place, seed);
    let section = &settings.models[&settings.asker.model];
    let policy = policy(section, plan).map_err(|error| problem(&error.into(), None))?;
    let objective = Objective::named(plan.loss.as_str(), plan.clip_ratio_low, plan.clip_ratio_high)
        .map_err(|error| problem(&error.into(), None))?;
    let embedder = Embedder::find(&plan.embedder).map_err(|error| problem(&error.into(), None))?;
    let watch = watch(layers, &settings)?;
    let mut others = settings.clone();
    others.models.remove(&settings.asker.model);
    let fleet = ModelRegistry::new(&others)?;
    let folder = open_folder(&path, layers, &settings)?;
    let pairs = selected_pairs(&settings, &Selection::default())?;
    let halt = Halt::default();
    let training = Trainer {
        plan,
        objective,
        course: PairSchedule::new(pairs, seed, plan.groups, plan.group_size),
        sampler: Sampler::new(&settings, &fleet, &folder, &halt)?,
        watch,
        embedder,
        folder: path.clone(),
        halt: &halt,
    };
    announce(&settings, plan, seed, &path);
    let interrupt = Interrupt::default();
    let curves = Curves::new(plan);
    let done = block_on(&halt, &interrupt, async {
        tokio::select! {
            done = training.run(policy, &curves) => done,
            never = curves.keep_showing() => match never {},
        }
    })?;
    curves.finish();
    let (policy, stop) = done.map_err(|error| problem(&error, curves.last_good()))?;
    finish(policy.as_ref(), &stop, place, seed)
}

fn announce(settings: &Settings, plan: &TrainSection, seed: u64, path: &Path) {
    note(format_args!(
        "{} learns with seed {seed}: {} steps of {} rollouts, {} pairs times {}; into {}",
        paint(BOLD, &settings.asker.model),
        plan.steps,
        plan.groups as u64 * u64::from(plan.group_size),
        plan.groups,
        plan.group_size,
        path.display(),
    ));
}

/// Saves what was learnt and says how it ended.
fn finish(policy: &dyn Policy, stop: &Stop, place: &Path, seed: u64) -> Result<Exit, Problem> {
    if *stop == Stop::Halted {
        note(format_args!("stopped; the same command goes on from the last checkpoint"));
        return Ok(Exit::Interrupted);
    }
    trained::save(policy, place, seed)?;
    if let Stop::Collapsed(alarms) = stop {
        for alarm in alarms {
            note(format_args!("{} fell to {:.2}, below {:.2}", alarm.what, alarm.share, alarm.least));
        }
        hint(
            "the asker collapses: lower train.learning_rate, raise train.diversity_coef, or set train.watch.patience = 0 to go on",
        );
        return Ok(Exit::Failures);
    }
    Ok(Exit::Done)
}

/// Opens the run folder; what changes the rollouts or what is learnt from them must stay as it was.
fn open_folder(path: &Path, layers: &Layers, settings: &Settings) -> Result<RunDir, Problem> {
    open(path, layers, settings, [("train", layers.config().train.identity())])
}

/// The watch of a configuration.
fn watch(layers: &Layers, settings: &Settings) -> Result<Watch, Problem> {
    let section = &layers.config().train.watch;
    let check = match &section.model {
        Some(name) => {
            let (role, model) =
                layers.extra_role("train.watch.model", name, &aske_model::Sampling::default())?;
            let mut only = settings.clone();
            only.models = [(name.clone(), model)].into();
            let found = ModelRegistry::new(&only)?.get(name).map(Arc::clone);
            found.map(|model| (model, role))
        }
        None => None,
    };
    Ok(Watch {
        check,
        questions: section.max_questions,
        tokens: settings.protocol.check_tokens,
        oracle: section.oracle,
        domain: settings.domain,
        pack: settings.pack.clone(),
    })
}

/// An error of the training, whose last good checkpoint this is.
fn problem(error: &TrainError, kept: Option<PathBuf>) -> Problem {
    let text = error.to_string();
    let (message, hint) = match text.split_once("\nhint: ") {
        Some((message, hint)) => (message.to_owned(), Some(hint.to_owned())),
        None => (text, None),
    };
    let hint = hint.or_else(|| match error {
        TrainError::Embed(error) => error.hint().map(Into::into),
        TrainError::Novelty(error) => error.hint().map(Into::into),
        _ => None,
    });
    let kept = kept.map(|kept| format!("the last good checkpoint is {}", kept.display()));
    let hint = match (hint, kept) {
        (Some(hint), Some(kept)) => Some(format!("{hint}; {kept}")),
        (hint, kept) => hint.or(kept),
    };
    let exit = match error {
        TrainError::Learn(LearnError::Loss(_) | LearnError::Start(_) | LearnError::Device(_))
        | TrainError::Embed(_)
        | TrainError::Longer { .. } => Exit::Usage,
        _ => Exit::Failures,
    };
    Problem { message, hint, exit }
}
