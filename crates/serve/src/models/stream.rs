//! An answer as it is written: server-sent events.
//!
//! The stream owns the work. A client that hangs up drops the stream, and with it the requests: their places are free.

use super::ask::Asked;
use super::{Head, Models, Open, Refusal, head, say, together};
use aske_chat::Reply;
use aske_model::{Model, ModelError, Request};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::future::join_all;
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What happens to one of the replies.
enum News {
    More(String),
    End(Box<Result<Reply, ModelError>>),
}

/// Answers with a stream once the first words are there; what fails before them is refused as any other request.
pub(super) async fn answer(
    models: Arc<Models>,
    model: Arc<Model>,
    asked: Asked,
) -> Result<Response, Refusal> {
    let head = head(model.name());
    let with_usage = asked.with_usage;
    let mut news = Box::pin(work(models, model, &asked));
    let first = match news.next().await {
        Some((_, News::End(end))) if end.is_err() => return Err(end.err().map_or_else(ended, Refusal::from)),
        Some(first) => first,
        None => return Err(ended()),
    };
    let mut told = Told { head, with_usage, used: Vec::new(), begun: Vec::new() };
    let parts = stream::iter([first]).chain(news).map(Some).chain(stream::iter([None]));
    let events = parts.flat_map(move |news| stream::iter(told.events(news)));
    Ok(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

fn ended() -> Refusal {
    Refusal::unknown("the model ended before it answered")
}

/// All replies at once, and what happens to them in the order in which it happens.
fn work(models: Arc<Models>, model: Arc<Model>, asked: &Asked) -> impl Stream<Item = (usize, News)> + use<> {
    let (tell, mut heard) = unbounded_channel();
    let requests: Vec<Request> = asked.requests().collect();
    let write = async move {
        let all = requests.iter().enumerate();
        join_all(all.map(|(index, request)| one(&models, &model, index, request, tell.clone()))).await;
    };
    let news = stream::poll_fn(move |cx| heard.poll_recv(cx));
    // The work gives nothing itself; it is here so that it is done, and dropped, with the stream.
    stream::select(news, stream::once(write).filter_map(|()| std::future::ready(None)))
}

async fn one(
    models: &Models,
    model: &Model,
    index: usize,
    request: &Request,
    tell: UnboundedSender<(usize, News)>,
) {
    let _open = Open::new(&models.open);
    let (said, mut pieces): (_, UnboundedReceiver<String>) = unbounded_channel();
    let pass = async {
        while let Some(piece) = pieces.recv().await {
            let _ = tell.send((index, News::More(piece)));
        }
    };
    let (end, ()) = tokio::join!(model.stream(request, &models.halt, said), pass);
    let _ = tell.send((index, News::End(Box::new(end))));
}

/// What the client was told so far.
struct Told {
    head: Head,
    with_usage: bool,
    used: Vec<aske_chat::Usage>,
    /// Replies that have begun.
    begun: Vec<usize>,
}

impl Told {
    /// What the client is told of this; of the end, where there is nothing more.
    fn events(&mut self, news: Option<(usize, News)>) -> Vec<Result<Event, Infallible>> {
        let mut out = Vec::new();
        match news {
            Some((index, News::More(text))) => {
                out.extend(self.opening(index));
                out.push(say::part(&self.head, index, &json!({ "content": text }), None));
            }
            Some((index, News::End(end))) => match *end {
                Ok(reply) => {
                    out.extend(self.opening(index));
                    out.push(say::part(&self.head, index, &json!({}), Some(reply.finish)));
                    self.used.push(reply.usage);
                }
                Err(failure) => out.push(Refusal::from(failure).body()),
            },
            None => {
                if self.with_usage {
                    out.push(say::used(&self.head, together(self.used.drain(..))));
                }
                let parts = out.iter().map(event).chain([Event::default().data("[DONE]")]);
                return parts.map(Ok).collect();
            }
        }
        out.iter().map(event).map(Ok).collect()
    }

    /// The first part of a reply, which says who speaks.
    fn opening(&mut self, index: usize) -> Option<Value> {
        if self.begun.contains(&index) {
            return None;
        }
        self.begun.push(index);
        Some(say::part(&self.head, index, &json!({ "role": "assistant", "content": "" }), None))
    }
}

fn event(part: &Value) -> Event {
    Event::default().data(part.to_string())
}
