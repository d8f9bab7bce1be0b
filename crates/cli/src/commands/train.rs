//! `aske train`: reinforcement learning of the asker.

mod curves;
mod measure;
mod outcome;
mod picture;
mod servers;
mod tracking;
mod trained;

use crate::arguments::{Train, whole};
use crate::error::{CliError, Exit};
use crate::output::{BOLD, hint, note, paint};
use crate::runs::folders::{self, Place};
use crate::runtime::{Interrupt, block_on};
use aske_bench::{ModelRegistry, PairOrder, PairSchedule, Selection, selected_pairs};
use aske_config::{Layers, Settings, TrainSection};
use aske_diversity::Embedder;
use aske_model::Halt;
use aske_record::{Manifest, RunDir};
use aske_report::number::counted;
use aske_train::reinforce::{
    CollapseMonitor, PolicyServer, RolloutSampler, StopReason, Trainer, load_policy,
};
use aske_train::trackers::Trackers;
use aske_train::{Objective, Policy};
use curves::Curves;
use measure::Measures;
use servers::{Fleet, policy_server};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn run(arguments: &Train) -> Result<Exit, CliError> {
    let configuration = arguments.configuration.or_nano_train();
    let seeds = configuration.seed.map_or_else(|| arguments.seeds.clone(), |seed| vec![seed]);
    let layers = |seed: u64| {
        configuration.load(vec![
            ("--steps", "train.steps", arguments.steps.map(whole)),
            ("--seeds", "run.seed", Some(whole(seed))),
        ])
    };
    let first = layers(seeds[0])?;
    let settings = first.settings()?;
    let place = match &arguments.run {
        Some(path) => Place::named(path),
        None => Place::find(Path::new("runs").join(first.name()), |root| {
            let path = seed_folder(root, seeds[0]);
            let Some(there) = Manifest::read(&path)? else { return Ok(None) };
            let here = manifest(&first, &settings, pair_order(&path)?);
            Ok(Some(there.identity.differences(&here.identity)))
        })?,
    };
    place.announce(&settings, arguments.new)?;
    let root = place.path;
    check(&settings, first.config())?;
    let plan = &first.config().train;
    Trackers::check(plan)?;
    let measures = if arguments.no_measure {
        None
    } else {
        Measures::new(arguments, plan, &configuration, &settings, &root)?
    };
    if let Some(measures) = &measures
        && measures.before()? == Exit::Interrupted
    {
        return Ok(Exit::Interrupted);
    }
    let mut status = Exit::Done;
    for seed in &seeds {
        let layers = layers(*seed)?;
        let (mut exit, trackers) = train_seed(arguments, &layers, *seed, &root)?;
        if exit != Exit::Done {
            status = exit;
        }
        let mut benchmark = Vec::new();
        if let Some(measures) = measures.as_ref().filter(|_| exit != Exit::Interrupted) {
            if measures.after(*seed)? == Exit::Interrupted {
                exit = Exit::Interrupted;
            } else {
                benchmark = outcome::benchmark(measures, *seed)?;
            }
        }
        tracking::finish(trackers, benchmark, exit)?;
        if exit == Exit::Interrupted {
            return Ok(exit);
        }
    }
    outcome::show(&root, &seeds, measures.as_ref(), arguments.json)?;
    Ok(status)
}

/// Rejects settings that cannot be trained, before anything is spent.
fn check(settings: &Settings, config: &aske_config::Config) -> Result<(), CliError> {
    let plan = &config.train;
    if settings.check.model != settings.asker.model {
        return Err(CliError::usage(
            format!("check.model is {}, but the asker is {}", settings.check.model, settings.asker.model),
            "in training the policy is its own cross-check solver: use the same model for both",
        ));
    }
    if settings.solvers.iter().any(|solver| solver.model == settings.asker.model) {
        return Err(CliError::usage(
            "the policy is among the boundary solvers",
            "solvers are not trained; choose other ones",
        ));
    }
    plan.check()?;
    Ok(())
}

/// The folder of a seed.
fn seed_folder(root: &Path, seed: u64) -> PathBuf {
    root.join(format!("seed-{seed}"))
}

