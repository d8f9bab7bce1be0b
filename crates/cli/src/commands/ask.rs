//! `aske ask`: one session, live.

use crate::arguments::Ask;
use crate::commands::bench::{exit, open_folder, report_failures};
use crate::live::{Interrupt, block_on};
use crate::output::{DIM, data, hint, note, paint};
use crate::problem::{Exit, Problem};
use crate::transcript::Transcript;
use aske_bench::{ModelRegistry, PlannedSession, RunContext, Runner};
use aske_config::Layers;
use aske_model::Halt;
use aske_record::{PairId, SessionId};
use std::path::PathBuf;
use toml::Value;

pub(crate) fn run(arguments: &Ask) -> Result<Exit, Problem> {
    let solvers = chosen(arguments)?;
    let layers = load(arguments, &solvers)?;
    let settings = layers.settings()?;
    let fleet = ModelRegistry::new(&settings)?;
    let [one, two] = &solvers;
    let pair = PairId::new(one, two)
        .map_err(|error| Problem::usage(error.to_string(), "a model cannot be compared with itself"))?;
    let (path, first) = match &arguments.run {
        Some(path) => (path.clone(), 0),
        None => next_free("ask"),
    };
    let folder = open_folder(&path, &layers, &settings)?;
    let finished = |id: &SessionId| folder.index().contains(&id.to_string());
    // A pair has no order but a session has: one order takes the even numbers, the other the odd ones.
    let swapped = u32::from(pair.both()[0] != one);
    let numbers = (first..u32::MAX).filter(|number| number % 2 == swapped);
    let id = numbers.map(|sample| SessionId { pair: pair.clone(), sample }).find(|id| !finished(id));
    let planned =
        PlannedSession { id: id.unwrap_or(SessionId { pair, sample: first }), solvers: solvers.clone() };
    let (halt, interrupt) = (Halt::default(), Interrupt::default());
    let crew = RunContext::new(&settings, &fleet, &folder, &halt)?;
    let runner = Runner::new(&crew);
    let transcript = Transcript { rounds: settings.protocol.rounds, full: arguments.full };
    data(format_args!("{} asks {one} and {two}", settings.asker.model));
    let plan = [planned];
    let finished = block_on(&halt, &interrupt, runner.run(&plan, &transcript))??;
    report_failures(&finished.jobs, "sessions");
    if finished.jobs.open > 0 {
        hint(format_args!("`aske ask {one} {two} --run {}` goes on from here", path.display()));
    }
    note(paint(DIM, format_args!("stored in {}", path.display())));
    Ok(exit(&finished.jobs, &interrupt))
}

fn load(arguments: &Ask, solvers: &[String; 2]) -> Result<Layers, Problem> {
    let solvers = Some(Value::from(solvers.to_vec()));
    Ok(arguments.configuration.load(vec![("aske ask", "boundary.solvers", solvers)])?)
}

/// The two named solvers, or the first and the last of the boundary set.
fn chosen(arguments: &Ask) -> Result<[String; 2], Problem> {
    match (&arguments.one, &arguments.two) {
        (Some(one), Some(two)) => Ok([one.clone(), two.clone()]),
        (Some(_), None) => Err(Problem::usage("a session needs two solvers", "name both: aske ask A B")),
        (None, _) => {
            let settings = arguments.configuration.load(Vec::new())?.settings()?;
            let ends = [settings.solvers.first(), settings.solvers.last()];
            Ok(ends.map(|solver| solver.map(|solver| solver.model.clone()).unwrap_or_default()))
        }
    }
}

/// The first `runs/WHAT-N` that does not exist, and N.
pub(crate) fn next_free(what: &str) -> (PathBuf, u32) {
    (1..u32::MAX)
        .map(|number| (PathBuf::from(format!("runs/{what}-{number}")), number))
        .find(|(path, _)| !path.exists())
        .unwrap_or_default()
}
