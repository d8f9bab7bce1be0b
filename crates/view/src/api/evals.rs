//! `/api/evals`: the list of an evaluation's problems; `/api/eval`: one problem with every reply.

use super::session::{Calls, page_cost, stored};
use super::sessions::{Paging, QUESTION_CHARS, ROW_BYTES};
use crate::params::{Params, json_word};
use crate::render::{TextBudget, excerpt};
use crate::request::{ApiRequest, Cost, Part};
use crate::runs::LoadedRun;
use crate::search::Needle;
use aske_evidence::Run;
use aske_http::ApiError;
use aske_record::{EvalRecord, Replies};
use aske_session::{Role, Slot};
use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// All samples of one problem.
pub(super) struct ProblemSamples<'r> {
    /// Any of the samples.
    pub(super) first: &'r EvalRecord,
    pub(super) samples: BTreeMap<u32, &'r EvalRecord>,
}

impl ProblemSamples<'_> {
    pub(super) fn name(&self) -> [String; 2] {
        [self.first.dataset.clone(), self.first.problem.clone()]
    }

    pub(super) fn right(&self) -> usize {
        self.samples.values().filter(|sample| sample.right).count()
    }
}

/// All problems by dataset and name. Of two records of the same sample, the later one counts.
pub(super) fn problems(run: &Run) -> Vec<ProblemSamples<'_>> {
    let mut found = BTreeMap::new();
    for record in &run.evals {
        let name = (natural_key(&record.dataset), natural_key(&record.problem));
        let problem =
            found.entry(name).or_insert_with(|| ProblemSamples { first: record, samples: BTreeMap::new() });
        problem.samples.insert(record.sample, record);
    }
    found.into_values().collect()
}

/// A sort key that puts 10 after 9: each part is letters, the number of digits that follow, and the digits.
fn natural_key(mut name: &str) -> Vec<(&str, usize, &str)> {
    let mut parts = Vec::new();
    while !name.is_empty() {
        let (letters, rest) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()));
        let (digits, rest) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
        parts.push((letters, digits.trim_start_matches('0').len(), digits));
        name = rest;
    }
    parts
}

/// How often the model was right.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Solved {
    Always,
    Sometimes,
    Never,
}

impl Solved {
    fn of(problem: &ProblemSamples<'_>) -> Self {
        match problem.right() {
            0 => Self::Never,
            all if all == problem.samples.len() => Self::Always,
            _ => Self::Sometimes,
        }
    }
}

/// Which problems are listed.
struct ProblemFilter {
    needle: Option<Needle>,
    solved: Option<Solved>,
}

impl ProblemFilter {
    fn parse(params: &mut Params) -> Result<Self, ApiError> {
        Ok(Self {
            needle: params.text("q")?.map(|text| Needle::new(&text)),
            solved: params.choice("solved", [Solved::Always, Solved::Sometimes, Solved::Never], json_word)?,
        })
    }

    fn matches(&self, problem: &ProblemSamples<'_>) -> bool {
        let EvalRecord { dataset, problem: name, question, .. } = problem.first;
        let mentions = |needle: &Needle| [dataset, name, question].iter().any(|text| needle.is_in(text));
        self.needle.as_ref().is_none_or(mentions)
            && self.solved.is_none_or(|solved| solved == Solved::of(problem))
    }
}

pub(super) async fn list(mut request: ApiRequest) -> Result<Response, ApiError> {
    let run = request.params.run()?;
    let filter = ProblemFilter::parse(&mut request.params)?;
    let Paging { offset, limit } = Paging::parse(&mut request.params)?;
    request.params.end()?;
    let respond = request.run_json(run, Part::Whole, move |loaded: LoadedRun<'_>| {
        let samples = loaded.run.evals.len();
        let cost = Cost { read_bytes: samples.saturating_mul(512), response_bytes: limit * ROW_BYTES };
        let page = move |loaded: LoadedRun<'_>| {
            let all = problems(loaded.run);
            let matching: Vec<_> = all.iter().filter(|problem| filter.matches(problem)).collect();
            let rows = matching.iter().skip(offset).take(limit).map(|problem| {
                json!({
                    "dataset": problem.first.dataset,
                    "problem": problem.first.problem,
                    "level": problem.first.level,
                    "question": excerpt(&problem.first.question, QUESTION_CHARS),
                    "right": problem.right(),
                    "samples": problem.samples.len(),
                })
            });
            let rows: Vec<Value> = rows.collect();
            Ok(json!({ "version": loaded.status.version, "total": matching.len(), "offset": offset, "rows": rows }))
        };
        Ok((cost, page))
    });
    respond.await
}

