//! Questions put to solvers outside sessions, for `aske audit`, `baseline`, `difficulty` and `regrade`.

use super::execute::{Amount, Target, run_and_report};
use super::folders;
use super::models::only;
use super::probe::Probing;
use crate::arguments::OnRun;
use crate::display::evidence::with_distinct_names;
use crate::error::{CliError, Exit};
use crate::output::{data, note};
use crate::runtime::runtime;
use aske_bench::{Panel, judged_records};
use aske_config::{Layers, Settings};
use aske_evidence::{Evidence, Run};
use aske_record::RunDir;
use aske_report::number::{count, counted};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Puts questions to solvers for each run, then shows the evidence of all runs.
pub(crate) fn run_for_each(
    runs: &[PathBuf],
    on_run: &OnRun,
    name: &str,
    called: impl Fn(&Settings) -> BTreeSet<String>,
    panels: impl Fn(&Settings, &RunDir) -> Result<Vec<Panel>, CliError>,
    show: impl Fn(&Evidence),
) -> Result<Exit, CliError> {
    let one = |run: &Path| {
        let (layers, settings) = load(on_run, run)?;
        let models = only(&settings, &called(&settings))?;
        let folder = folders::reopen(run, &layers, &settings)?;
        let target = Target { settings: &settings, models: &models, folder: &folder };
        ask(name, target, &panels(&settings, &folder)?, on_run.no_probe)
    };
    for_each_run(runs, on_run.json, one, show)
}

/// Works on one run after another, then shows the evidence of all of them. Returns the last status other than `Done`.
pub(crate) fn for_each_run(
    runs: &[PathBuf],
    json: bool,
    one: impl Fn(&Path) -> Result<Exit, CliError>,
    show: impl Fn(&Evidence),
) -> Result<Exit, CliError> {
    let mut status = Exit::Done;
    for run in runs {
        let exit = one(run)?;
        if exit != Exit::Done {
            status = exit;
        }
        if exit == Exit::Interrupted {
            break;
        }
    }
    let runs = runs.iter().map(|run| Run::read(run, None)).collect::<Result<Vec<_>, _>>()?;
    let evidence = aske_evidence::evidence(&runs);
    if json {
        data(serde_json::json!(evidence));
    } else {
        show(&with_distinct_names(evidence));
    }
    Ok(status)
}

/// Puts the questions that have no answers yet.
pub(crate) fn ask(
    name: &str,
    target: Target<'_>,
    panels: &[Panel],
    no_probe: bool,
) -> Result<Exit, CliError> {
    let Target { settings, models, folder } = target;
    let done = judged_records(settings, folder)?;
    let open: Vec<&Panel> = panels.iter().filter(|panel| !done.contains(&panel.id())).collect();
    let calls: u64 = open.iter().map(|panel| panel.calls(settings)).sum();
    note(format_args!(
        "{name}: {}, {} to do, {}; in {}",
        counted(panels.len(), "question"),
        count(open.len() as u64),
        counted(calls, "call"),
        folder.path().display()
    ));
    let amount = Amount { finished: panels.len() - open.len(), open: open.len() };
    let roles: Vec<_> = open.iter().flat_map(|panel| panel.roles(settings)).collect();
    runtime()?.block_on(async {
        Probing { settings, models, skip: no_probe }.within(folder, &roles).await?;
        run_and_report(amount, "questions", target, async |context, progress| {
            aske_bench::run_panels(context, panels, |_| progress.advance(), |_| progress.give_up()).await
        })
        .await
    })
}

/// The configuration and settings of an existing run.
pub(crate) fn load(on_run: &OnRun, run: &Path) -> Result<(Layers, Settings), CliError> {
    let layers = on_run.load(run)?;
    let settings = layers.settings()?;
    Ok((layers, settings))
}
