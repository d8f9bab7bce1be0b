//! Questions put to solvers outside of sessions, with progress and an end that says what is left.

use crate::arguments::OnRun;
use crate::commands::bench::{exit, reopen_folder, report_open};
use crate::live::{Interrupt, block_on};
use crate::output::{data, note};
use crate::problem::{Exit, Problem};
use crate::progress::Progress;
use aske_bench::{Crew, Ended, Fleet, Panel, solve};
use aske_config::{Layers, Settings};
use aske_evidence::{Evidence, Run};
use aske_model::Halt;
use aske_record::RunDir;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What is to be done on a run.
pub(crate) struct Work<M, P> {
    /// Its name.
    pub(crate) what: &'static str,
    /// What is counted.
    pub(crate) things: &'static str,
    /// The models it calls.
    pub(crate) models: M,
    /// The questions.
    pub(crate) panels: P,
}

/// Does the work on each run, then shows what came of all of them.
pub(crate) fn on_run<M, P>(
    runs: &[PathBuf],
    on_run: &OnRun,
    work: &Work<M, P>,
    show: impl Fn(&Evidence),
) -> Result<Exit, Problem>
where
    M: Fn(&Settings) -> BTreeSet<String>,
    P: Fn(&Settings, &RunDir) -> Vec<Panel>,
{
    let mut worst = Exit::Done;
    for run in runs {
        let layers = on_run.load(run)?;
        let settings = layers.settings()?;
        let fleet = fleet(&settings, &(work.models)(&settings))?;
        let folder = reopen_folder(run, &layers, &settings)?;
        let panels = (work.panels)(&settings, &folder);
        let exit = put(work.what, work.things, (&settings, &fleet, &folder), &panels)?;
        if exit != Exit::Done {
            worst = exit;
        }
        if exit == Exit::Interrupted {
            break;
        }
    }
    let runs = runs.iter().map(|run| Run::read(run, None)).collect::<Result<Vec<_>, _>>()?;
    let evidence = aske_evidence::evidence(&runs)?;
    if on_run.json {
        data(serde_json::json!(evidence));
    } else {
        show(&evidence);
    }
    Ok(worst)
}

/// Only the models that are called: no other needs its key or its server. The equivalence checker always belongs.
pub(crate) fn fleet(settings: &Settings, called: &BTreeSet<String>) -> Result<Fleet, Problem> {
    let mut settings = settings.clone();
    let checker = settings.equivalence.as_ref().map(|(role, _)| role.model.clone());
    settings.models.retain(|name, _| called.contains(name) || checker.as_ref() == Some(name));
    Ok(Fleet::new(&settings)?)
}

/// Puts the questions.
pub(crate) fn put(
    what: &str,
    things: &'static str,
    (settings, fleet, folder): (&Settings, &Fleet, &RunDir),
    panels: &[Panel],
) -> Result<Exit, Problem> {
    let done: BTreeSet<String> = folder.records().iter().map(aske_record::Record::id).collect();
    let open: Vec<&Panel> = panels.iter().filter(|panel| !done.contains(&panel.id())).collect();
    let calls: u64 = open.iter().map(|panel| panel.calls(settings)).sum();
    note(format_args!(
        "{what}: {} {things}, {} still to do, {calls} calls; into {}",
        panels.len(),
        open.len(),
        folder.path().display()
    ));
    working(open.len(), things, (settings, fleet, folder), async |crew, progress| {
        solve(crew, panels, |_| progress.advance(), |_| progress.give_up()).await
    })
}

/// Work with its progress shown, and its end told.
pub(crate) fn working(
    open: usize,
    things: &'static str,
    (settings, fleet, folder): (&Settings, &Fleet, &RunDir),
    work: impl AsyncFnOnce(&Crew<'_>, &Progress) -> Result<Ended, aske_record::RunError>,
) -> Result<Exit, Problem> {
    let (halt, interrupt) = (Halt::default(), Interrupt::default());
    let crew = Crew::new(settings, fleet, folder, &halt)?;
    let progress = Progress::new(open as u64, things);
    let ended = block_on(&halt, &interrupt, async {
        tokio::select! {
            ended = work(&crew, &progress) => ended,
            never = progress.keep_showing(&crew, &interrupt) => match never {},
        }
    })?;
    progress.finish();
    let ended = ended?;
    report_open(&ended, things);
    Ok(exit(&ended, &interrupt))
}

/// The settings of a run.
pub(crate) fn of_run(on_run: &OnRun, run: &Path) -> Result<(Layers, Settings), Problem> {
    let layers = on_run.load(run)?;
    let settings = layers.settings()?;
    Ok((layers, settings))
}
