//! A server of files that can misbehave, and remembers what it was asked.

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, LOCATION, RANGE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::{Router, http::HeaderName};
use futures_util::stream::{self, StreamExt};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// How a file is served.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// As it should be.
    Well,
    /// Always from the beginning.
    WithoutRange,
    /// So many times, the connection breaks after so many bytes.
    Breaks { times: u32, after: usize },
    /// The connection stays open after so many bytes, and nothing more comes.
    Hangs { after: usize },
    /// As if the file had only so many bytes.
    Short(usize),
    /// So many times, this status.
    Status { times: u32, status: u16 },
    /// It is elsewhere.
    Redirect(String),
}

/// What was asked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) key: Option<String>,
}

struct Entry {
    body: Bytes,
    kind: &'static str,
    way: Way,
}

#[derive(Default)]
struct Inside {
    files: HashMap<String, Entry>,
    asked: Vec<Asked>,
}

/// The server; it ends with the test.
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
        let entry = Entry { body: body.into(), kind, way: Way::Well };
        self.inside.lock().unwrap().files.insert(path.to_owned(), entry);
    }

    pub(crate) fn set(&self, path: &str, way: Way) {
        self.inside.lock().unwrap().files.get_mut(path).unwrap().way = way;
    }

    /// All requests since the last call.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut self.inside.lock().unwrap().asked)
    }

    /// The ranges of the requests for one file since the last call.
    pub(crate) fn ranges(&self, path: &str) -> Vec<Option<String>> {
        self.asked().into_iter().filter(|asked| asked.path == path).map(|asked| asked.range).collect()
    }
}

async fn answer(State(server): State<Server>, request: Request) -> Response {
    let path = request.uri().path_and_query().unwrap().to_string();
    let header = |name: HeaderName| text(request.headers(), &name);
    let range = header(RANGE);
    let mut inside = server.inside.lock().unwrap();
    inside.asked.push(Asked { path: path.clone(), range: range.clone(), key: header(AUTHORIZATION) });
    let Some(entry) = inside.files.get_mut(&path) else { return status(StatusCode::NOT_FOUND) };
    let whole = entry.body.clone();
    let from = range.and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok());
    match &mut entry.way {
        Way::Status { times, status: code } if *times > 0 => {
            *times -= 1;
            return status(StatusCode::from_u16(*code).unwrap());
        }
        Way::Breaks { times, after } if *times > 0 => {
            *times -= 1;
            let from = from.unwrap_or(0);
            return stream(entry.kind, &whole, from, whole[from..].len().min(*after), true);
        }
        Way::Hangs { after } => return stream(entry.kind, &whole, 0, *after, false),
        Way::Redirect(to) => {
            return Response::builder().status(302).header(LOCATION, &*to).body(Body::empty()).unwrap();
        }
        Way::Short(bytes) => {
            let short = whole.slice(..*bytes);
            return from
                .filter(|from| *from >= *bytes)
                .map_or_else(|| part(entry.kind, &short, from), |_| beyond(*bytes));
        }
        Way::WithoutRange => return part(entry.kind, &whole, None),
        Way::Well | Way::Status { .. } | Way::Breaks { .. } => {}
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

/// Promises the rest of the file, sends some, then breaks or falls silent.
fn stream(kind: &str, whole: &Bytes, from: usize, bytes: usize, breaks: bool) -> Response {
    let sent = stream::iter([Ok::<_, std::io::Error>(whole.slice(from..from + bytes))]);
    let after = stream::once(async move {
        if !breaks {
            std::future::pending::<()>().await;
        }
        // What was sent leaves before the connection does.
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
