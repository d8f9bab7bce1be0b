//! HTTP replies in the format of the OpenAI API.

use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;

use crate::behaviour::Completion;
use crate::body::ReplyBody;

/// The models listed by `GET /v1/models`; any `solver-NN` up to 100 is served.
const LISTED: [&str; 5] = ["asker", "check", "equiv", "solver-50", "solver-100"];

/// The time stamp of every reply, which is a function of the request only.
const CREATED: u64 = 1_700_000_000;

/// A good reply.
pub(crate) fn completion(model: &str, completion: &Completion) -> Response<ReplyBody> {
    let Completion { id, content, finish, tokens_in, tokens_out } = completion;
    let message = json!({ "role": "assistant", "content": content });
    let body = json!({
        "id": id,
        "object": "chat.completion",
        "created": CREATED,
        "model": model,
        "choices": [{ "index": 0, "message": message, "finish_reason": finish }],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    });
    json(StatusCode::OK, &body)
}

/// The list of models.
pub(crate) fn models() -> Response<ReplyBody> {
    let data = LISTED
        .map(|id| json!({ "id": id, "object": "model", "created": CREATED, "owned_by": "aske-testserver" }));
    json(StatusCode::OK, &json!({ "object": "list", "data": data }))
}

/// An error in the API's format.
pub(crate) fn error(status: StatusCode, code: &str, message: &str) -> Response<ReplyBody> {
    let kind = if status.is_server_error() { "server_error" } else { "invalid_request_error" };
    let body = json!({ "error": { "message": message, "type": kind, "param": null, "code": code } });
    json(status, &body)
}

/// A 429 with an optional `Retry-After`.
pub(crate) fn too_many(retry_after: Option<&'static str>) -> Response<ReplyBody> {
    let mut response = error(StatusCode::TOO_MANY_REQUESTS, "rate_limit_exceeded", "Rate limit reached");
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(seconds));
    }
    response
}

/// A web page instead of JSON, as a proxy might send.
pub(crate) fn html() -> Response<ReplyBody> {
    let page = "<!doctype html><html><body><h1>Please sign in</h1></body></html>\n";
    let mut response = Response::new(ReplyBody::full(page));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

/// Any value as JSON.
pub(crate) fn json<T: Serialize>(status: StatusCode, value: &T) -> Response<ReplyBody> {
    // Serializing plain data does not fail; an empty body would be a visible failure.
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    let mut response = Response::new(ReplyBody::full(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
