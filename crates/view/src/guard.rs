//! What every request must be, and how refused ones are answered.

use aske_http::Refusal;
use axum::extract::Request;
use axum::http::header::ALLOW;
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::json;

/// What the page may load and do.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'";

/// Puts the checks around the routes.
pub(crate) fn wrap(routes: Router) -> Router {
    let missing = async || (StatusCode::NOT_FOUND, Json(json!({ "error": "there is nothing here" })));
    routes.fallback(missing).layer(from_fn(check))
}

async fn check(request: Request, next: Next) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let text = "The viewer changes nothing: only GET and HEAD are answered.\n";
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "GET, HEAD")], text).into_response();
    }
    next.run(request).await
}

/// A refused request.
pub(crate) fn refuse(Refusal { status, what, hint }: Refusal) -> Response {
    (status, Json(json!({ "error": what, "hint": hint }))).into_response()
}
