//! `/api/scores`: pass@k and avg@k of an evaluation; `/api/eval-compare`: two evaluations, problem by problem.

use super::evals::{ProblemSamples, problems};
use super::sessions::{Paging, QUESTION_CHARS, ROW_BYTES};
use crate::params::{Params, json_word};
use crate::render::excerpt;
use crate::request::{ApiRequest, Cost, Part};
use crate::runs::LoadedRun;
use crate::search::Needle;
use aske_eval::{ComparedRun, compare, differences, scores};
use aske_http::ApiError;
use axum::response::Response;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) async fn handler(mut request: ApiRequest) -> Result<Response, ApiError> {
    let run = request.params.run()?;
    request.params.end()?;
    let respond = request.run_json(run, Part::Whole, |loaded: LoadedRun<'_>| {
        // Every k is computed from every sample.
        let read_bytes = loaded.run.evals.len().saturating_mul(4096);
        let all = |loaded: LoadedRun<'_>| {
            let evals = &loaded.run.evals;
            let mut scores = json!(scores(evals));
            scores["version"] = loaded.status.version.into();
            scores["samples"] = evals.len().into();
            scores["right"] = evals.iter().filter(|sample| sample.right).count().into();
            if scores["model"] == "" {
                scores["model"] = loaded.run.asker.clone().into();
            }
            Ok(scores)
        };
        Ok((Cost { read_bytes, response_bytes: 1 << 20 }, all))
    });
    respond.await
}

/// How the share of right samples of a problem differs.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Up,
    Down,
    Same,
}

struct Filter {
    needle: Option<Needle>,
    change: Option<Change>,
}

impl Filter {
    fn parse(params: &mut Params) -> Result<Self, ApiError> {
        Ok(Self {
            needle: params.text("q")?.map(|text| Needle::new(&text)),
            change: params.choice("change", [Change::Up, Change::Down, Change::Same], json_word)?,
        })
    }

    fn matches(&self, pair: &[&ProblemSamples<'_>; 2]) -> bool {
        let first = pair[0].first;
        let texts = [&first.dataset, &first.problem, &first.question];
        self.needle.as_ref().is_none_or(|needle| texts.iter().any(|text| needle.is_in(text)))
            && self.change.is_none_or(|change| change == of(pair))
    }
}

fn of([first, second]: &[&ProblemSamples<'_>; 2]) -> Change {
    // Cross-multiplied shares.
    let one = first.right() * second.samples.len();
    let two = second.right() * first.samples.len();
    match two.cmp(&one) {
        std::cmp::Ordering::Greater => Change::Up,
        std::cmp::Ordering::Less => Change::Down,
        std::cmp::Ordering::Equal => Change::Same,
    }
}

pub(super) async fn comparison(mut request: ApiRequest) -> Result<Response, ApiError> {
    let params = &mut request.params;
    let [first, second] = [params.required("first")?, params.required("second")?];
    let filter = Filter::parse(params)?;
    let paging = Paging::parse(params)?;
    params.end()?;
    let entries = [request.runs.find(Some(&first))?, request.runs.find(Some(&second))?];
    let runs = Arc::clone(&request.runs);
    let respond = move || {
        runs.with_runs(&entries, |loaded| {
            let [one, two] = loaded else { return Err(ApiError::internal("two runs are compared")) };
            Ok(page(*one, *two, &filter, paging))
        })
    };
    request.respond(Cost { read_bytes: 8 << 20, response_bytes: 2 * paging.limit * ROW_BYTES }, respond).await
}

fn page(one: LoadedRun<'_>, two: LoadedRun<'_>, filter: &Filter, Paging { offset, limit }: Paging) -> Value {
    let differences = differences(&one.run.manifest, &two.run.manifest);
    let base = ComparedRun { name: one.id, records: &one.run.evals };
    let after = ComparedRun { name: two.id, records: &two.run.evals };
    // Problems of one name with two texts cannot be compared.
    let found = if differences.data.is_empty() { compare(base, &[after]) } else { None };
    let mut notes = found.as_ref().map(aske_eval::ModelComparison::notes).unwrap_or_default();
    notes.extend(
        differences.data.iter().map(|data| format!("The evaluations use different problems: {data}")),
    );
    notes.extend(differences.protocol.iter().map(|difference| format!("The second has {difference}.")));
    let others: BTreeMap<[String; 2], ProblemSamples<'_>> =
        problems(two.run).into_iter().map(|problem| (problem.name(), problem)).collect();
    let all = problems(one.run);
    let matching: Vec<[&ProblemSamples<'_>; 2]> = all
        .iter()
        .filter_map(|problem| Some([problem, others.get(&problem.name())?]))
        .filter(|pair| filter.matches(pair))
        .collect();
    let row = |pair: &[&ProblemSamples<'_>; 2]| {
        let first = pair[0].first;
        json!({
            "dataset": first.dataset,
            "problem": first.problem,
            "level": first.level,
            "question": excerpt(&first.question, QUESTION_CHARS),
            "right": pair.map(ProblemSamples::right),
            "samples": pair.map(|problem| problem.samples.len()),
        })
    };
    json!({
        "version": one.status.version.max(two.status.version),
        "comparison": found,
        "notes": notes,
        "total": matching.len(),
        "offset": offset,
        "rows": matching.iter().skip(offset).take(limit).map(row).collect::<Vec<_>>(),
    })
}
