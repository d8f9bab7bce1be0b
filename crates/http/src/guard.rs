//! What stands between the socket and a route: the host, the token, and headers that every response has.

use crate::connection::Connection;
use crate::host::Hosts;
use crate::login::Logins;
use crate::{Access, Budget, Limits, Refusal, Workers};
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

/// Whether a server is up is no secret.
const HEALTH: &str = "/healthz";

/// What requests share. Routes find it among the extensions of a request.
#[derive(Clone, Debug)]
pub struct Shared {
    pub(crate) limits: Limits,
    pub(crate) bodies: Arc<Budget>,
    pub(crate) responses: Arc<Budget>,
    pub(crate) connection: Option<Arc<Connection>>,
    /// Threads for blocking work.
    pub workers: Arc<Workers>,
}

impl Default for Shared {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Shared {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            bodies: Budget::new(limits.bodies, limits.grace),
            responses: Budget::new(limits.responses, limits.grace),
            limits,
            connection: None,
            workers: Arc::default(),
        }
    }

    /// The same for the requests of one connection.
    pub(crate) fn of(&self, connection: &Arc<Connection>) -> Arc<Self> {
        Arc::new(Self { connection: Some(Arc::clone(connection)), ..self.clone() })
    }

    pub(crate) fn receiving(&self) {
        if let Some(connection) = &self.connection {
            connection.receiving();
        }
    }

    pub(crate) fn answering(&self) {
        if let Some(connection) = &self.connection {
            connection.answering();
        }
    }
}

/// The rules of one server.
pub(crate) struct Guard {
    pub(crate) hosts: Hosts,
    pub(crate) access: Access,
    /// Browsers may log in with a link.
    pub(crate) logins: Option<Arc<Logins>>,
    pub(crate) refuse: fn(Refusal) -> Response,
    pub(crate) policy: &'static str,
}

/// Puts the rules around the routes.
pub(crate) fn wrap(routes: Router, guard: Guard) -> Router {
    routes.layer(from_fn_with_state(Arc::new(guard), check))
}

async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.answer(&request) {
        Some(response) => response,
        None => next.run(request).await,
    };
    guard.describe(response.headers_mut());
    response
}

impl Guard {
    /// The response to a request that no route may see.
    fn answer(&self, request: &Request) -> Option<Response> {
        let refuse = |status, what: &str, hint: &str| Some((self.refuse)(Refusal::new(status, what, hint)));
        let (headers, path) = (request.headers(), request.uri().path());
        if !self.hosts.accept(headers) {
            let hint = "use the address that was printed at the start, or allow this name with --allow-host";
            return refuse(StatusCode::MISDIRECTED_REQUEST, "this host is not served here", hint);
        }
        if path == HEALTH && matches!(*request.method(), Method::GET | Method::HEAD) {
            return None;
        }
        let token = self.access.token.as_ref()?;
        let with_token = token.is_in(headers);
        if let Some(logins) = &self.logins {
            if let Some(response) = logins.answer(request, with_token) {
                return Some(response);
            }
            if logins.is_in(headers) {
                return None;
            }
        }
        if with_token {
            return None;
        }
        let hint = if self.logins.is_some() {
            "open the link that was printed at the start, or send the token as `Authorization: Bearer TOKEN`"
        } else {
            "send it as `Authorization: Bearer TOKEN`; it is in ASKE_TOKEN where the server was started, or was printed there"
        };
        let mut refused = refuse(StatusCode::UNAUTHORIZED, "a token is required", hint)?;
        refused.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"aske\""));
        Some(refused)
    }

    fn describe(&self, headers: &mut HeaderMap) {
        let own = [
            (CONTENT_SECURITY_POLICY, self.policy),
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
