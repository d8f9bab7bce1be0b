//! Regrades sessions with another cross-check solver. No asker and no boundary solver is called.

use crate::panel::answers;
use crate::{CallError, JobSummary, RunContext, RunFailure, is_current};
use aske_config::RoleSettings;
use aske_record::{GradeLine, Record, RunError, SessionRecord};
use aske_session::{Role, Slot, Transcript};
use std::collections::HashSet;

/// Another grader: its name, cross-check solver and number of draws.
#[derive(Clone, Debug)]
pub struct Regrader {
    /// The name of the grades.
    pub name: String,
    /// The cross-check solver.
    pub check: RoleSettings,
    /// Number of draws.
    pub draws: u32,
}

/// Grades every session without a current grade of this grader. Calls `done` for each new grade.
pub async fn regrade(
    context: &RunContext<'_>,
    regrading: &Regrader,
    done: impl Fn(&GradeLine),
    failed: impl Fn(&RunFailure),
) -> Result<JobSummary, RunError> {
    let (grades, earlier) = context.folder.other_grades(&regrading.name)?;
    let current = earlier.iter().filter(|line| is_current(context.settings, &line.rules));
    let done_before: HashSet<&str> = current.map(|line| line.record.as_str()).collect();
    let sessions = context.folder.records()?.iter().filter_map(Record::session);
    // Imported sessions without solver answers cannot be graded.
    let open: Vec<&SessionRecord> = sessions
        .filter(|session| session.transcript.is_answered())
        .filter(|session| !done_before.contains(session.id().to_string().as_str()))
        .collect();
    let work = async |session: &&SessionRecord| {
        let line = one(context, regrading, session).await?;
        grades.append(&line)?;
        done(&line);
        Ok(())
    };
    context.run_all(&open, |session| session.id().to_string(), work, failed).await
}

async fn one(
    context: &RunContext<'_>,
    by: &Regrader,
    session: &SessionRecord,
) -> Result<GradeLine, CallError> {
    let name = session.id().to_string();
    let check = match session.transcript.answers().question {
        Some(question) => {
            let record = format!("regrade/{}/{name}", by.name);
            let task = (question, context.settings.protocol.check_tokens);
            let slot = Slot::first(0, Role::Check);
            let (solved, _) = answers(context, &record, slot, task, &by.check, by.draws).await?;
            solved.into_iter().map(|solved| solved.answer).collect()
        }
        None => Vec::new(),
    };
    let transcript = Transcript { turns: session.transcript.turns.clone(), check: check.clone() };
    let grade = context.grader.grade(&transcript, &context.caller).await?;
    Ok(GradeLine { check: Some(check), ..GradeLine::new(name, grade, context.grader.rules()) })
}
