//! A file server that can misbehave and logs its requests.

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, LOCATION, RANGE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Router, http::HeaderName};
use futures_util::stream::{self, StreamExt};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// How the server responds to requests for a file.
#[derive(Clone, Debug)]
pub(crate) enum Behaviour {
    /// Serves the file, with ranges.
    Normal,
    /// Ignores ranges.
    WithoutRange,
    /// Closes the connection after `after` bytes, `times` times.
    Breaks { times: u32, after: usize },
    /// Sends nothing more after `after` bytes, and keeps the connection open.
    Hangs { after: usize },
    /// Serves only this many bytes.
    Short(usize),
    /// Responds with this status, `times` times.
    Status { times: u32, status: u16 },
    /// Redirects to this URL.
    Redirect(String),
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct LoggedRequest {
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) authorization: Option<String>,
}

struct Entry {
    body: Bytes,
    kind: &'static str,
    behaviour: Behaviour,
}

#[derive(Default)]
struct Inside {
    files: HashMap<String, Entry>,
    requests: Vec<LoggedRequest>,
}

/// The server; it stops with the test.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) url: String,
    inside: Arc<Mutex<Inside>>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Self { url, inside: Arc::default() };
        let router = Router::new().fallback(answer).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    pub(crate) fn serve(&self, path: &str, kind: &'static str, body: impl Into<Bytes>) {
        let entry = Entry { body: body.into(), kind, behaviour: Behaviour::Normal };
        self.inside.lock().unwrap().files.insert(path.to_owned(), entry);
    }

    pub(crate) fn set(&self, path: &str, behaviour: Behaviour) {
        self.inside.lock().unwrap().files.get_mut(path).unwrap().behaviour = behaviour;
    }

    /// All requests since the last call.
    pub(crate) fn requests(&self) -> Vec<LoggedRequest> {
        std::mem::take(&mut self.inside.lock().unwrap().requests)
    }

    /// The ranges of the requests for one file since the last call.
    pub(crate) fn ranges(&self, path: &str) -> Vec<Option<String>> {
        self.requests()
            .into_iter()
            .filter(|request| request.path == path)
            .map(|request| request.range)
            .collect()
    }
}

async fn answer(State(server): State<Server>, request: Request) -> Response {
    let path = request.uri().path_and_query().unwrap().to_string();
    let header = |name: HeaderName| text(request.headers(), &name);
    let range = header(RANGE);
    let mut inside = server.inside.lock().unwrap();
    inside.requests.push(LoggedRequest {
        path: path.clone(),
        range: range.clone(),
        authorization: header(AUTHORIZATION),
    });
    let Some(entry) = inside.files.get_mut(&path) else { return status(StatusCode::NOT_FOUND) };
    let whole = entry.body.clone();
    let from = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    match &mut entry.behaviour {
        Behaviour::Status { times, status: code } if *times > 0 => {
            *times -= 1;
            return status(StatusCode::from_u16(*code).unwrap());
        }
        Behaviour::Breaks { times, after } if *times > 0 => {
            *times -= 1;
            let from = from.unwrap_or(0);
            return stream(entry.kind, &whole, from, whole[from..].len().min(*after), true);
        }
        Behaviour::Hangs { after } => return stream(entry.kind, &whole, 0, *after, false),
        Behaviour::Redirect(to) => {
            return Response::builder().status(302).header(LOCATION, &*to).body(Body::empty()).unwrap();
        }
        Behaviour::Short(bytes) => {
            let short = whole.slice(..*bytes);
            return from
                .filter(|from| *from >= *bytes)
                .map_or_else(|| part(entry.kind, &short, from), |_| beyond(*bytes));
        }
        Behaviour::WithoutRange => return part(entry.kind, &whole, None),
        Behaviour::Normal | Behaviour::Status { .. } | Behaviour::Breaks { .. } => {}
    }
    match from {
        Some(from) if from >= whole.len() => beyond(whole.len()),
        _ => part(entry.kind, &whole, from),
    }
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    Some(headers.get(name)?.to_str().unwrap().to_owned())
}

fn status(status: StatusCode) -> Response {
    Response::builder().status(status).body(Body::empty()).unwrap()
}

fn beyond(whole: usize) -> Response {
    let answer = Response::builder().status(416).header(CONTENT_RANGE, format!("bytes */{whole}"));
    answer.body(Body::empty()).unwrap()
}

fn part(kind: &str, whole: &Bytes, from: Option<usize>) -> Response {
    let answer = Response::builder().header(CONTENT_TYPE, kind);
    match from {
        None => answer.body(Body::from(whole.clone())),
        Some(from) => answer
            .status(206)
            .header(CONTENT_RANGE, format!("bytes {from}-{}/{}", whole.len() - 1, whole.len()))
            .body(Body::from(whole.slice(from..))),
    }
    .unwrap()
}

/// Declares the rest of the file, sends a part, then closes the connection or hangs.
fn stream(kind: &str, whole: &Bytes, from: usize, bytes: usize, breaks: bool) -> Response {
    let sent = stream::iter([Ok::<_, std::io::Error>(whole.slice(from..from + bytes))]);
    let after = stream::once(async move {
        if !breaks {
            std::future::pending::<()>().await;
        }
        // The data is flushed before the connection closes.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        Err(std::io::Error::other("broken"))
    });
    let mut answer =
        Response::builder().header(CONTENT_TYPE, kind).header(CONTENT_LENGTH, whole.len() - from);
    if from > 0 {
        let range = format!("bytes {from}-{}/{}", whole.len() - 1, whole.len());
        answer = answer.status(206).header(CONTENT_RANGE, range);
    }
    answer.body(Body::from_stream(sent.chain(after))).unwrap()
}
