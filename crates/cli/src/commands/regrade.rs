//! `aske regrade`: the same sessions under another cross-check solver.

use crate::arguments::Regrade;
use crate::commands::bench::{by_earlier_rule, note_earlier_rule, reopen_folder};
use crate::evidence;
use crate::output::note;
use crate::panels::{each, fleet, of_run, working};
use crate::problem::{Exit, Problem};
use aske_bench::{Regrader, is_current, regrade};
use aske_config::is_valid_name;
use aske_record::{Record, STANDARD, SessionRecord};
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) fn run(arguments: &Regrade) -> Result<Exit, Problem> {
    let name = name(arguments)?;
    let one = |run: &Path| one(arguments, &name, run);
    each(&arguments.runs, arguments.on_run.json, one, evidence::regrades)
}

/// The name of the grades: a file's name, and not the run's own.
fn name(arguments: &Regrade) -> Result<String, Problem> {
    let name = match (&arguments.name, arguments.draws) {
        (Some(name), _) => name.clone(),
        (None, 1) => arguments.check.clone(),
        (None, draws) => format!("{}-{draws}", arguments.check),
    };
    if !is_valid_name(&name) || name.starts_with('.') || name == STANDARD {
        return Err(Problem::usage(
            format!("`{name}` cannot name grades"),
            "choose another with --name: letters, digits, `.`, `_` and `-`",
        ));
    }
    Ok(name)
}

fn one(arguments: &Regrade, name: &str, run: &Path) -> Result<Exit, Problem> {
    let (layers, mut settings) = of_run(&arguments.on_run, run)?;
    let folder = reopen_folder(run, &layers, &settings)?;
    let sampling = &layers.config().check.sampling;
    let (check, section) = layers.extra_role("--check", &arguments.check, sampling)?;
    settings.models.insert(check.model.clone(), section);
    let fleet = fleet(&settings, &BTreeSet::from([check.model.clone()]))?;
    let regrading = Regrader { name: name.to_owned(), check, draws: arguments.draws };
    let answered = |session: &&SessionRecord| session.transcript.is_answered();
    let sessions = folder.records()?.iter().filter_map(Record::session).filter(answered).count();
    let grades = folder.other_grades(name)?;
    let current = grades.before().iter().filter(|line| is_current(&settings, line.checker));
    let done: BTreeSet<&str> = current.map(|line| line.record.as_str()).collect();
    let open = sessions.saturating_sub(done.len());
    note(format_args!(
        "regrade: {sessions} sessions, {open} still to do, by {}; into {}",
        arguments.check,
        run.join("grades").join(format!("{name}.jsonl")).display()
    ));
    note_earlier_rule(&settings, grades.before());
    if by_earlier_rule(&settings, folder.grades()) > 0 {
        note(format_args!(
            "the run's own grades were made before the equivalence checker was told which answer is the reference; \
             `aske bench --run {}` makes them again",
            run.display()
        ));
    }
    drop(grades);
    working(open, "sessions", (&settings, &fleet, &folder), async |crew, progress| {
        regrade(crew, &regrading, |_| progress.advance(), |_| progress.give_up()).await
    })
}
