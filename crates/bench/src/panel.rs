//! Questions to solvers outside of sessions: audits, baselines and difficulty.

use crate::{CallError, Caller, JobSummary, RunContext, RunFailure, is_current};
use aske_config::{RoleSettings, Settings};
use aske_record::{PanelRecord, Record, RoleUsage, RunDir, RunError, SCHEMA, SessionRecord};
use aske_session::{Call, Need, Protocol, Role, Session, Slot, SolverAnswer};
use futures_util::future::join_all;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A question and the solvers to ask.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The first part of its record's name.
    kind: &'static str,
    record: fn(PanelRecord) -> Record,
    /// Unique among its kind in the run.
    name: String,
    /// The name under which its replies are stored. Audits with more draws reuse the replies of smaller ones.
    calls: String,
    source: Source,
    /// Solvers with their number of draws.
    solvers: Vec<(RoleSettings, u32)>,
}

/// The source of the question.
#[derive(Clone, Debug)]
enum Source {
    /// A session's final question, with its cross-check answers.
    Session { name: String, question: String, check: Vec<Option<String>> },
    /// The asker, without probing.
    Asker,
}

impl Panel {
    /// The number of calls if nothing is stored.
    pub fn calls(&self, settings: &Settings) -> u64 {
        let asked = match self.source {
            Source::Session { .. } => 0,
            Source::Asker => 1 + u64::from(settings.protocol.check_draws),
        };
        asked + self.solvers.iter().map(|(_, draws)| u64::from(*draws)).sum::<u64>()
    }

    /// The roles that it calls.
    pub fn roles<'s>(&'s self, settings: &'s Settings) -> impl Iterator<Item = &'s RoleSettings> {
        let asked = matches!(self.source, Source::Asker).then_some([&settings.asker, &settings.check]);
        let checker = settings.equivalence.as_ref().map(|(role, _)| role);
        asked.into_iter().flatten().chain(self.solvers.iter().map(|(solver, _)| solver)).chain(checker)
    }

    /// The name of its record.
    pub fn id(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }
}

/// The finished sessions of a folder with a reference answer; only their answers can be judged.
pub fn sessions_with_cross_check(folder: &RunDir) -> Result<Vec<&SessionRecord>, RunError> {
    // The last grade of a session counts.
    let stands: HashMap<&str, bool> =
        folder.grades().iter().map(|line| (line.record.as_str(), line.grade.right.is_some())).collect();
    let sessions = folder.records()?.iter().filter_map(Record::session);
    Ok(sessions.filter(|session| stands.get(session.id().to_string().as_str()) == Some(&true)).collect())
}

/// The panels of an audit: final questions are solved again `draws` times by both solvers of their session, and once by two
/// other solvers as a control.
pub fn audit_panels<'s>(
    settings: &Settings,
    sessions: impl Iterator<Item = &'s SessionRecord>,
    draws: u32,
    controls: bool,
) -> Vec<Panel> {
    sessions
        .filter_map(|session| {
            let name = session.id().to_string();
            let own = session.solvers.iter().filter_map(|name| Some((solver(settings, name)?, draws)));
            let mut solvers: Vec<(RoleSettings, u32)> = own.collect();
            if controls {
                solvers.extend(others(settings, session, &name).into_iter().map(|other| (other, 1)));
            }
            let calls = format!("audit/{name}");
            let source = source(session)?;
            let depth = if controls { draws.to_string() } else { format!("{draws}-plain") };
            let name = format!("{depth}/{name}");
            Some(Panel { kind: "audit", record: Record::Audit, name, calls, source, solvers })
        })
        .collect()
}

/// The panels of a baseline: questions without probing, put once to every solver.
pub fn baseline_panels(settings: &Settings, questions: u32) -> Vec<Panel> {
    (0..questions)
        .map(|number| Panel {
            kind: "baseline",
            record: Record::Baseline,
            name: number.to_string(),
            calls: format!("baseline/{number}"),
            source: Source::Asker,
            solvers: settings.solvers.iter().map(|solver| (solver.clone(), 1)).collect(),
        })
        .collect()
}

