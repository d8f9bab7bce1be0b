//! How servers are asked: patiently, and with a key only where it belongs.

use crate::{Options, PullError};
use percent_encoding::percent_decode_str;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use std::error::Error as _;
use std::time::Duration;

const AGENT: &str = concat!("aske/", env!("CARGO_PKG_VERSION"));

/// A page larger than this is not read to its end.
const MOST_TEXT: usize = 16 << 20;

const MOST_REDIRECTS: usize = 10;

/// A server, and the key for it alone.
pub(crate) struct Site {
    base: Url,
    key: Option<Key>,
}

enum Key {
    Token(String),
    User(String, String),
}

impl Site {
    /// A user and a password in the address become a key, and no part of any address that is shown.
    pub(crate) fn new(address: &str) -> Option<Self> {
        let mut base: Url = address.trim().parse().ok()?;
        if !matches!(base.scheme(), "http" | "https") || !base.has_host() {
            return None;
        }
        let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (user, password) = (plain(base.username()), base.password().map(plain));
        let key =
            (!user.is_empty() || password.is_some()).then(|| Key::User(user, password.unwrap_or_default()));
        base.set_username("").ok()?;
        base.set_password(None).ok()?;
        base.set_query(None);
        base.set_fragment(None);
        Some(Self { base, key })
    }

    pub(crate) fn with_token(mut self, token: Option<&str>) -> Self {
        self.key = token.map(|token| Key::Token(token.trim().to_owned())).or(self.key);
        self
    }

    /// An index that is named by its host alone keeps its pages under `simple`.
    pub(crate) fn with_simple_path(mut self) -> Self {
        if self.base.path() == "/" {
            self.base.set_path("simple");
        }
        self
    }

    /// An address below this one.
    pub(crate) fn at<'s>(&self, segments: impl IntoIterator<Item = &'s str>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Whether a file may be fetched from there: never with less protection than the site itself has.
    pub(crate) fn may_send_to(&self, url: &Url) -> bool {
        url.scheme() == "https" || (url.scheme() == "http" && self.base.scheme() == "http")
    }

    fn unlock(&self, request: RequestBuilder, url: &Url) -> RequestBuilder {
        match &self.key {
            Some(_) if url.origin() != self.base.origin() => request,
            Some(Key::Token(token)) => request.bearer_auth(token),
            Some(Key::User(user, password)) => request.basic_auth(user, Some(password)),
            None => request,
        }
    }
}

/// An address without what may be secret in it.
pub(crate) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// Why a try failed.
pub(crate) enum Fault {
    /// Another try may succeed.
    Passing(String),
    /// None will.
    Lasting(PullError),
}

/// The client, and its patience.
pub(crate) struct Http {
    client: Client,
    attempts: u32,
    pause: Duration,
}

impl Http {
    pub(crate) fn new(options: &Options) -> Result<Self, PullError> {
        // A second installation is refused, and harmless.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(AGENT)
            .redirect(Policy::custom(|attempt| {
                let from = attempt.previous().last().map(|url| url.scheme().to_owned());
                if attempt.previous().len() > MOST_REDIRECTS {
                    attempt.error("too many redirects")
                } else if from.is_some_and(|from| from != attempt.url().scheme()) {
                    attempt.error("a redirect to another scheme")
                } else {
                    attempt.follow()
                }
            }))
            .connect_timeout(Duration::from_secs(30))
            .read_timeout(Duration::from_mins(1))
            // Retries have one place, and it is not there.
            .retry(reqwest::retry::never())
            .build()
            .map_err(|error| PullError::Client(error.to_string()))?;
        Ok(Self { client, attempts: options.attempts.max(1), pause: options.pause })
    }

    /// A request, with the site's key if it goes to that site.
    pub(crate) fn get(&self, site: &Site, url: &Url) -> RequestBuilder {
        site.unlock(self.client.get(url.clone()), url)
    }

    /// A page: where it was found, its type, its text.
    pub(crate) async fn text(
        &self,
        site: &Site,
        url: &Url,
        accept: &str,
    ) -> Result<(Url, String, String), PullError> {
        let mut patience = self.patience(url);
        loop {
            match self.try_text(site, url, accept).await {
                Ok(page) => return Ok(page),
                Err(fault) => patience.bear(fault).await?,
            }
        }
    }

