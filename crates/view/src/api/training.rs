//! `/api/training`: the curves and measurements of a training; `/api/rollouts`: the sessions of one step.

use super::sessions::QUESTION_CHARS;
use crate::filter::Label;
use crate::render::excerpt;
use crate::request::{ApiRequest, Cost, Part};
use crate::runs::LoadedRun;
use crate::training::{curves, groups, result, seeds};
use aske_http::ApiError;
use axum::response::Response;
use serde_json::{Value, json};

/// Sessions of a step that are listed at most.
const MAX_SESSIONS: usize = 2000;

pub(super) async fn handler(mut request: ApiRequest) -> Result<Response, ApiError> {
    let run = request.params.run()?;
    request.params.end()?;
    let entry = request.runs.find(run.as_deref())?;
    if !entry.found.training {
        return Err(ApiError::bad_request("this is not a training"));
    }
    let parts: Vec<_> = request
        .runs
        .entries()
        .iter()
        .filter(|part| part.found.part_of.as_deref() == Some(entry.found.id.as_str()))
        .map(|part| part.found.clone())
        .collect();
    let respond = move || {
        let root = &entry.found.path;
        let id =
            |path: &std::path::Path| parts.iter().find(|part| part.path == path).map(|part| part.id.clone());
        let seeds: Vec<Value> = seeds(root)
            .iter()
            .map(|seed| {
                let mut shown = curves(seed);
                shown["run"] = json!(id(&seed.path));
                shown
            })
            .collect();
        let named = |name: &str| id(&root.join(name));
        let before = named("before").map(|run| json!({ "run": run, "seed": null }));
        let after = seeds.iter().filter_map(|seed| {
            let run = named(&format!("after-{}", seed["seed"]))?;
            Some(json!({ "run": run, "seed": seed["seed"] }))
        });
        Ok(json!({
            "version": entry.version(),
            "measurements": before.into_iter().chain(after).collect::<Vec<_>>(),
            "seeds": seeds,
            "result": result(root),
        }))
    };
    request.respond(Cost { read_bytes: 8 << 20, response_bytes: 4 << 20 }, respond).await
}

pub(super) async fn rollouts(mut request: ApiRequest) -> Result<Response, ApiError> {
    let run = request.params.run()?;
    let step: u64 = request.params.number("step", 1)?;
    request.params.end()?;
    let respond = request.run_json(run, Part::Whole, move |loaded: LoadedRun<'_>| {
        let cost = Cost { read_bytes: loaded.run.sessions.len().saturating_mul(16), response_bytes: 1 << 20 };
        Ok((cost, move |loaded: LoadedRun<'_>| page(loaded, step)))
    });
    respond.await
}

fn page(loaded: LoadedRun<'_>, step: u64) -> Result<Value, ApiError> {
    let run = loaded.run;
    let planned = groups(run, step).map_err(ApiError::bad_request)?;
    let mut left = MAX_SESSIONS;
    let group = |group: &aske_bench::Group| {
        let found = group.sessions.iter().filter_map(|planned| run.session(&planned.id.to_string()));
        let rows: Vec<Value> = found
            .take(left)
            .map(|session| {
                json!({
                    "name": run.name(session),
                    "outcome": session.grade.as_ref().map(|_| Label::of(session)),
                    "question": session.question.as_ref().map(|question| excerpt(question, QUESTION_CHARS)),
                })
            })
            .collect();
        left -= rows.len();
        let pair = group.sessions.first().map(|planned| planned.id.pair.both().map(str::to_owned));
        json!({ "pair": pair.unwrap_or_default(), "sessions": rows })
    };
    let groups: Vec<Value> = planned.iter().map(group).collect();
    Ok(json!({ "version": loaded.status.version, "step": step, "groups": groups }))
}
