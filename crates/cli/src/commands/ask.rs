//! `aske ask`: one session, shown live.

use crate::arguments::Ask;
use crate::display::transcript::Transcript;
use crate::error::{CliError, Exit};
use crate::output::{DIM, data, hint, note, paint};
use crate::runs::folders;
use crate::runs::servers::{Hosting, Servers, during};
use crate::runs::summary::{exit_status, report_dropped, report_failures};
use crate::runs::waiting::WaitingModels;
use crate::runtime::{Interrupt, interruptible, runtime};
use crate::shell::command;
use aske_bench::{PlannedSession, RunContext, Runner};
use aske_config::Layers;
use aske_model::Halt;
use aske_record::{PairId, SessionId};
use toml::Value;

pub(crate) fn run(arguments: &Ask) -> Result<Exit, CliError> {
    let words = chosen(arguments)?;
    let layers = load(arguments, &words)?;
    let settings = layers.settings()?;
    let solvers = [0, 1].map(|place| settings.solvers[place].model.clone());
    let [one, two] = &solvers;
    let pair = PairId::new(one, two)
        .map_err(|error| CliError::usage(error.to_string(), "a model cannot be compared with itself"))?;
    let (path, first) = match &arguments.run {
        Some(path) => (path.clone(), 0),
        None => folders::next_free("ask"),
    };
    let servers = Servers::find(&settings, Hosting::of(&arguments.serving))?;
    let models = Servers::registry(servers.as_ref(), &settings, &path)?;
    let folder = folders::open(&path, &layers, &settings)?;
    let finished = |id: &SessionId| folder.index().contains(&id.to_string());
    // A pair is unordered, a session is not: one order uses the even sample numbers, the other the odd ones.
    let swapped = u32::from(pair.both()[0] != one);
    let numbers = (first..u32::MAX).filter(|number| number % 2 == swapped);
    let id = numbers.map(|sample| SessionId { pair: pair.clone(), sample }).find(|id| !finished(id));
    let planned =
        PlannedSession { id: id.unwrap_or(SessionId { pair, sample: first }), solvers: solvers.clone() };
    let (halt, interrupt) = (Halt::default(), Interrupt::default());
    let context = RunContext::new(&settings, &models, &folder, &halt)?;
    let runner = Runner::new(&context);
    let transcript = Transcript { rounds: settings.protocol.rounds, full: arguments.full };
    data(format_args!("{} asks {one} and {two}", settings.asker.model));
    let plan = [planned];
    let run = path.display().to_string();
    let words = ["aske", "ask", one, two, "--run", &run].map(str::to_owned).into_iter();
    let next = format!("`{}` continues it", command(words.chain(arguments.configuration.words())));
    let waiting = WaitingModels::default();
    let work = async {
        let done = interruptible(&halt, &interrupt, async {
            tokio::select! {
                done = runner.run(&plan, &transcript) => done,
                never = waiting.show_forever(&models, &interrupt) => match never {},
            }
        });
        let done = done.await;
        if done.is_err() {
            report_dropped(&waiting.last(), &next);
        }
        Ok(done??)
    };
    let finished = runtime()?.block_on(during(servers.as_ref(), &path, work))?;
    report_failures(&finished.jobs, "sessions");
    if finished.jobs.open > 0 {
        hint(&next);
    }
    note(paint(DIM, format_args!("stored in {}", path.display())));
    Ok(exit_status(&finished.jobs, &interrupt))
}

fn load(arguments: &Ask, solvers: &[String; 2]) -> Result<Layers, CliError> {
    let solvers = Some(Value::from(solvers.to_vec()));
    arguments.configuration.load(vec![("aske ask", "boundary.solvers", solvers)])
}

/// The two named solvers, or the first and the last of the boundary set.
fn chosen(arguments: &Ask) -> Result<[String; 2], CliError> {
    match (&arguments.one, &arguments.two) {
        (Some(one), Some(two)) => Ok([one.clone(), two.clone()]),
        (Some(_), None) => Err(CliError::usage("a session needs two solvers", "name both: aske ask A B")),
        (None, _) => {
            let settings = arguments.configuration.load(Vec::new())?.settings()?;
            let ends = [settings.solvers.first(), settings.solvers.last()];
            Ok(ends.map(|solver| solver.map(|solver| solver.model.clone()).unwrap_or_default()))
        }
    }
}
