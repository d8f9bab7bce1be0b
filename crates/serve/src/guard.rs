//! What stands between the socket and a route.

use crate::problem::Problem;
use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::HOST;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use std::net::{IpAddr, SocketAddr};

/// Bytes of a request at most: some thousands of questions.
const LARGEST: usize = 4 << 20;

/// Puts the limits around the routes.
pub(crate) fn wrap(routes: Router, address: SocketAddr) -> Router {
    routes.layer(DefaultBodyLimit::max(LARGEST)).layer(from_fn_with_state(address, check))
}

async fn check(State(address): State<SocketAddr>, request: Request, next: Next) -> Response {
    if address.ip().is_loopback() && !is_local(request.headers()) {
        let hint = "ask for 127.0.0.1 or localhost; --host opens this to other machines";
        return Problem::new(StatusCode::MISDIRECTED_REQUEST, "this host is not served here", hint)
            .into_response();
    }
    next.run(request).await
}

/// Whether the request names this machine. A page elsewhere whose name has come to mean this machine (DNS rebinding)
/// sends that name as its host.
fn is_local(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let ip = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || ip.is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn only_names_of_this_machine_are_local() {
        let local =
            |host: &'static str| is_local(&HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]));
        for host in ["127.0.0.1:8089", "localhost", "LOCALHOST:1", "[::1]:80"] {
            assert!(local(host), "{host}");
        }
        for host in ["evil.example:8089", "localhost.evil.example", "10.0.0.1", ""] {
            assert!(!local(host), "{host}");
        }
        assert!(!is_local(&HeaderMap::new()));
    }
}
