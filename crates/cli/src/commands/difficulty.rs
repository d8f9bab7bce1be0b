//! `aske difficulty`: whether the asker adapts to its target.

use crate::arguments::Difficulty;
use crate::display::evidence;
use crate::error::{CliError, Exit};
use crate::output::{data, note};
use crate::runs::execute::{Amount, Target, run_and_report};
use crate::runs::folders::{self, Place};
use crate::runs::panels;
use crate::runs::probe::{Probing, of_plan};
use crate::runs::servers::Servers;
use crate::runtime::runtime;
use aske_bench::{Runner, Selection, difficulty_panels, plan, sessions_with_cross_check};
use aske_evidence::Run;
use aske_record::PairId;
use toml::Value;

pub(crate) fn run(arguments: &Difficulty) -> Result<Exit, CliError> {
    let text = |value: &Option<String>| value.clone().map(Value::String);
    let layers = arguments.configuration.load(vec![
        ("--easy", "difficulty.easy", text(&arguments.easy)),
        ("--hard", "difficulty.hard", text(&arguments.hard)),
        ("--solver", "difficulty.solver", text(&arguments.solver)),
        ("--samples", "run.samples", arguments.samples.map(|n| Value::Integer(n.into()))),
    ])?;
    let mut settings = layers.settings()?;
    let section = &layers.config().difficulty;
    let missing = || {
        CliError::usage(
            "difficulty needs an easy pair, a hard pair and a solver that is in neither",
            "set them in [difficulty], or with --easy A:B --hard C:D --solver E",
        )
    };
    let (Some(easy), Some(hard), Some(name)) = (&section.easy, &section.hard, &section.solver) else {
        return Err(missing());
    };
    let pairs: Vec<PairId> =
        [easy, hard].into_iter().map(|pair| pair.parse()).collect::<Result<_, _>>().map_err(
            |error: aske_record::PairIdError| CliError::usage(error.to_string(), "such as --easy a:b"),
        )?;
    if pairs[0] == pairs[1] || pairs.iter().any(|pair| pair.both().contains(&name.as_str())) {
        return Err(missing());
    }
    let sampling = &layers.config().boundary.sampling;
    let (solver, section) = layers.extra_role("difficulty.solver", name, sampling)?;
    let place = match &arguments.run {
        Some(path) => Place::named(path),
        None => Place::of(folders::default_folder(&layers, &settings), || {
            folders::bench_manifest(&layers, &settings)
        })?,
    };
    place.announce(&settings, arguments.new)?;
    let path = place.path;
    let selection =
        Selection { pairs: pairs.iter().map(ToString::to_string).collect(), ..Selection::default() };
    let plan = plan(&settings, &selection)?;
    let run_settings = settings.clone();
    settings.models.insert(name.clone(), section);
    let models = Servers::registry(None, &settings, &path)?;
    let probing = Probing { settings: &settings, models: &models, skip: arguments.no_probe };
    let folder = runtime()?.block_on(probing.open(
        &path,
        || folders::open(&path, &layers, &run_settings),
        |folder| of_plan(&settings, &plan, folder),
    ))?;
    note(format_args!("{} asks for {easy} and for {hard}; {name} tries both", settings.asker.model));
    let target = Target { settings: &settings, models: &models, folder: &folder };
    let finished = plan.iter().filter(|planned| folder.index().contains(&planned.id.to_string())).count();
    let amount = Amount { finished, open: plan.len() - finished };
    let asked =
        runtime()?.block_on(run_and_report(amount, "sessions", target, async |context, progress| {
            Ok(Runner::new(context).run(&plan, progress).await?.jobs)
        }))?;
    if asked != Exit::Done {
        return Ok(asked);
    }
    // The folder is opened again to see the new sessions.
    drop(folder);
    let folder = folders::open(&path, &layers, &layers.settings()?)?;
    let sessions =
        sessions_with_cross_check(&folder)?.into_iter().filter(|session| pairs.contains(&session.pair));
    let target = Target { settings: &settings, models: &models, folder: &folder };
    let exit = panels::ask("difficulty", target, &difficulty_panels(&solver, sessions), arguments.no_probe)?;
    let run = Run::read(&path, None)?;
    let evidence = aske_evidence::evidence(&[run]);
    if arguments.json {
        data(serde_json::json!(evidence.runs[0].difficulty));
    } else {
        evidence::difficulties(&evidence);
    }
    Ok(exit)
}