/// The panels of a difficulty measurement: final questions, put once to an independent solver.
pub fn difficulty_panels<'s>(
    solver: &RoleSettings,
    sessions: impl Iterator<Item = &'s SessionRecord>,
) -> Vec<Panel> {
    sessions
        .filter_map(|session| {
            let name = format!("{}/{}", solver.model, session.id());
            let calls = format!("difficulty/{}", session.id());
            let (source, solvers) = (source(session)?, vec![(solver.clone(), 1)]);
            Some(Panel { kind: "difficulty", record: Record::Difficulty, name, calls, source, solvers })
        })
        .collect()
}

fn source(session: &SessionRecord) -> Option<Source> {
    let question = session.transcript.answers().question?.to_owned();
    let (name, check) = (session.id().to_string(), session.transcript.check.clone());
    Some(Source::Session { name, question, check })
}

fn solver(settings: &Settings, name: &str) -> Option<RoleSettings> {
    settings.solvers.iter().find(|solver| solver.model == name).cloned()
}

/// Two solvers outside of the session's pair, chosen by the run's seed; none if there are fewer.
fn others(settings: &Settings, session: &SessionRecord, name: &str) -> Vec<RoleSettings> {
    let outside = settings.solvers.iter().filter(|solver| !session.solvers.contains(&solver.model));
    let mut outside: Vec<&RoleSettings> = outside.collect();
    outside.sort_by_cached_key(|solver| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&settings.run.seed.to_le_bytes());
        hasher.update(name.as_bytes());
        hasher.update(solver.model.as_bytes());
        *hasher.finalize().as_bytes()
    });
    if outside.len() < 2 { Vec::new() } else { outside.into_iter().take(2).cloned().collect() }
}

/// The names of the records that were judged by the current rules.
pub fn judged_records(settings: &Settings, folder: &RunDir) -> Result<HashSet<String>, RunError> {
    let current = |record: &&Record| match record {
        Record::Baseline(panel) | Record::Audit(panel) | Record::Difficulty(panel) => {
            is_current(settings, &panel.rules)
        }
        Record::Session(_) | Record::Eval(_) => true,
    };
    Ok(folder.records()?.iter().filter(current).map(Record::id).collect())
}

/// Runs all panels without a current record; those judged by earlier rules are judged again. Calls `done` for each new
/// record.
pub async fn run_panels(
    context: &RunContext<'_>,
    panels: &[Panel],
    done: impl Fn(&PanelRecord),
    failed: impl Fn(&RunFailure),
) -> Result<JobSummary, RunError> {
    let finished = judged_records(context.settings, context.folder)?;
    let open: Vec<&Panel> = panels.iter().filter(|panel| !finished.contains(&panel.id())).collect();
    let work = async |panel: &&Panel| {
        let record = run_panel(context, panel).await?;
        context.folder.add_record(&(panel.record)(record.clone()))?;
        done(&record);
        Ok(())
    };
    context.run_all(&open, |panel| panel.id(), work, failed).await
}

/// Runs one panel.
async fn run_panel(context: &RunContext<'_>, panel: &Panel) -> Result<PanelRecord, CallError> {
    let mut used: BTreeMap<String, RoleUsage> = BTreeMap::new();
    let (session, question, check) = match &panel.source {
        Source::Session { name, question, check } => {
            (Some(name.clone()), Some(question.clone()), check.clone())
        }
        Source::Asker => {
            let (question, check) = ask(context, &panel.calls, &mut used).await?;
            (None, question, check)
        }
    };
    let mut answers: BTreeMap<String, Vec<SolverAnswer>> = BTreeMap::new();
    if let Some(question) = &question {
        let asked =
            panel.solvers.iter().map(|(solver, draws)| draw(context, panel, question, solver, *draws));
        // All of them run to their end, so that no reply is lost when another call fails.
        for drawn in join_all(asked).await {
            let (name, solved, more) = drawn?;
            answers.insert(name, solved);
            used.entry(Role::Panel.as_str().to_owned()).or_default().add(&more);
        }
    }
    let right = match &question {
        Some(_) => judge(context, &check, &answers).await?,
        None => None,
    };
    let name = panel.name.clone();
    Ok(PanelRecord {
        schema: SCHEMA,
        name,
        session,
        question,
        check,
        answers,
        right,
        rules: context.grader.rules(),
        used,
    })
}

