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
use crate::output::{BOLD, DIM, hint, note, paint};
use crate::runs::folders::{self, Place};
use crate::runs::probe::Probing;
use crate::runtime::{Interrupt, block_on, runtime};
use crate::shell::{command, this_command, this_command_with};
use aske_bench::{ModelRegistry, PairOrder, PairSchedule, Selection, selected_pairs};
use aske_chat::Usd;
use aske_config::{Layers, ModelSection, ProviderKind, RoleSettings, Settings, TrainSection};
use aske_diversity::Embedder;
use aske_model::Halt;
use aske_record::{Manifest, RunDir};
use aske_report::number::counted;
use aske_train::reinforce::{
    CollapseMonitor, PolicyServer, RolloutSampler, StopReason, Trainer, load_policy, read_metrics,
};
use aske_train::trackers::Trackers;
use aske_train::{Objective, Policy};
use curves::Curves;
use measure::Measures;
use servers::{Fleet, policy_server};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn run(arguments: &Train, verbose: bool) -> Result<Exit, CliError> {
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
        let (mut exit, trackers) = train_seed(arguments, &layers, *seed, &root, verbose)?;
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
    next_steps(&root, seeds[0], plan);
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

/// Says how to go on with a trained asker.
fn next_steps(root: &Path, seed: u64, plan: &TrainSection) {
    let folder = seed_folder(root, seed).display().to_string();
    let measured = plan.measure.config.as_deref().unwrap_or("nano");
    let more = (2 * plan.steps).to_string();
    for (what, words) in [
        ("benchmark the trained asker", command(["aske", "bench", "--config", measured, "--asker", &folder])),
        ("evaluate its answers", command(["aske", "eval", &folder])),
        ("read the rollouts", command(["aske", "view", &folder])),
        ("train for more steps", this_command_with("--steps", &more)),
    ] {
        note(format_args!("{} {what}: `{words}`", paint(DIM, "next:")));
    }
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
    verbose: bool,
) -> Result<(Exit, Trackers), CliError> {
    let mut settings = layers.settings()?;
    let plan = &layers.config().train;
    let path = seed_folder(root, seed);
    announce(&settings, plan, seed, &path);
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
    let watch = watch_model(layers)?.filter(|(_, section)| section.provider == Some(ProviderKind::Openai));
    if let Some((role, section)) = &watch {
        others.models.insert(role.model.clone(), section.clone());
    }
    let models = ModelRegistry::new(&others)?;
    let order = pair_order(&path)?;
    // Servers that are started here are ready before they are called.
    let probing = Probing { settings: &others, models: &models, skip: arguments.no_probe || fleet.is_some() };
    let folder = runtime()?.block_on(probing.open(
        &path,
        || open_folder(&path, layers, &settings, order),
        |_| {
            let finished = read_metrics(&path).unwrap_or_default().len() as u64 >= plan.steps;
            let checker = settings.equivalence.as_ref().map(|(role, _)| role);
            let roles = settings.solvers.iter().chain(checker).chain(watch.as_ref().map(|(role, _)| role));
            Ok(if finished { Vec::new() } else { roles.collect() })
        },
    ))?;
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
    let interrupt = Interrupt::default();
    let trackers = tracking::start(layers, &settings, root, &path, seed);
    let curves = Curves::new(plan, &trackers, verbose);
    let spent = || {
        let used = folder.calls().used().unwrap_or_default();
        used.values().fold(Usd::default(), |sum, used| sum + used.usd)
    };
    let done = block_on(&halt, &interrupt, async {
        let supervisor = match fleet {
            Some(fleet) => Some(fleet.start().await?),
            None => None,
        };
        let done = tokio::select! {
            done = training.run(policy, &curves) => done,
            never = curves.update_forever(&models, &interrupt, spent) => match never {},
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
        note(format_args!(
            "stopped; the same command continues from the last checkpoint: `{}`",
            this_command()
        ));
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

/// The role and the model of `train.watch.model`.
fn watch_model(layers: &Layers) -> Result<Option<(RoleSettings, ModelSection)>, CliError> {
    let Some(name) = &layers.config().train.watch.model else { return Ok(None) };
    Ok(Some(layers.extra_role("train.watch.model", name, &aske_model::Sampling::default())?))
}

/// The collapse monitor of a configuration.
fn monitor(layers: &Layers, settings: &Settings) -> Result<CollapseMonitor, CliError> {
    let section = &layers.config().train.watch;
    let check = match watch_model(layers)? {
        Some((role, model)) => {
            let mut only = settings.clone();
            only.models = [(role.model.clone(), model)].into();
            let found = ModelRegistry::new(&only)?.get(&role.model).map(Arc::clone);
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
