//! Browser login: a one-time link sets a cookie. Neither contains the token.

use crate::HttpError;
use crate::access::random_hex;
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::Instant;

/// The path of login links.
const PATH: &str = "/login";
/// An unused link expires after this long.
const CODE_LIFETIME: Duration = Duration::from_hours(1);
/// Links and browsers that are remembered; the oldest are dropped.
const CAPACITY: usize = 64;
/// How long a browser stays logged in: until the server stops, and for at most a week.
const COOKIE_SECONDS: u64 = 7 * 24 * 60 * 60;

/// A page instead of a redirect: after a redirect the request still counts as cross-site, and browsers would not send the
/// `SameSite=Strict` cookie.
const WELCOME: &str = "<!doctype html><meta charset=\"utf-8\"><title>Ask-E</title>\
    <meta http-equiv=\"refresh\" content=\"0; url=/\"><p><a href=\"/\">Open the viewer</a></p>\n";
const EXPIRED: &str = "<!doctype html><meta charset=\"utf-8\"><title>Ask-E</title>\
    <p>This login link has already been used or has expired. Create a new one with the token:</p>\
    <pre>curl -X POST -H \"Authorization: Bearer $ASKE_TOKEN\" ADDRESS/login</pre>\n";

/// Unused links and logged-in browsers. Only hashes are stored.
#[derive(Debug)]
pub(crate) struct Logins {
    /// Cookies are shared between ports, so the name includes the port.
    cookie: String,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    codes: VecDeque<(blake3::Hash, Instant)>,
    browsers: VecDeque<(blake3::Hash, Instant)>,
}

impl Logins {
    pub(crate) fn new(port: u16) -> Self {
        Self { cookie: format!("aske-{port}"), state: Mutex::default() }
    }

    /// The path of a new link.
    pub(crate) fn link(&self) -> Result<String, HttpError> {
        let code = random_hex()?;
        remember(&mut self.state.lock().codes, &code);
        Ok(format!("{PATH}?code={code}"))
    }

    /// Redeems a code; each works once. Hashes are compared in constant time.
    fn redeem(&self, code: &str) -> bool {
        let hash = blake3::hash(code.as_bytes());
        let codes = &mut self.state.lock().codes;
        codes.retain(|(_, since)| since.elapsed() < CODE_LIFETIME);
        let index = codes.iter().position(|(known, _)| *known == hash);
        index.and_then(|index| codes.remove(index)).is_some()
    }

    /// Whether a request carries the cookie of a logged-in browser.
    pub(crate) fn authorizes(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
        pairs.any(|(name, value)| name.trim() == self.cookie && self.is_known(value.trim()))
    }

    fn is_known(&self, value: &str) -> bool {
        let hash = blake3::hash(value.as_bytes());
        let lifetime = Duration::from_secs(COOKIE_SECONDS);
        self.state.lock().browsers.iter().any(|(known, since)| *known == hash && since.elapsed() < lifetime)
    }

    /// Handles requests to the login path: `GET` opens a link, `POST` with the token creates one.
    pub(crate) fn respond(&self, request: &Request, with_token: bool) -> Option<Response> {
        if request.uri().path() != PATH {
            return None;
        }
        if *request.method() == Method::POST && with_token {
            return Some(match self.link() {
                Ok(link) => format!("{link}\n").into_response(),
                Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
            });
        }
        if *request.method() != Method::GET {
            return None;
        }
        let query = request.uri().query().unwrap_or_default();
        let code = query.split('&').find_map(|pair| pair.strip_prefix("code=")).unwrap_or_default();
        let html = [(CONTENT_TYPE, "text/html; charset=utf-8")];
        if !self.redeem(code) {
            tracing::info!("rejected an invalid login link");
            return Some((StatusCode::UNAUTHORIZED, html, EXPIRED).into_response());
        }
        Some(match self.log_in(request.headers()) {
            Ok(cookie) => ([(SET_COOKIE, cookie)], html, WELCOME).into_response(),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        })
    }

    /// Creates a browser's cookie. Behind a TLS proxy, it is restricted to TLS.
    fn log_in(&self, headers: &HeaderMap) -> Result<String, HttpError> {
        let value = random_hex()?;
        remember(&mut self.state.lock().browsers, &value);
        let tls = headers.get("x-forwarded-proto").is_some_and(|proto| proto.as_bytes() == b"https");
        let secure = if tls { "; Secure" } else { "" };
        let name = &self.cookie;
        Ok(format!("{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={COOKIE_SECONDS}{secure}"))
    }
}

fn remember(known: &mut VecDeque<(blake3::Hash, Instant)>, secret: &str) {
    if known.len() >= CAPACITY {
        known.pop_front();
    }
    known.push_back((blake3::hash(secret.as_bytes()), Instant::now()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;
    use axum::http::HeaderValue;

    fn get(logins: &Logins, link: &str) -> Response {
        logins.respond(&Request::get(link).body(Body::empty()).unwrap(), false).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_link_works_once_and_gives_a_cookie_that_scripts_cannot_read() {
        let logins = Logins::new(80);
        let link = logins.link().unwrap();
        let response = get(&logins, &link);
        assert_eq!(response.status(), 200);
        let cookie = response.headers()[SET_COOKIE].to_str().unwrap();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
        assert!(!cookie.contains(link.split_once('=').unwrap().1), "the code is not the cookie");
        let pair = cookie.split(';').next().unwrap();
        let with = |value: &str| {
            logins.authorizes(&HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(value).unwrap())]))
        };
        assert!(with(pair) && with(&format!("other=1; {pair}; more=2")));
        assert!(!with("aske-80=") && !with("aske-80=0") && !with(&pair.replace("aske-80", "aske-81")));
        assert_eq!(get(&logins, &link).status(), 401);
        assert_eq!(get(&logins, "/login?code=").status(), 401);
        tokio::time::advance(Duration::from_secs(COOKIE_SECONDS + 1)).await;
        assert!(!with(pair));
    }

    #[tokio::test(start_paused = true)]
    async fn an_old_link_is_void_and_only_the_token_makes_another() {
        let logins = Logins::new(80);
        let link = logins.link().unwrap();
        tokio::time::advance(CODE_LIFETIME).await;
        assert_eq!(get(&logins, &link).status(), 401);
        let post = Request::post(PATH).body(Body::empty()).unwrap();
        assert!(logins.respond(&post, false).is_none());
        assert_eq!(logins.respond(&post, true).unwrap().status(), 200);
        // A preview that only asks for the headers does not use the link up.
        let link = logins.link().unwrap();
        assert!(logins.respond(&Request::head(&link).body(Body::empty()).unwrap(), false).is_none());
        assert_eq!(get(&logins, &link).status(), 200);
    }
}