/// The asker's question without probing, and the cross-check answers to it.
async fn ask(
    context: &RunContext<'_>,
    record: &str,
    used: &mut BTreeMap<String, RoleUsage>,
) -> Result<(Option<String>, Vec<Option<String>>), CallError> {
    let settings = context.settings;
    let protocol = Protocol { rounds: 0, ..settings.protocol.clone() };
    let mut session = Session::new(protocol, settings.pack.clone(), settings.domain);
    let replay = context.caller.stored_replies(record)?;
    if let Need::Calls(calls) = session.need() {
        for call in calls {
            let slot = call.slot;
            let asker = (context.model(&settings.asker)?, &settings.asker);
            let answered = context.caller.call(record, call, asker, &replay).await?;
            used.entry(slot.role.as_str().to_owned()).or_default().add(&answered.used());
            session
                .feed(slot, answered.call.reply)
                .map_err(|error| CallError::rejected(asker.0.name(), &error))?;
        }
    }
    let Some(question) = session.asked_turn(1).and_then(|turn| turn.question.clone()) else {
        return Ok((None, Vec::new()));
    };
    let (slot, draws) = (Slot::first(1, Role::Check), settings.protocol.check_draws);
    let max_tokens = settings.protocol.check_tokens;
    let (solved, more) =
        answers(context, record, slot, (&question, max_tokens), &settings.check, draws).await?;
    used.entry(Role::Check.as_str().to_owned()).or_default().add(&more);
    Ok((Some(question), solved.into_iter().map(|solved| solved.answer).collect()))
}

/// The draws of one solver.
async fn draw(
    context: &RunContext<'_>,
    panel: &Panel,
    question: &str,
    solver: &RoleSettings,
    draws: u32,
) -> Result<(String, Vec<SolverAnswer>, RoleUsage), CallError> {
    let record = format!("{}/{}", panel.calls, solver.model);
    let task = (question, context.settings.protocol.solver_final_tokens);
    let (answered, used) =
        answers(context, &record, Slot::first(0, Role::Panel), task, solver, draws).await?;
    Ok((solver.model.clone(), answered, used))
}

/// Independent answers of one model to a final question.
pub(crate) async fn answers(
    context: &RunContext<'_>,
    record: &str,
    first: Slot,
    (question, max_tokens): (&str, u32),
    role: &RoleSettings,
    draws: u32,
) -> Result<(Vec<SolverAnswer>, RoleUsage), CallError> {
    let caller: &Caller<'_> = &context.caller;
    let (model, replay) = (context.model(role)?, caller.stored_replies(record)?);
    let messages = context.settings.pack.final_question(question);
    let calls = (0..draws).map(|draw| {
        let call = Call { slot: Slot { draw, ..first }, messages: messages.clone(), max_tokens };
        caller.call(record, call, (model, role), &replay)
    });
    let (mut solved, mut used) = (Vec::new(), RoleUsage::default());
    for answer in join_all(calls).await {
        let answered = answer?;
        solved.push(SolverAnswer::read(&answered.call.reply, &context.settings.domain));
        used.add(&answered.used());
    }
    Ok((solved, used))
}

/// Judges all answers; none where the cross-check answers do not agree.
async fn judge(
    context: &RunContext<'_>,
    check: &[Option<String>],
    answers: &BTreeMap<String, Vec<SolverAnswer>>,
) -> Result<Option<BTreeMap<String, Vec<bool>>>, CallError> {
    let check: Vec<Option<&str>> = check.iter().map(Option::as_deref).collect();
    let judged = answers.iter().map(async |(name, solved)| {
        let answers: Vec<Option<&str>> = solved.iter().map(|solved| solved.answer.as_deref()).collect();
        let right = context.grader.judge(&check, &answers, &context.caller).await?;
        Ok::<_, CallError>(right.map(|right| (name.clone(), right)))
    });
    // All of them run to their end, so that no verdict is lost when another fails.
    join_all(judged).await.into_iter().collect()
}
