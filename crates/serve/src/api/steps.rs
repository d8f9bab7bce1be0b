//! `step` and `judge`: replies of the trainer's policy as asker, and as cross-check solver of its own question.

use super::{EnvironmentState, JsonBody};
use crate::Environment;
use crate::episode::{Next, Submission};
use crate::step::step as run_step;
use aske_chat::{Finish, Reply, Usage};
use aske_http::{ApiError, WorkerError};
use axum::Json;
use axum::extract::Path;
use serde::Deserialize;
use std::sync::Arc;

/// A reply of the policy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyReply {
    content: String,
    /// `stop`, `length`, `content_filter` or another name.
    #[serde(default)]
    finish_reason: Option<String>,
    /// Tokens of the reply, for the record.
    #[serde(default)]
    completion_tokens: u64,
}

/// The asker's reply of a turn. The number of the turn distinguishes a repeated step from the next one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepRequest {
    turn: u32,
    content: String,
    #[serde(default)]
    finish_reason: Option<String>,
    #[serde(default)]
    completion_tokens: u64,
}

/// The policy's answers to its question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JudgeRequest {
    answers: Vec<PolicyReply>,
}

impl PolicyReply {
    fn into_reply(self) -> Reply {
        let finish = match self.finish_reason.as_deref() {
            None => Finish::Stop,
            Some("content_filter") => Finish::Filtered,
            Some(name) => Finish::from_name(name),
        };
        let usage = Usage { completion: self.completion_tokens, ..Usage::default() };
        Reply { finish, usage, ..Reply::text(self.content) }
    }
}

pub(super) async fn step(
    environment: EnvironmentState,
    Path(session): Path<String>,
    JsonBody(StepRequest { turn, content, finish_reason, completion_tokens }): JsonBody<StepRequest>,
) -> Result<Json<Next>, ApiError> {
    let reply = PolicyReply { content, finish_reason, completion_tokens };
    submit(environment.0, &session, Submission::Turn(turn, reply.into_reply())).await
}

pub(super) async fn judge(
    environment: EnvironmentState,
    Path(session): Path<String>,
    JsonBody(JudgeRequest { answers }): JsonBody<JudgeRequest>,
) -> Result<Json<Next>, ApiError> {
    let answers = answers.into_iter().map(PolicyReply::into_reply).collect();
    submit(environment.0, &session, Submission::Answers(answers)).await
}

/// Runs a step to its end even if the trainer disconnects: replies that were paid for are stored, and a repeated step
/// gets the same response.
async fn submit(
    environment: Arc<Environment>,
    session: &str,
    submission: Submission,
) -> Result<Json<Next>, ApiError> {
    let open = environment.sessions.get(session)?;
    let work = tokio::spawn(async move { run_step(&environment, &open, submission).await });
    let next = work.await.map_err(WorkerError::from)?;
    Ok(Json(next.inspect_err(|error| tracing::info!(session, %error, "step failed"))?))
}