pub(super) async fn problem(mut request: ApiRequest) -> Result<Response, ApiError> {
    let params = &mut request.params;
    let run = params.run()?;
    let name = [params.required("dataset")?, params.required("problem")?];
    let filter = ProblemFilter::parse(params)?;
    let samples = SampleFilter {
        right: params
            .choice("only", [true, false], |right| (if *right { "right" } else { "wrong" }).to_owned())?,
        paging: Paging::parse(params)?,
    };
    params.end()?;
    let respond = request.run_json(run, Part::Whole, move |loaded: LoadedRun<'_>| {
        let run = loaded.run;
        let all = problems(run);
        let (_, shown) = samples.of(&all[position(&all, &name)?]);
        let bytes = shown.iter().map(|sample| stored(run, &sample.id())).sum::<Result<usize, ApiError>>()?;
        let cost = page_cost(bytes + 512 * run.evals.len());
        Ok((cost, move |loaded: LoadedRun<'_>| details(loaded, &name, &filter, samples)))
    });
    respond.await
}

/// Which samples of a problem are shown.
#[derive(Clone, Copy)]
struct SampleFilter {
    right: Option<bool>,
    paging: Paging,
}

impl SampleFilter {
    /// The number of samples that match, and those of the page.
    fn of<'r>(self, problem: &ProblemSamples<'r>) -> (usize, Vec<&'r EvalRecord>) {
        let matching =
            problem.samples.values().filter(|sample| self.right.is_none_or(|right| right == sample.right));
        let Paging { offset, limit } = self.paging;
        (matching.clone().count(), matching.skip(offset).take(limit).copied().collect())
    }
}

fn position(all: &[ProblemSamples<'_>], name: &[String; 2]) -> Result<usize, ApiError> {
    let position = all.iter().position(|problem| problem.name() == *name);
    position.ok_or_else(|| ApiError::not_found("this run has no such problem"))
}

fn details(
    loaded: LoadedRun<'_>,
    name: &[String; 2],
    filter: &ProblemFilter,
    samples: SampleFilter,
) -> Result<Value, ApiError> {
    let run = loaded.run;
    let all = problems(run);
    let position = position(&all, name)?;
    let problem = &all[position];
    let first = problem.first;
    let (matching, samples) = samples.of(problem);
    let (budget, stored) = (TextBudget::new(), Replies::open(&run.path)?);
    let sample = |record: &&EvalRecord| {
        let calls = Calls::read(&stored, (loaded.id, &record.id()), &budget)?;
        let reply = calls.reply(Slot::first(0, Role::Panel));
        Ok(json!({
            "number": record.sample,
            "right": record.right,
            // The method that decided.
            "by": record.by,
            "boxed": record.boxed,
            "answer": record.solved.answer.as_deref().map(|answer| budget.render(answer)),
            "truncated": record.is_capped(),
            "reply": reply,
        }))
    };
    let matches = |problem: &&ProblemSamples<'_>| filter.matches(problem);
    Ok(json!({
        "dataset": first.dataset,
        "problem": first.problem,
        "level": first.level,
        "model": first.model,
        "question": budget.render(&first.question),
        "reference": budget.render(&first.reference),
        "right": problem.right(),
        "total": problem.samples.len(),
        // Samples that match; a page of them follows.
        "matching": matching,
        "samples": samples.iter().map(sample).collect::<Result<Vec<_>, ApiError>>()?,
        "before": all[..position].iter().rev().find(matches).map(ProblemSamples::name),
        "after": all[position + 1..].iter().find(matches).map(ProblemSamples::name),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_their_numbers() {
        let mut names = ["10", "a-2-b", "9", "a-10", "a-2", "", "09", "b"];
        names.sort_by_key(|name| natural_key(name));
        assert_eq!(names, ["", "09", "9", "10", "a-2", "a-2-b", "a-10", "b"]);
    }
}
