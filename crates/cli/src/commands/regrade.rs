//! `aske regrade`: the same sessions under another cross-check solver.

use crate::arguments::Regrade;
use crate::display::evidence;
use crate::error::{CliError, Exit};
use crate::output::note;
use crate::runs::execute::{Amount, Target, run_and_report};
use crate::runs::folders::{given_or_latest, reopen};
use crate::runs::models::only;
use crate::runs::named::resolve;
use crate::runs::panels::{for_each_run, load};
use crate::runs::probe::Probing;
use crate::runs::summary::{note_outdated_grades, outdated_grades};
use crate::runtime::runtime;
use aske_bench::{Regrader, is_current, regrade};
use aske_config::is_valid_name;
use aske_record::{Record, STANDARD, SessionRecord};
use aske_report::number::counted;
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) fn run(arguments: &Regrade) -> Result<Exit, CliError> {
    let one = |run: &Path| one(arguments, run);
    for_each_run(&given_or_latest(&arguments.runs)?, arguments.on_run.json, one, evidence::regrades)
}

/// The name of the grades: a valid file name other than that of the run's own grades.
fn name(arguments: &Regrade, check: &str) -> Result<String, CliError> {
    let name = match (&arguments.name, arguments.draws) {
        (Some(name), _) => name.clone(),
        (None, 1) => check.to_owned(),
        (None, draws) => format!("{check}-{draws}"),
    };
    if !is_valid_name(&name) || name.starts_with('.') || name == STANDARD {
        return Err(CliError::usage(
            format!("`{name}` cannot name grades"),
            "choose another with --name: letters, digits, `.`, `_` and `-`",
        ));
    }
    Ok(name)
}

fn one(arguments: &Regrade, run: &Path) -> Result<Exit, CliError> {
    let (mut layers, mut settings) = load(&arguments.on_run, run)?;
    let check = resolve(&arguments.check, &mut layers)?;
    let name = &name(arguments, &check)?;
    let folder = reopen(run, &layers, &settings)?;
    let sampling = &layers.config().check.sampling;
    let (check, section) = layers.extra_role("--check", &check, sampling)?;
    settings.models.insert(check.model.clone(), section);
    let models = only(&settings, &BTreeSet::from([check.model.clone()]))?;
    let regrading = Regrader { name: name.clone(), check, draws: arguments.draws };
    let answered = |session: &&SessionRecord| session.transcript.is_answered();
    let sessions = folder.records()?.iter().filter_map(Record::session).filter(answered).count();
    let (_, grades) = folder.other_grades(name)?;
    let current = grades.iter().filter(|line| is_current(&settings, &line.rules));
    let done: BTreeSet<&str> = current.map(|line| line.record.as_str()).collect();
    let open = sessions.saturating_sub(done.len());
    note(format_args!(
        "regrade: {}, {open} to do, by {}; into {}",
        counted(sessions, "session"),
        arguments.check,
        run.join("grades").join(format!("{name}.jsonl")).display()
    ));
    note_outdated_grades(&settings, &grades);
    if outdated_grades(&settings, folder.grades()) > 0 {
        note(format_args!(
            "the run's own grades were made by earlier rules; `aske bench --run {}` grades them again",
            run.display()
        ));
    }
    let target = Target { settings: &settings, models: &models, folder: &folder };
    let amount = Amount { finished: sessions - open, open };
    let checker = settings.equivalence.as_ref().map(|(role, _)| role);
    let roles: Vec<_> = std::iter::once(&regrading.check).chain(checker).filter(|_| open > 0).collect();
    let probing = Probing { settings: &settings, models: &models, skip: arguments.on_run.no_probe };
    runtime()?.block_on(async {
        probing.within(&folder, &roles).await?;
        run_and_report(amount, "sessions", target, async |context, progress| {
            regrade(context, &regrading, |_| progress.advance(), |_| progress.give_up()).await
        })
        .await
    })
}