    async fn try_text(&self, site: &Site, url: &Url, accept: &str) -> Result<(Url, String, String), Fault> {
        let failed = |error| broke(url, error);
        let mut response = self.get(site, url).header(ACCEPT, accept).send().await.map_err(failed)?;
        if !response.status().is_success() {
            return Err(refused(url, response.status()));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_owned();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > MOST_TEXT {
                return Err(useless(url, format!("the page is over {} MiB", MOST_TEXT >> 20)));
            }
            body.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(body).map_err(|_| useless(url, "the page is no text"))?;
        Ok((response.url().clone(), kind, text))
    }

    pub(crate) fn patience<'p>(&'p self, url: &'p Url) -> Patience<'p> {
        Patience { http: self, url, failed: 0 }
    }
}

/// What is left of it for one address.
pub(crate) struct Patience<'p> {
    http: &'p Http,
    url: &'p Url,
    failed: u32,
}

impl Patience<'_> {
    /// Something came over: the tries begin anew.
    pub(crate) fn restore(&mut self) {
        self.failed = 0;
    }

    /// Waits before the next try, if there is to be one.
    pub(crate) async fn bear(&mut self, fault: Fault) -> Result<(), PullError> {
        let why = match fault {
            Fault::Lasting(error) => return Err(error),
            Fault::Passing(why) => why,
        };
        self.failed += 1;
        if self.failed >= self.http.attempts {
            return Err(PullError::Unreachable { address: shown(self.url), why });
        }
        tokio::time::sleep(self.http.pause * 2_u32.pow((self.failed - 1).min(4))).await;
        Ok(())
    }
}

/// A status that is no success.
pub(crate) fn refused(url: &Url, status: StatusCode) -> Fault {
    match status.as_u16() {
        status @ (401 | 403) => Fault::Lasting(PullError::Denied { address: shown(url), status }),
        404 | 410 => useless(url, "there is nothing at this address"),
        408 | 425 | 429 | 500..=599 => Fault::Passing(format!("the server answers {status}")),
        _ => useless(url, format!("the server answers {status}")),
    }
}

/// An answer that no further try will better.
pub(crate) fn useless(url: &Url, why: impl Into<String>) -> Fault {
    Fault::Lasting(PullError::Answer { address: shown(url), why: why.into() })
}

/// A connection that failed. What the library says may hold the address, so only its causes are shown.
pub(crate) fn broke(url: &Url, error: reqwest::Error) -> Fault {
    let error = error.without_url();
    let (redirect, connect, timeout) = (error.is_redirect(), error.is_connect(), error.is_timeout());
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    let said = cause.map_or_else(|| error.to_string(), ToString::to_string);
    if redirect {
        return useless(url, said);
    }
    Fault::Passing(match (connect, timeout) {
        (_, true) => "no answer in time".to_owned(),
        (true, _) => format!("cannot connect: {said}"),
        _ => format!("the connection broke: {said}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_secrets() {
        let url: Url = "https://me:secret@example.org/a/b.whl?sig=secret#secret".parse().unwrap();
        assert_eq!(shown(&url), "https://example.org/a/b.whl");
    }

    #[test]
    fn an_index_may_be_named_by_its_host_or_its_pages() {
        for address in
            ["https://pypi.org", "https://pypi.org/", "https://pypi.org/simple", "https://pypi.org/simple/"]
        {
            let index = Site::new(address).unwrap().with_simple_path();
            assert_eq!(index.at(["a", ""]).as_str(), "https://pypi.org/simple/a/");
        }
        assert!(Site::new("ftp://pypi.org").is_none() && Site::new("pypi.org").is_none());
    }

    #[test]
    fn a_name_stays_one_segment() {
        let hub = Site::new("https://example.org").unwrap();
        assert_eq!(hub.at(["a b", "../c?d"]).as_str(), "https://example.org/a%20b/..%2Fc%3Fd");
    }
}