/// Trains with one seed. The trackers are still open for the measurement of the trained policy.
fn train_seed(
    arguments: &Train,
    layers: &Layers,
    seed: u64,
    root: &Path,
) -> Result<(Exit, Trackers), CliError> {
    let mut settings = layers.settings()?;
    let plan = &layers.config().train;
    let path = seed_folder(root, seed);
    let fleet = Fleet::plan(arguments, layers, &settings, &path)?;
    if let Some(fleet) = &fleet {
        fleet.set_urls(&mut settings.models);
    }
    let section = &settings.models[&settings.asker.model];
    let policy = load_policy(section, plan)?;
    let objective = Objective::new(plan.loss, plan.clip_ratio_low, plan.clip_ratio_high, plan.scale_rewards);
    let embedder = Embedder::find(&plan.embedder)?;
    let monitor = monitor(layers, &settings)?;
    let mut others = settings.clone();
    others.models.remove(&settings.asker.model);
    let models = ModelRegistry::new(&others)?;
    let order = pair_order(&path)?;
    let folder = open_folder(&path, layers, &settings, order)?;
    // After the folder: its identity already has the limit, in `train`.
    settings.protocol.asker_total_tokens = Some(plan.max_sample_tokens as u64);
    let urls = fleet.as_ref().map(Fleet::policy_urls).unwrap_or_default();
    let server = policy_server(plan, section, &path, urls)?;
    if let PolicyServer::Vllm(server) = &server {
        // Servers that are started here read their weights from there.
        server.publish(policy.as_ref())?;
    }
    let pairs = selected_pairs(&settings, &Selection::default())?;
    let halt = Halt::default();
    let training = Trainer {
        config: plan,
        objective,
        schedule: PairSchedule::new(pairs, seed, plan.groups, plan.group_size).with_order(order),
        sampler: RolloutSampler::new(&settings, &models, &folder, &halt)?,
        server,
        monitor,
        embedder,
        folder: path.clone(),
        halt: &halt,
    };
    announce(&settings, plan, seed, &path);
    let interrupt = Interrupt::default();
    let trackers = tracking::start(layers, &settings, root, &path, seed);
    let curves = Curves::new(plan, &trackers);
    let done = block_on(&halt, &interrupt, async {
        let supervisor = match fleet {
            Some(fleet) => Some(fleet.start().await?),
            None => None,
        };
        let done = tokio::select! {
            done = training.run(policy, &curves) => done,
            never = curves.update_forever() => match never {},
        };
        if let Some(supervisor) = supervisor {
            supervisor.close().await;
        }
        Ok::<_, CliError>(done)
    })?;
    curves.finish();
    let (policy, stop) = done?.map_err(|error| {
        let kept = curves.last_checkpoint();
        let kept = kept.map(|path| format!("the last good checkpoint is {}", path.display()));
        CliError::from(error).and_hint(kept)
    })?;
    training.server.clean_up();
    let exit = finish(policy.as_ref(), &stop, root, seed)?;
    Ok((exit, trackers))
}

fn announce(settings: &Settings, plan: &TrainSection, seed: u64, path: &Path) {
    note(format_args!(
        "training {} with seed {seed}: {} of {}, {} times {}; into {}",
        paint(BOLD, &settings.asker.model),
        counted(plan.steps, "step"),
        counted(plan.groups as u64 * u64::from(plan.group_size), "rollout"),
        counted(plan.groups, "pair"),
        plan.group_size,
        path.display(),
    ));
}

/// Saves the trained policy and reports how training ended.
fn finish(policy: &dyn Policy, stop: &StopReason, root: &Path, seed: u64) -> Result<Exit, CliError> {
    if *stop == StopReason::Halted {
        note(format_args!("stopped; the same command continues from the last checkpoint"));
        return Ok(Exit::Interrupted);
    }
    trained::save(policy, root, seed)?;
    if let StopReason::Collapsed(alerts) = stop {
        for alert in alerts {
            note(format_args!("{} fell to {:.2}, below {:.2}", alert.metric, alert.value, alert.minimum));
        }
        hint(
            "the asker is collapsing: lower train.learning_rate, raise train.diversity_coef, or set train.watch.patience = 0 to continue",
        );
        return Ok(Exit::Failures);
    }
    Ok(Exit::Done)
}

/// The key of the order of pairs in the identity of a training. Versions that had a single order did not write it.
const PAIR_ORDER: &str = "train.pairs";

/// The order in which a folder's training visits pairs: the one it was begun with.
fn pair_order(path: &Path) -> Result<PairOrder, CliError> {
    let Some(manifest) = Manifest::read(path)? else { return Ok(PairOrder::default()) };
    let Some(name) = manifest.identity.0.get(PAIR_ORDER) else { return Ok(PairOrder::Shuffled) };
    PairOrder::from_name(name).ok_or_else(|| {
        CliError::usage(
            format!("{}: the order of pairs is {name:?}, which this version does not know", path.display()),
            "continue this training with the version that began it, or name another folder with --run",
        )
    })
}

/// Opens the run folder; settings that change the rollouts or the updates must be those it was created with.
fn open_folder(
    path: &Path,
    layers: &Layers,
    settings: &Settings,
    order: PairOrder,
) -> Result<RunDir, CliError> {
    folders::open_with(path, &manifest(layers, settings, order))
}

/// What `run.toml` says about a training with these settings.
fn manifest(layers: &Layers, settings: &Settings, order: PairOrder) -> Manifest {
    let mut manifest = folders::run_manifest(layers, settings);
    let identity = &mut manifest.identity.0;
    identity.insert("train".to_owned(), layers.config().train.identity());
    if order != PairOrder::Shuffled {
        identity.insert(PAIR_ORDER.to_owned(), order.as_str().to_owned());
    }
    manifest
}

/// The collapse monitor of a configuration.
fn monitor(layers: &Layers, settings: &Settings) -> Result<CollapseMonitor, CliError> {
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
    Ok(CollapseMonitor {
        cross_check: check,
        max_questions: section.max_questions,
        max_tokens: settings.protocol.check_tokens,
        oracle: section.oracle,
        domain: settings.domain,
        pack: settings.pack.clone(),
    })
}
