//! `aske audit`: luck against skill.

use crate::arguments::Audit;
use crate::evidence;
use crate::panels::on_run;
use crate::problem::{Exit, Problem};
use aske_bench::{Panel, audit_panels, sessions_with_cross_check};
use aske_config::Settings;
use aske_record::RunDir;
use aske_session::{Role, Seed, Slot};

pub(crate) fn run(arguments: &Audit) -> Result<Exit, Problem> {
    // Final questions are solved again; nobody asks, and the reference answers are there.
    let models = |settings: &Settings| settings.solvers.iter().map(|role| role.model.clone()).collect();
    let panels = |settings: &Settings, folder: &RunDir| chosen(arguments, settings, folder);
    on_run(&arguments.runs, &arguments.on_run, "audit", models, panels, evidence::audits)
}

/// The sessions with a standing cross-check, or some of them.
fn chosen(arguments: &Audit, settings: &Settings, folder: &RunDir) -> Result<Vec<Panel>, Problem> {
    let mut sessions = sessions_with_cross_check(folder)?;
    if let Some(limit) = arguments.limit {
        // By chance, but the same every time: the name's hash orders them.
        sessions.sort_by_cached_key(|session| {
            Seed(settings.run.seed).of_call(&session.id().to_string(), Slot::first(0, Role::Panel))
        });
        sessions.truncate(limit);
    }
    Ok(audit_panels(settings, sessions.into_iter(), arguments.draws, !arguments.no_controls))
}
