//! `aske audit`: luck against skill.

use crate::arguments::Audit;
use crate::evidence;
use crate::panels::{Work, on_run};
use crate::problem::{Exit, Problem};
use aske_bench::{Panel, audit_panels};
use aske_config::Settings;
use aske_record::{Record, RunDir, SessionRecord};
use std::collections::HashSet;

pub(crate) fn run(arguments: &Audit) -> Result<Exit, Problem> {
    // Final questions are solved again; nobody asks, and the reference answers are there.
    let models = |settings: &Settings| settings.solvers.iter().map(|role| role.model.clone()).collect();
    let panels = |settings: &Settings, folder: &RunDir| chosen(arguments, settings, folder);
    let work = Work { what: "audit", things: "questions", models, panels };
    on_run(&arguments.runs, &arguments.on_run, &work, evidence::audits)
}

/// The sessions with a standing cross-check, or some of them.
fn chosen(arguments: &Audit, settings: &Settings, folder: &RunDir) -> Vec<Panel> {
    let standing: HashSet<&str> = folder
        .grades()
        .iter()
        .filter(|line| line.grade.right.is_some())
        .map(|line| line.record.as_str())
        .collect();
    let mut sessions: Vec<&SessionRecord> = folder
        .records()
        .iter()
        .filter_map(Record::session)
        .filter(|session| standing.contains(session.id().to_string().as_str()))
        .collect();
    if let Some(limit) = arguments.limit {
        // By chance, but the same every time: the name's hash orders them.
        sessions.sort_by_cached_key(|session| {
            aske_session::Seed(settings.run.seed)
                .of_call(&session.id().to_string(), aske_session::Slot::first(0, aske_session::Role::Panel))
        });
        sessions.truncate(limit);
    }
    audit_panels(settings, sessions.into_iter(), arguments.draws, !arguments.no_controls)
}
