//! Streamed responses: server-sent events.
//!
//! The stream owns the requests to the model. When a client disconnects, the stream is dropped and the requests end with it.

use super::request::CompletionRequest;
use super::response::ResponseHeader;
use super::{Models, OpenAiError};
use aske_chat::{Reply, Usage};
use aske_model::{Model, ModelError, Request};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::future::join_all;
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Progress of one of the replies.
enum Progress {
    Text(String),
    End(Box<Result<Reply, ModelError>>),
}

/// Responds with a stream once the first text has arrived; an error before that is an ordinary error response.
pub(super) async fn respond(
    models: Arc<Models>,
    model: Arc<Model>,
    request: CompletionRequest,
) -> Result<Response, OpenAiError> {
    let header = ResponseHeader::new(model.name());
    let with_usage = request.with_usage;
    let mut progress = Box::pin(run(models, model, &request));
    let first = match progress.next().await {
        Some((index, Progress::End(end))) => (index, Progress::End(Box::new(Ok((*end)?)))),
        Some(first) => first,
        None => return Err(OpenAiError::not_found("the model stopped before it replied")),
    };
    let mut writer = EventWriter { header, with_usage, usage: Vec::new(), begun: Vec::new() };
    let parts = stream::iter([first]).chain(progress).map(Some).chain(stream::iter([None]));
    let events = parts.flat_map(move |part| stream::iter(writer.events(part)));
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

/// Runs all requests at once; yields their progress with the index of the reply.
fn run(
    models: Arc<Models>,
    model: Arc<Model>,
    request: &CompletionRequest,
) -> impl Stream<Item = (usize, Progress)> + use<> {
    let (sender, mut receiver) = unbounded_channel();
    let requests: Vec<Request> = request.requests().collect();
    let work = async move {
        let all = requests.iter().enumerate();
        join_all(all.map(|(index, request)| run_one(&models, &model, index, request, sender.clone()))).await;
    };
    let progress = stream::poll_fn(move |cx| receiver.poll_recv(cx));
    // Yields nothing; it is part of the stream so that it is polled and dropped with it.
    stream::select(progress, stream::once(work).filter_map(|()| std::future::ready(None)))
}

async fn run_one(
    models: &Models,
    model: &Model,
    index: usize,
    request: &Request,
    sender: UnboundedSender<(usize, Progress)>,
) {
    let _open = Arc::clone(&models.open);
    let (text_sender, mut texts): (_, UnboundedReceiver<String>) = unbounded_channel();
    let forward = async {
        while let Some(text) = texts.recv().await {
            let _ = sender.send((index, Progress::Text(text)));
        }
    };
    let (end, ()) = tokio::join!(model.stream(request, &models.halt, text_sender), forward);
    let _ = sender.send((index, Progress::End(Box::new(end))));
}

/// Turns progress into events.
struct EventWriter {
    header: ResponseHeader,
    with_usage: bool,
    usage: Vec<Usage>,
    /// Indices of replies that have begun.
    begun: Vec<usize>,
}

impl EventWriter {
    /// The events for some progress; none stands for the end of all replies.
    fn events(&mut self, progress: Option<(usize, Progress)>) -> Vec<Result<Event, Infallible>> {
        let mut chunks = Vec::new();
        let mut done = None;
        match progress {
            Some((index, Progress::Text(text))) => {
                chunks.extend(self.first_chunk(index));
                chunks.push(self.header.chunk(index, &json!({ "content": text }), None));
            }
            Some((index, Progress::End(end))) => match *end {
                Ok(reply) => {
                    chunks.extend(self.first_chunk(index));
                    chunks.push(self.header.chunk(index, &json!({}), Some(reply.finish)));
                    self.usage.push(reply.usage);
                }
                Err(error) => chunks.push(OpenAiError::from(error).body()),
            },
            None => {
                if self.with_usage {
                    chunks.push(self.header.usage_chunk(self.usage.drain(..)));
                }
                done = Some(Event::default().data("[DONE]"));
            }
        }
        let events = chunks.iter().map(|chunk| Event::default().data(chunk.to_string()));
        events.chain(done).map(Ok).collect()
    }

    /// The first chunk of a reply, which names the role.
    fn first_chunk(&mut self, index: usize) -> Option<Value> {
        if self.begun.contains(&index) {
            return None;
        }
        self.begun.push(index);
        Some(self.header.chunk(index, &json!({ "role": "assistant", "content": "" }), None))
    }
}
