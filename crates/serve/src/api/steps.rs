//! What the trainer's policy says: as asker, and as judge of its own question.

use super::{Body, Shared};
use crate::Environment;
use crate::episode::{Next, Post};
use crate::play;
use crate::problem::Problem;
use aske_chat::{Finish, Reply, Usage};
use axum::Json;
use axum::extract::Path;
use serde::Deserialize;
use std::sync::Arc;

/// A reply of the policy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    content: String,
    /// As servers name it: `stop`, `length`, or anything else.
    #[serde(default)]
    finish_reason: Option<String>,
    /// Tokens of the reply, for the record.
    #[serde(default)]
    completion_tokens: u64,
}

/// The asker's reply of a turn; the turn tells a repeated step from the next one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
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
pub(super) struct Judged {
    answers: Vec<Said>,
}

impl Said {
    fn reply(self) -> Reply {
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
    environment: Shared,
    Path(session): Path<String>,
    Body(Step { turn, content, finish_reason, completion_tokens }): Body<Step>,
) -> Result<Json<Next>, Problem> {
    let said = Said { content, finish_reason, completion_tokens };
    to_its_end(environment.0, &session, Post::Turn(turn, said.reply())).await
}

pub(super) async fn judge(
    environment: Shared,
    Path(session): Path<String>,
    Body(Judged { answers }): Body<Judged>,
) -> Result<Json<Next>, Problem> {
    let answers = answers.into_iter().map(Said::reply).collect();
    to_its_end(environment.0, &session, Post::Answers(answers)).await
}

/// Answers a post also when the trainer hangs up: what was paid for is kept, and a repeated post gets it.
async fn to_its_end(environment: Arc<Environment>, session: &str, post: Post) -> Result<Json<Next>, Problem> {
    let seat = environment.table.find(session)?;
    let work = tokio::spawn(async move { play::post(&environment, &seat, post).await });
    work.await.map_err(|error| Problem::ours(error.to_string()))?.map(Json)
}
