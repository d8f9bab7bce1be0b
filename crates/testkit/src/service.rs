//! The routes of the server, and the handling of a chat request.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::json;
use tokio::time::sleep;

use crate::behaviour::{self, ChatRequest};
use crate::body::{ReplyBody, closed};
use crate::connection::Connection;
use crate::counter::{InFlight, RequestCounter};
use crate::dump::Dump;
use crate::{Fault, Stats, TestServerOptions, reply};

/// The API key that the server rejects.
const WRONG_KEY: &str = "wrong-key";

/// State shared by all connections, on one thread.
pub(crate) struct Service {
    options: TestServerOptions,
    counter: Rc<RefCell<RequestCounter>>,
    dump: Option<RefCell<Dump>>,
}

impl Service {
    /// A service with no requests so far.
    pub(crate) fn new(options: TestServerOptions, dump: Option<Dump>) -> Self {
        Self { options, counter: Rc::default(), dump: dump.map(RefCell::new) }
    }

    /// The counts so far.
    pub(crate) fn stats(&self) -> Stats {
        self.counter.borrow().stats.clone()
    }

    /// Flushes the dump.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.dump.as_ref().map_or(Ok(()), |dump| dump.borrow_mut().flush())
    }

    /// Answers one request, or closes its connection.
    pub(crate) async fn answer(
        &self,
        request: Request<Incoming>,
        connection: &Rc<Connection>,
    ) -> io::Result<Response<ReplyBody>> {
        match (request.method(), request.uri().path()) {
            (&Method::POST, "/v1/chat/completions") => self.chat(request, connection).await,
            (&Method::GET, "/v1/models") => Ok(reply::models()),
            (&Method::GET, "/stats") => Ok(reply::json(StatusCode::OK, &self.stats())),
            (method, path) => {
                let message = format!("Unknown request: {method} {path}");
                Ok(reply::error(StatusCode::NOT_FOUND, "unknown_url", &message))
            }
        }
    }

    async fn chat(
        &self,
        request: Request<Incoming>,
        connection: &Rc<Connection>,
    ) -> io::Result<Response<ReplyBody>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| closed())?.to_bytes();
        let mut in_flight = InFlight::open(&self.counter);
        if let Some(dump) = &self.dump
            && dump.borrow_mut().push(&body).is_err()
        {
            return Ok(reply::error(StatusCode::INTERNAL_SERVER_ERROR, "dump", "The dump cannot be written"));
        }
        let response = self.reply(&head.headers, &body, &mut in_flight);
        if !self.options.latency.is_zero() {
            sleep(self.options.latency).await;
        }
        let response = match self.fault(in_flight.number) {
            Some(fault) => {
                in_flight.fault(fault);
                self.apply_fault(fault, response, connection).await?
            }
            None => response,
        };
        Ok(response.map(|body| body.for_request(in_flight, connection)))
    }

    /// The reply to a request without faults.
    fn reply(&self, headers: &HeaderMap, body: &Bytes, in_flight: &mut InFlight) -> Response<ReplyBody> {
        let key = headers.get(AUTHORIZATION).and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
        if key == Some(WRONG_KEY.as_bytes()) {
            let message = format!("Incorrect API key provided: {WRONG_KEY}");
            return reply::error(StatusCode::UNAUTHORIZED, "invalid_api_key", &message);
        }
        let request: ChatRequest = match serde_json::from_slice(body) {
            Ok(request) => request,
            Err(error) => {
                let message = format!("The body is not a chat request: {error}");
                return reply::error(StatusCode::BAD_REQUEST, "invalid_body", &message);
            }
        };
        in_flight.set_model(&request.model);
        if request.stream == Some(true) {
            return reply::error(StatusCode::BAD_REQUEST, "no_streaming", "This server does not stream");
        }
        let Some(completion) = behaviour::complete(&request, self.options.pad_words) else {
            let message = format!("The model `{}` does not exist", request.model);
            return reply::error(StatusCode::NOT_FOUND, "model_not_found", &message);
        };
        in_flight.plan_good(blake3::hash(body));
        reply::completion(&request.model, &completion)
    }

    fn fault(&self, number: u64) -> Option<Fault> {
        let drawn = Fault::draw(self.options.fault_seed, number, self.options.faults)?;
        Some(self.options.only_fault.unwrap_or(drawn))
    }

    /// Replaces a reply by a fault.
    async fn apply_fault(
        &self,
        fault: Fault,
        response: Response<ReplyBody>,
        connection: &Connection,
    ) -> io::Result<Response<ReplyBody>> {
        match fault {
            Fault::RetryNow => Ok(reply::too_many(Some("0"))),
            Fault::RetryInASecond => Ok(reply::too_many(Some("1"))),
            Fault::RetryUnknown => Ok(reply::too_many(None)),
            Fault::Status500 => {
                Ok(reply::error(StatusCode::INTERNAL_SERVER_ERROR, "internal", "The server had an error"))
            }
            Fault::Status503 => {
                Ok(reply::error(StatusCode::SERVICE_UNAVAILABLE, "overloaded", "The server is overloaded"))
            }
            Fault::Reset => {
                connection.reset_on_close.set(true);
                Err(closed())
            }
            Fault::Hang => {
                sleep(self.options.hang).await;
                Err(closed())
            }
            Fault::HalfBody => Ok(response.map(ReplyBody::halved)),
            Fault::Html => Ok(reply::html()),
            Fault::EmptyChoices => Ok(reply::json(StatusCode::OK, &json!({ "choices": [] }))),
        }
    }
}
