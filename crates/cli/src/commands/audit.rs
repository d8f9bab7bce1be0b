//! `aske audit`: final questions solved again, to separate skill from luck.

use crate::arguments::Audit;
use crate::display::evidence;
use crate::error::{CliError, Exit};
use crate::runs::folders::given_or_latest;
use crate::runs::panels::run_for_each;
use aske_bench::{Panel, audit_panels, sessions_with_cross_check};
use aske_config::Settings;
use aske_record::RunDir;
use aske_session::{Role, Seed, Slot};

pub(crate) fn run(arguments: &Audit) -> Result<Exit, CliError> {
    // Only solvers are called: questions and reference answers are stored.
    let models = |settings: &Settings| settings.solvers.iter().map(|role| role.model.clone()).collect();
    let panels = |settings: &Settings, folder: &RunDir| chosen(arguments, settings, folder);
    let runs = given_or_latest(&arguments.runs)?;
    run_for_each(&runs, &arguments.on_run, "audit", models, panels, evidence::audits)
}

/// The sessions with an agreed reference answer, or a random part of them.
fn chosen(arguments: &Audit, settings: &Settings, folder: &RunDir) -> Result<Vec<Panel>, CliError> {
    let mut sessions = sessions_with_cross_check(folder)?;
    if let Some(limit) = arguments.limit {
        // Ordered by a hash of the name: random, but the same every time.
        sessions.sort_by_cached_key(|session| {
            Seed(settings.run.seed).of_call(&session.id().to_string(), Slot::first(0, Role::Panel))
        });
        sessions.truncate(limit);
    }
    Ok(audit_panels(settings, sessions.into_iter(), arguments.draws, !arguments.no_controls))
}
