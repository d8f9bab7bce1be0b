//! `/api/configuration`: the configuration and the prompts of a run; `/api/calls`: its calls.

use crate::request::{ApiRequest, Cost, Part};
use crate::runs::LoadedRun;
use crate::timeline::spans;
use aske_http::ApiError;
use aske_record::{Manifest, Replies, RunError};
use aske_session::{Domain, Pack};
use axum::response::Response;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Characters of a value of the configuration.
const MAX_VALUE: usize = 2_000;

/// The configuration and the prompts.
pub(super) async fn configuration(mut request: ApiRequest) -> Result<Response, ApiError> {
    let run = request.params.run()?;
    request.params.end()?;
    let path = request.folder(run.as_deref())?;
    let cost = Cost { read_bytes: 64 << 10, response_bytes: 1 << 20 };
    let respond = move || {
        let manifest = Manifest::require(&path).map_err(|error| ApiError::not_found(error.to_string()))?;
        let mut values = Vec::new();
        flatten("", &manifest.config, &mut values);
        let values: Vec<Value> = values
            .into_iter()
            .map(|(key, value)| {
                let origin = manifest.origins.get(&key);
                json!({ "key": key, "value": value, "origin": origin })
            })
            .collect();
        Ok(json!({
            "aske": manifest.aske,
            "values": values,
            // Earlier versions did not store where values come from.
            "with_origins": !manifest.origins.is_empty(),
            "identity": manifest.identity,
            "prompts": prompts(&manifest),
        }))
    };
    request.respond(cost, respond).await
}

/// Every value with its dotted key.
fn flatten(prefix: &str, table: &toml::Table, values: &mut Vec<(String, String)>) {
    for (key, value) in table {
        let quoted = key.contains(['.', ' ', '"', '\'']);
        let key = if quoted { format!("{key:?}") } else { key.clone() };
        let key = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
        match value {
            toml::Value::Table(inner) => flatten(&key, inner, values),
            value => values.push((key, value.to_string().chars().take(MAX_VALUE).collect())),
        }
    }
}

/// The name of the prompts, and their texts if they are bundled ones.
fn prompts(manifest: &Manifest) -> Value {
    let name = manifest.config.get("protocol").and_then(|protocol| protocol.get("prompts")?.as_str());
    let domain = manifest.config.get("protocol").and_then(|protocol| protocol.get("domain")?.as_str());
    let hash = manifest.identity.0.get("prompts");
    let domain = domain.and_then(|domain| domain.parse::<Domain>().ok()).unwrap_or_else(Domain::math);
    let packs = Pack::EXTRA.into_iter().filter_map(Pack::extra_files).chain([Pack::builtin_files(&domain)]);
    // The texts are those of the run only if their hash is the one in its identity.
    let same = |files: &BTreeMap<String, String>| {
        Pack::parse(files).is_ok_and(|pack| Some(pack.hash()) == hash.map(String::as_str))
    };
    json!({ "name": name, "hash": hash, "files": packs.into_iter().find(same) })
}

/// Calls by role and model, and over time.
pub(super) async fn calls(mut request: ApiRequest) -> Result<Response, ApiError> {
    let run = request.params.run()?;
    request.params.end()?;
    let respond = request.run_json(run, Part::Whole, |loaded: LoadedRun<'_>| {
        let stored = std::fs::metadata(loaded.run.path.join("calls.sqlite")).map_or(0, |file| file.len());
        let read_bytes = usize::try_from(stored / 4).unwrap_or(usize::MAX);
        let cost = Cost { read_bytes, response_bytes: 256 << 10 };
        Ok((cost, |loaded: LoadedRun<'_>| {
            let run = loaded.run;
            let read = || -> Result<_, RunError> {
                let replies = Replies::open(&run.path)?;
                Ok((replies.by_model()?, replies.times()?))
            };
            let (models, times) = read().map_err(|error| ApiError::not_found(error.to_string()))?;
            let graded = run.sessions.iter().filter(|session| session.grade.is_some()).count();
            Ok(json!({
                "version": loaded.status.version,
                "models": models,
                "timed": times.len(),
                "spans": spans(times),
                "planned": run.manifest.planned,
                "records": run.sessions.len(),
                "graded": graded,
            }))
        }))
    });
    respond.await
}
