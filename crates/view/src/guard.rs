//! What every request must be, and what every reply says about itself.

use axum::extract::{Request, State};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::json;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'";

/// Puts the checks around the routes.
pub(crate) fn wrap(routes: Router, port: u16) -> Router {
    let missing = async || (StatusCode::NOT_FOUND, Json(json!({ "error": "there is nothing here" })));
    routes.fallback(missing).layer(from_fn_with_state(port, check))
}

async fn check(State(port): State<u16>, request: Request, next: Next) -> Response {
    let mut reply = match refuse(port, &request) {
        Some(refused) => refused,
        None => next.run(request).await,
    };
    let headers = reply.headers_mut();
    let mut set = |name: HeaderName, value| drop(headers.insert(name, HeaderValue::from_static(value)));
    set(CONTENT_SECURITY_POLICY, POLICY);
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(REFERRER_POLICY, "no-referrer");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    set(CACHE_CONTROL, "no-store");
    reply
}

/// The reply to a request that no route may see.
fn refuse(port: u16, request: &Request) -> Option<Response> {
    if !ours(port, request.headers()) {
        let text =
            format!("This viewer answers only at http://127.0.0.1:{port}/ and http://localhost:{port}/.\n");
        return Some((StatusCode::MISDIRECTED_REQUEST, text).into_response());
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let text = "The viewer changes nothing: only GET and HEAD are answered.\n";
        return Some((StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD")], text).into_response());
    }
    None
}

/// Whether the request is meant for us. A page elsewhere whose name has come to mean this machine (DNS rebinding)
/// sends that name as its host.
fn ours(port: u16, headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    ["127.0.0.1", "localhost"].iter().any(|name| host.as_bytes() == format!("{name}:{port}").as_bytes())
}
