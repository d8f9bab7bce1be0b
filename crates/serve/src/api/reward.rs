//! `/v1/sessions/{session}/reward`: the grade and reward of a finished session.

use super::EnvironmentState;
use aske_http::ApiError;
use aske_record::PairId;
use aske_session::{Grade, Reward, Transcript};
use axum::Json;
use axum::extract::{Path, Query};
use serde::{Deserialize, Serialize};

/// The novelty of the final question as `/v1/diversity` returned it; 0 by default.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Novelty {
    #[serde(default)]
    novelty: f64,
}

#[derive(Serialize)]
pub(super) struct RewardResponse {
    pair: PairId,
    sample: u32,
    solvers: [String; 2],
    question: Option<String>,
    #[serde(flatten)]
    grade: Grade,
    reward: Reward,
    total: f64,
    #[serde(flatten)]
    transcript: Transcript,
}

pub(super) async fn reward(
    environment: EnvironmentState,
    Path(session): Path<String>,
    novelty: Result<Query<Novelty>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<RewardResponse>, ApiError> {
    let invalid = |message: String| {
        ApiError::bad_request(message).with_hint("pass `novelty` as returned by /v1/diversity, from 0 to 2")
    };
    let Query(Novelty { novelty }) = novelty.map_err(|error| invalid(error.body_text()))?;
    if !(0.0..=2.0).contains(&novelty) {
        return Err(invalid(format!("the novelty {novelty} is out of range")));
    }
    let open = environment.sessions.get(&session)?;
    let episode = open.episode.lock().await;
    let Some((transcript, grade)) = episode.finished() else {
        return Err(ApiError::conflict("the session is not finished")
            .with_hint("submit what the last response asked for"));
    };
    let reward = Reward::of(grade.outcome, transcript, environment.history.alpha * novelty);
    let id = &open.planned.id;
    Ok(Json(RewardResponse {
        pair: id.pair.clone(),
        sample: id.sample,
        solvers: open.planned.solvers.clone(),
        question: transcript.answers().question.map(str::to_owned),
        grade: grade.clone(),
        reward,
        total: reward.total(),
        transcript: transcript.clone(),
    }))
}
