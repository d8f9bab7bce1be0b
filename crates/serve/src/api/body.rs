//! JSON request bodies, limited in size.

use aske_http::{ApiError, read_body};
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;

/// A parsed body. Requiring `application/json` keeps pages of other sites from sending requests, as browsers ask for
/// permission first.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned + Send + 'static, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let kind =
            request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json")) {
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body is not JSON")
                .with_hint("send the header `Content-Type: application/json`"));
        }
        let body = read_body(request).await?;
        let parse = |bytes: &[u8]| {
            let text = if bytes.is_empty() { b"{}".as_slice() } else { bytes };
            serde_json::from_slice(text).map_err(|error| error.to_string())
        };
        body.parse(parse).await?.map(Self).map_err(|error| {
            ApiError::bad_request(format!("invalid body: {error}"))
                .with_hint("GET /openapi.json describes the body")
        })
    }
}
