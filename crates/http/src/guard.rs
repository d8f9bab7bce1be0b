//! Middleware around all routes: host check, token, and security headers.

use crate::host::AllowedHosts;
use crate::login::Logins;
use crate::{Access, ApiError};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, WWW_AUTHENTICATE,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use std::sync::Arc;

/// The health check needs no token.
const HEALTH: &str = "/healthz";

/// The access rules of one server.
pub(crate) struct Guard {
    pub(crate) hosts: AllowedHosts,
    pub(crate) access: Access,
    /// Login links for browsers.
    pub(crate) logins: Option<Arc<Logins>>,
    pub(crate) error_response: fn(ApiError) -> Response,
    pub(crate) content_security_policy: &'static str,
}

/// Applies the rules to the routes.
pub(crate) fn wrap(routes: Router, guard: Guard) -> Router {
    routes.layer(from_fn_with_state(Arc::new(guard), check))
}

async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.reject(&request) {
        Some(response) => response,
        None => next.run(request).await,
    };
    guard.add_headers(response.headers_mut());
    response
}

impl Guard {
    /// The response to a request that must not reach a route: a rejected one, or a login.
    fn reject(&self, request: &Request) -> Option<Response> {
        let (headers, path) = (request.headers(), request.uri().path());
        let reject = |status: StatusCode, message: &str, hint: &str| {
            tracing::info!(status = status.as_u16(), path, "rejected a request: {message}");
            Some((self.error_response)(ApiError::new(status, message).with_hint(hint)))
        };
        if !self.hosts.accept(headers) {
            let hint = "use the address printed at startup, or allow this name with --allow-host";
            return reject(StatusCode::MISDIRECTED_REQUEST, "this host name is not allowed", hint);
        }
        if path == HEALTH && matches!(*request.method(), Method::GET | Method::HEAD) {
            return None;
        }
        let token = self.access.token.as_ref()?;
        let has_token = token.authorizes(headers);
        if let Some(logins) = &self.logins {
            if let Some(response) = logins.respond(request, has_token) {
                return Some(response);
            }
            if logins.authorizes(headers) {
                return None;
            }
        }
        if has_token {
            return None;
        }
        let hint = if self.logins.is_some() {
            "open the link printed at startup, or send the token as `Authorization: Bearer TOKEN`"
        } else {
            "send `Authorization: Bearer TOKEN`; the token is in the server's ASKE_TOKEN, or was printed at startup"
        };
        let mut rejected = reject(StatusCode::UNAUTHORIZED, "a token is required", hint)?;
        rejected.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"aske\""));
        Some(rejected)
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        let own = [
            (CONTENT_SECURITY_POLICY, self.content_security_policy),
            (X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (REFERRER_POLICY, "no-referrer"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
            (CACHE_CONTROL, "no-store"),
        ];
        for (name, value) in own {
            headers.entry(name).or_insert(HeaderValue::from_static(value));
        }
    }
}
