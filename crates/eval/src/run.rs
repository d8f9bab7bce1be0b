//! Samples answers of a model to problems into a run folder.

use crate::grade::{Decision, ParsedReply, decide};
use crate::{Dataset, Declaration, Grading, Problem, prompt};
use aske_answer::NotationPolicy;
use aske_bench::{CallError, EquivalenceChecker, JobSummary, RunContext, RunFailure, record_name};
use aske_config::RoleSettings;
use aske_record::{EvalRecord, Record, RunError, SCHEMA};
use aske_session::{Call, Role, Slot};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

/// One sample of one problem.
#[derive(Clone, Copy, Debug)]
pub struct Task<'d> {
    /// The dataset.
    pub dataset: &'d Dataset,
    /// The problem.
    pub problem: &'d Problem,
    /// Index of the sample, from 0.
    pub sample: u32,
}

impl Task<'_> {
    /// The id of its record.
    pub fn id(&self) -> String {
        format!("eval/{}/{}/{}", self.dataset.declaration.name, self.problem.id, self.sample)
    }
}

/// How a model is prompted and its answers are judged.
pub struct EvalProtocol<'p> {
    /// The model that answers, and its sampling parameters.
    pub role: &'p RoleSettings,
    /// Maximum tokens of an answer.
    pub tokens: u32,
    /// Instruction after every problem, instead of the dataset's own.
    pub instruction: Option<&'p str>,
    /// The judge, for datasets that are graded by one.
    pub judge: Option<&'p EquivalenceChecker>,
}

/// Every sample of the first `limit` problems of each dataset. All problems are sampled once before any is sampled
/// twice, so that an interrupted run covers all of them.
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

/// The tasks without a record.
pub fn unasked<'t, 'd>(tasks: &'t [Task<'d>], records: &[Record]) -> Vec<&'t Task<'d>> {
    let asked: HashSet<String> = records.iter().map(Record::id).collect();
    tasks.iter().filter(|task| !asked.contains(&task.id())).collect()
}

/// The tasks without a record. If there is a judge, samples that it should have graded but did not are unfinished too, and
/// so are samples graded by an earlier version of the comparison; their stored replies are reused.
pub fn unfinished<'t, 'd>(tasks: &'t [Task<'d>], records: &[Record], judge: bool) -> Vec<&'t Task<'d>> {
    let declarations: HashMap<&str, &Declaration> = tasks
        .iter()
        .map(|task| &task.dataset.declaration)
        .map(|declaration| (declaration.name.as_str(), declaration))
        .collect();
    let done = |record: &&Record| match record {
        Record::Eval(sample) => declarations.get(sample.dataset.as_str()).is_none_or(|declaration| {
            let by = sample.by.as_str();
            if judge && declaration.grading == Grading::Judge {
                matches!(by, "judge" | "none" | "bounds")
            } else {
                let current = declaration.comparison.rules(NotationPolicy::default()).name();
                matches!(by, "judge" | "none") || sample.comparison.as_deref() == Some(current)
            }
        }),
        _ => true,
    };
    let finished: HashSet<String> = records.iter().filter(done).map(Record::id).collect();
    tasks.iter().filter(|task| !finished.contains(&task.id())).collect()
}

/// Samples every open task. Calls `done` for each finished sample; failed ones stay open.
pub async fn evaluate(
    context: &RunContext<'_>,
    protocol: &EvalProtocol<'_>,
    open: &[&Task<'_>],
    done: impl Fn(&EvalRecord),
    failed: impl Fn(&RunFailure),
) -> Result<JobSummary, RunError> {
    let work = async |task: &&Task<'_>| {
        let record = sample(context, protocol, task).await?;
        context.folder.add_record(&Record::Eval(record.clone()))?;
        tracing::debug!(sample = record.id(), right = record.right, by = record.by, "graded a sample");
        done(&record);
        Ok(())
    };
    context.run_all(open, |task| task.id(), work, failed).await
}

/// Samples one answer and grades it. The reply is stored before it is judged, so that a failing judge does not cost
/// another answer.
async fn sample(
    context: &RunContext<'_>,
    protocol: &EvalProtocol<'_>,
    task: &Task<'_>,
) -> Result<EvalRecord, CallError> {
    let Task { dataset, problem, sample } = *task;
    let (declaration, caller, record) = (&dataset.declaration, &context.caller, task.id());
    let earlier = caller.earlier_replies(&record)?;
    let call = Call {
        slot: Slot::first(0, Role::Panel),
        messages: prompt::messages(declaration, problem, protocol.instruction),
        max_tokens: protocol.tokens,
    };
    let model = context.model(protocol.role)?;
    let answered = caller.call(&record, call, (model, protocol.role), &earlier).await?;
    let (used, reply) = (answered.used(), answered.call.reply);
    let parsed = ParsedReply::read(&reply);
    let (right, by, comparison) = match decide(declaration, problem, &parsed, protocol.judge.is_some()) {
        Decision::Done { right, by, comparison } => (right, by, comparison),
        Decision::NeedsJudge => {
            (judged(context, protocol, problem, &parsed).await?, "judge".to_owned(), None)
        }
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
        solved: parsed.solved,
        boxed: parsed.boxed,
        right,
        by,
        comparison: comparison.map(Cow::Borrowed),
        used: BTreeMap::from([(Role::Panel.as_str().to_owned(), used)]),
    })
}

/// The verdict of the judge. Equal answers to a problem are judged once in a run.
async fn judged(
    context: &RunContext<'_>,
    protocol: &EvalProtocol<'_>,
    problem: &Problem,
    parsed: &ParsedReply,
) -> Result<bool, CallError> {
    let (Some(judge), Some(answer)) = (protocol.judge, parsed.answer()) else { return Ok(false) };
    let texts = [problem.question.as_str(), problem.answer.as_str(), answer];
    let messages = prompt::judge(texts[0], texts[1], texts[2]);
    judge.verdict(&record_name("judge", &texts), &messages, &context.caller).await
}
