//! Problems put to a model, sample by sample, into a run folder.

use crate::grade::{Answered, Decision, decide};
use crate::{Dataset, Grading, Problem, prompt};
use aske_bench::{CallError, CallReply, Checker, JobSummary, RunContext, RunFailure, record_name};
use aske_config::RoleSettings;
use aske_record::{EvalRecord, Record, RunError, SCHEMA};
use aske_session::{Call, Role, Slot};
use std::collections::{BTreeMap, HashSet};

/// One sample of one problem.
#[derive(Clone, Copy, Debug)]
pub struct Task<'d> {
    /// The dataset.
    pub dataset: &'d Dataset,
    /// The problem.
    pub problem: &'d Problem,
    /// Which of its samples, from 0.
    pub sample: u32,
}

impl Task<'_> {
    /// The name of its record.
    pub fn id(&self) -> String {
        format!("eval/{}/{}/{}", self.dataset.declaration.name, self.problem.id, self.sample)
    }
}

/// How problems are put and judged.
pub struct Protocol<'p> {
    /// Who answers, and how it samples.
    pub role: &'p RoleSettings,
    /// Tokens of an answer.
    pub tokens: u32,
    /// What follows every problem, instead of the datasets' own instructions.
    pub instruction: Option<&'p str>,
    /// Who judges where a dataset wants it.
    pub judge: Option<&'p Checker>,
}

/// Every sample of the first `limit` problems of each dataset: each problem once before any problem twice, so that a
/// run that is cut short tells about all of them.
pub fn plan(datasets: &[Dataset], samples: u32, limit: Option<usize>) -> Vec<Task<'_>> {
    let problems = |dataset: &'_ Dataset| limit.unwrap_or(usize::MAX).min(dataset.problems.len());
    (0..samples)
        .flat_map(|sample| {
            datasets.iter().flat_map(move |dataset| {
                let chosen = &dataset.problems[..problems(dataset)];
                chosen.iter().map(move |problem| Task { dataset, problem, sample })
            })
        })
        .collect()
}

/// The tasks that a folder has not finished. Where there is a judge, what it should have decided and another did is not
/// finished: its reply is stored, and is not asked for again.
pub fn open<'t, 'd>(tasks: &'t [Task<'d>], records: &[Record], judge: bool) -> Vec<&'t Task<'d>> {
    let judged: HashSet<&str> = tasks
        .iter()
        .map(|task| &task.dataset.declaration)
        .filter(|declaration| judge && declaration.grading == Grading::Judge)
        .map(|declaration| declaration.name.as_str())
        .collect();
    let done = |record: &&Record| match record {
        Record::Eval(sample) => {
            !judged.contains(sample.dataset.as_str())
                || matches!(sample.by.as_str(), "judge" | "none" | "bounds")
        }
        _ => true,
    };
    let finished: HashSet<String> = records.iter().filter(done).map(Record::id).collect();
    tasks.iter().filter(|task| !finished.contains(&task.id())).collect()
}

/// Puts every open problem. `done` is told of each sample; what fails stays open for another time.
pub async fn evaluate(
    crew: &RunContext<'_>,
    protocol: &Protocol<'_>,
    open: &[&Task<'_>],
    done: impl Fn(&EvalRecord),
    failed: impl Fn(&RunFailure),
) -> Result<JobSummary, RunError> {
    let work = async |task: &&Task<'_>| {
        let record = put(crew, protocol, task).await?;
        crew.folder().add_record(&Record::Eval(record.clone()))?;
        done(&record);
        Ok(())
    };
    crew.run_all(open, |task| task.id(), work, failed).await
}

/// One sample from its request to its record. The reply is stored before it is judged, so a judge that fails costs no
/// second answer.
async fn put(
    crew: &RunContext<'_>,
    protocol: &Protocol<'_>,
    task: &Task<'_>,
) -> Result<EvalRecord, CallError> {
    let Task { dataset, problem, sample } = *task;
    let (declaration, caller, record) = (&dataset.declaration, crew.caller(), task.id());
    let replay = caller.earlier_replies(&record)?;
    let call = Call {
        slot: Slot::first(0, Role::Panel),
        messages: prompt::messages(declaration, problem, protocol.instruction),
        max_tokens: protocol.tokens,
    };
    let model = crew.model(protocol.role)?;
    let CallReply { reply, used, .. } = caller.call(&record, call, (model, protocol.role), &replay).await?;
    let answered = Answered::read(&reply);
    let (right, by) = match decide(declaration, problem, &answered, protocol.judge.is_some()) {
        Decision::Done { right, by } => (right, by),
        Decision::Ask => (judged(crew, protocol, problem, &answered).await?, "judge".to_owned()),
    };
    Ok(EvalRecord {
        schema: SCHEMA,
        dataset: declaration.name.clone(),
        title: declaration.title.clone(),
        problem: problem.id.clone(),
        sample,
        level: problem.level,
        model: protocol.role.model.clone(),
        question: problem.question.clone(),
        reference: problem.answer.clone(),
        solved: answered.solved,
        boxed: answered.boxed,
        right,
        by,
        used: BTreeMap::from([(Role::Panel.as_str().to_owned(), used)]),
    })
}

/// What the judge says. The same answer to the same problem is judged once in a run.
async fn judged(
    crew: &RunContext<'_>,
    protocol: &Protocol<'_>,
    problem: &Problem,
    answered: &Answered,
) -> Result<bool, CallError> {
    let (Some(judge), Some(answer)) = (protocol.judge, answered.answer()) else { return Ok(false) };
    let texts = [problem.question.as_str(), problem.answer.as_str(), answer];
    let messages = prompt::judge(texts[0], texts[1], texts[2]);
    judge.verdict(&record_name("judge", &texts), &messages, crew.caller()).await
}
