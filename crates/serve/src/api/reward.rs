//! What an episode was worth.

use super::Shared;
use crate::problem::Problem;
use aske_record::PairId;
use aske_session::{Grade, Reward, Transcript};
use axum::Json;
use axum::extract::{Path, Query};
use serde::{Deserialize, Serialize};

/// How new the final question is, as `/v1/diversity` has told; nought where nobody asked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Novelty {
    #[serde(default)]
    novelty: f64,
}

/// The reward, and what it is for.
#[derive(Serialize)]
pub(super) struct Rewarded {
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
    environment: Shared,
    Path(session): Path<String>,
    novelty: Result<Query<Novelty>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Rewarded>, Problem> {
    let hint = "give `novelty` as /v1/diversity told it, between 0 and 2";
    let Query(Novelty { novelty }) = novelty.map_err(|error| Problem::bad(error.body_text(), hint))?;
    if !(0.0..=2.0).contains(&novelty) {
        return Err(Problem::bad(format!("a novelty of {novelty}"), hint));
    }
    let seat = environment.table.find(&session)?;
    let episode = seat.episode.lock().await;
    let Some((transcript, grade)) = episode.ended() else {
        return Err(Problem::conflict("the session is not over", "bring what the last answer has asked for"));
    };
    let reward = Reward::of(grade.outcome, transcript, environment.history.bonus(novelty));
    let id = &seat.planned.id;
    Ok(Json(Rewarded {
        pair: id.pair.clone(),
        sample: id.sample,
        solvers: seat.planned.solvers.clone(),
        question: transcript.answers().question.map(str::to_owned),
        grade: grade.clone(),
        reward,
        total: reward.total(),
        transcript: transcript.clone(),
    }))
}
