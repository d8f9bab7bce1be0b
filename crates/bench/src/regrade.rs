//! The same sessions under another cross-check solver; no asker and no boundary solver is called.

use crate::panel::answers;
use crate::{Crew, Ended, RunFailure, Trouble, is_current};
use aske_config::RoleSettings;
use aske_record::{GradeLine, Record, RunError, SCHEMA, SessionRecord};
use aske_session::{Role, Slot, Transcript};
use std::collections::HashSet;

/// Another grader: who supplies the reference answer, how often, and the name of its grades.
#[derive(Clone, Debug)]
pub struct Regrading {
    /// The name of the grades.
    pub name: String,
    /// Who supplies the reference answer.
    pub check: RoleSettings,
    /// How often it answers.
    pub draws: u32,
}

/// Grades every session that has no grade of this grader, or one by an earlier rule. `done` is told of each.
pub async fn regrade(
    crew: &Crew<'_>,
    regrading: &Regrading,
    done: impl Fn(&GradeLine),
    failed: impl Fn(&RunFailure),
) -> Result<Ended, RunError> {
    let grades = crew.folder.other_grades(&regrading.name)?;
    let current = grades.before().iter().filter(|line| is_current(crew.settings, line.checker));
    let done_before: HashSet<&str> = current.map(|line| line.record.as_str()).collect();
    let sessions = crew.folder.records()?.iter().filter_map(Record::session);
    // Where it is not known what the solvers said, as in what was imported, there is nothing to grade.
    let open: Vec<&SessionRecord> = sessions
        .filter(|session| session.transcript.is_answered())
        .filter(|session| !done_before.contains(session.id().to_string().as_str()))
        .collect();
    let work = async |session: &&SessionRecord| {
        let line = one(crew, regrading, session).await?;
        grades.add(&line)?;
        done(&line);
        Ok(())
    };
    crew.all(&open, |session| session.id().to_string(), work, failed).await
}

async fn one(crew: &Crew<'_>, by: &Regrading, session: &SessionRecord) -> Result<GradeLine, Trouble> {
    let name = session.id().to_string();
    let check = match session.transcript.answers().question {
        Some(question) => {
            let record = format!("regrade/{}/{name}", by.name);
            let put = (question, crew.settings.protocol.check_tokens);
            let slot = Slot::first(0, Role::Check);
            let (solved, _) = answers(crew, &record, slot, put, &by.check, by.draws).await?;
            solved.into_iter().map(|solved| solved.answer).collect()
        }
        None => Vec::new(),
    };
    let transcript = Transcript { turns: session.transcript.turns.clone(), check: check.clone() };
    let grade = crew.grader.grade(&transcript, &crew.caller).await?;
    Ok(GradeLine { schema: SCHEMA, record: name, grade, check: Some(check), checker: crew.grader.rule() })
}
