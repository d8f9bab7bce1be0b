//! Questions put to solvers outside of sessions, with progress and an end that says what is left.

use crate::arguments::OnRun;
use crate::commands::bench::{exit, reopen_folder, report_open};
use crate::evidence::cleaned;
use crate::live::{Interrupt, block_on};
use crate::output::{data, note};
use crate::problem::{Exit, Problem};
use crate::progress::Progress;
use aske_bench::{JobSummary, ModelRegistry, Panel, RunContext, judged_records, run_panels};
use aske_config::{Layers, Settings};
use aske_evidence::{Evidence, Run};
use aske_model::Halt;
use aske_record::{RunDir, RunError};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Puts questions on each run, then shows what came of all of them.
pub(crate) fn on_run(
    runs: &[PathBuf],
    on_run: &OnRun,
    what: &str,
    models: impl Fn(&Settings) -> BTreeSet<String>,
    panels: impl Fn(&Settings, &RunDir) -> Result<Vec<Panel>, Problem>,
    show: impl Fn(&Evidence),
) -> Result<Exit, Problem> {
    let one = |run: &Path| {
        let (layers, settings) = of_run(on_run, run)?;
        let fleet = fleet(&settings, &models(&settings))?;
        let folder = reopen_folder(run, &layers, &settings)?;
        put(what, (&settings, &fleet, &folder), &panels(&settings, &folder)?)
    };
    each(runs, on_run.json, one, show)
}

/// Works on one run after the other, then shows what came of all of them. The status is the last that was not `Done`.
pub(crate) fn each(
    runs: &[PathBuf],
    json: bool,
    one: impl Fn(&Path) -> Result<Exit, Problem>,
    show: impl Fn(&Evidence),
) -> Result<Exit, Problem> {
    let mut worst = Exit::Done;
    for run in runs {
        let exit = one(run)?;
        if exit != Exit::Done {
            worst = exit;
        }
        if exit == Exit::Interrupted {
            break;
        }
    }
    let runs = runs.iter().map(|run| Run::read(run, None)).collect::<Result<Vec<_>, _>>()?;
    let evidence = aske_evidence::evidence(&runs)?;
    if json {
        data(serde_json::json!(evidence));
    } else {
        show(&cleaned(&evidence));
    }
    Ok(worst)
}

/// Only the models that are called: no other needs its key or its server. The equivalence checker always belongs.
pub(crate) fn fleet(settings: &Settings, called: &BTreeSet<String>) -> Result<ModelRegistry, Problem> {
    let mut settings = settings.clone();
    let checker = settings.equivalence.as_ref().map(|(role, _)| role.model.clone());
    settings.models.retain(|name, _| called.contains(name) || checker.as_ref() == Some(name));
    Ok(ModelRegistry::new(&settings)?)
}

/// Puts the questions.
pub(crate) fn put(
    what: &str,
    on: (&Settings, &ModelRegistry, &RunDir),
    panels: &[Panel],
) -> Result<Exit, Problem> {
    let (settings, _, folder) = on;
    let done = judged_records(settings, folder)?;
    let open: Vec<&Panel> = panels.iter().filter(|panel| !done.contains(&panel.id())).collect();
    let calls: u64 = open.iter().map(|panel| panel.calls(settings)).sum();
    note(format_args!(
        "{what}: {} questions, {} still to do, {calls} calls; into {}",
        panels.len(),
        open.len(),
        folder.path().display()
    ));
    working(open.len(), "questions", on, async |crew, progress| {
        run_panels(crew, panels, |_| progress.advance(), |_| progress.give_up()).await
    })
}

/// Work with its progress shown, and its end told.
pub(crate) fn working(
    open: usize,
    things: &'static str,
    on: (&Settings, &ModelRegistry, &RunDir),
    work: impl AsyncFnOnce(&RunContext<'_>, &Progress) -> Result<JobSummary, RunError>,
) -> Result<Exit, Problem> {
    let (ended, interrupt) = watched(open, things, on, work)?;
    report_open(&ended, things);
    Ok(exit(&ended, &interrupt))
}

/// Work with its progress shown; also tells whether the user has stopped it.
pub(crate) fn watched<T>(
    open: usize,
    things: &'static str,
    (settings, fleet, folder): (&Settings, &ModelRegistry, &RunDir),
    work: impl AsyncFnOnce(&RunContext<'_>, &Progress) -> Result<T, RunError>,
) -> Result<(T, Interrupt), Problem> {
    let (halt, interrupt) = (Halt::default(), Interrupt::default());
    let crew = RunContext::new(settings, fleet, folder, &halt)?;
    let progress = Progress::new(open as u64, things);
    let done = block_on(&halt, &interrupt, async {
        tokio::select! {
            done = work(&crew, &progress) => done,
            never = progress.keep_showing(&crew, &interrupt) => match never {},
        }
    })?;
    progress.finish();
    Ok((done?, interrupt))
}

/// The settings of a run.
pub(crate) fn of_run(on_run: &OnRun, run: &Path) -> Result<(Layers, Settings), Problem> {
    let layers = on_run.load(run)?;
    let settings = layers.settings()?;
    Ok((layers, settings))
}
