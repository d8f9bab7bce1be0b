//! Requests to the hub: retries, and credentials that are sent to the hub only.

use crate::{PullError, PullOptions};
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use std::error::Error as _;
use std::time::Duration;

/// The largest listing that is read.
const MAX_LISTING_BYTES: usize = 16 << 20;

const MAX_REDIRECTS: usize = 10;

/// The hub's base URL, which may carry a user and a password, and its token.
#[derive(Clone)]
pub(crate) struct Endpoint {
    base: Url,
    token: Option<String>,
}

impl Endpoint {
    /// Parses a URL; a token replaces a user and a password in it.
    pub(crate) fn new(url: &str, token: Option<&str>) -> Option<Self> {
        let mut base: Url = url.trim().parse().ok()?;
        if !matches!(base.scheme(), "http" | "https") || !base.has_host() {
            return None;
        }
        base.set_query(None);
        base.set_fragment(None);
        if token.is_some() {
            base.set_username("").ok()?;
            base.set_password(None).ok()?;
        }
        Some(Self { base, token: token.map(|token| token.trim().to_owned()) })
    }

    /// The URL of a path below the base URL.
    pub(crate) fn url<'s>(&self, segments: impl IntoIterator<Item = &'s str>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }
}

/// A URL without credentials, query and fragment, for messages.
pub(crate) fn redacted(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

/// Why an attempt failed.
pub(crate) enum AttemptError {
    /// Another attempt may succeed.
    Transient(String),
    /// No attempt can succeed.
    Permanent(PullError),
}

/// An HTTP client for the hub.
pub(crate) struct HubClient {
    client: Client,
    pub(crate) endpoint: Endpoint,
    attempts: u32,
    pause: Duration,
}

impl HubClient {
    pub(crate) fn new(options: &PullOptions) -> Result<Self, PullError> {
        let client = aske_http_client::builder()
            .redirect(Policy::custom(|attempt| {
                let from = attempt.previous().last().map(|url| url.scheme().to_owned());
                if attempt.previous().len() > MAX_REDIRECTS {
                    attempt.error("too many redirects")
                } else if from.is_some_and(|from| from != attempt.url().scheme()) {
                    attempt.error("redirect to another scheme")
                } else {
                    attempt.follow()
                }
            }))
            .read_timeout(Duration::from_mins(1))
            .build()
            .map_err(PullError::Client)?;
        let endpoint = options.hub.clone();
        Ok(Self { client, endpoint, attempts: options.attempts.max(1), pause: options.pause })
    }

    /// A GET request to a URL of the hub, with the credentials; reqwest drops them on a redirect to another host.
    pub(crate) fn get(&self, url: &Url) -> RequestBuilder {
        let request = self.client.get(url.clone());
        match &self.endpoint.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    /// The body of a response.
    pub(crate) async fn body(&self, url: &Url) -> Result<Vec<u8>, PullError> {
        let mut retries = self.retries(url);
        loop {
            match self.try_body(url).await {
                Ok(body) => return Ok(body),
                Err(error) => retries.wait(error).await?,
            }
        }
    }

    async fn try_body(&self, url: &Url) -> Result<Vec<u8>, AttemptError> {
        let failed = |error| connection_error(url, error);
        let mut response = self.get(url).send().await.map_err(failed)?;
        if !response.status().is_success() {
            return Err(status_error(url, response.status()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failed)? {
            if body.len() + chunk.len() > MAX_LISTING_BYTES {
                return Err(bad_response(url, format!("response exceeds {} MiB", MAX_LISTING_BYTES >> 20)));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    pub(crate) fn retries<'c>(&'c self, url: &'c Url) -> Retries<'c> {
        Retries { client: self, url, failed: 0 }
    }
}

/// Counts the failed attempts for one URL.
pub(crate) struct Retries<'c> {
    client: &'c HubClient,
    url: &'c Url,
    failed: u32,
}

impl Retries<'_> {
    /// Starts counting again, because an attempt made progress.
    pub(crate) fn reset(&mut self) {
        self.failed = 0;
    }

    /// Waits before the next attempt; fails if there is none left.
    pub(crate) async fn wait(&mut self, error: AttemptError) -> Result<(), PullError> {
        let reason = match error {
            AttemptError::Permanent(error) => return Err(error),
            AttemptError::Transient(reason) => reason,
        };
        self.failed += 1;
        if self.failed >= self.client.attempts {
            return Err(PullError::Unreachable { address: redacted(self.url), reason });
        }
        tokio::time::sleep(self.client.pause * 2_u32.pow((self.failed - 1).min(4))).await;
        Ok(())
    }
}

/// The error for a response without success.
pub(crate) fn status_error(url: &Url, status: StatusCode) -> AttemptError {
    match status.as_u16() {
        status @ (401 | 403) => {
            AttemptError::Permanent(PullError::Forbidden { address: redacted(url), status, repo: None })
        }
        408 | 425 | 429 | 500..=599 => AttemptError::Transient(format!("server responded {status}")),
        _ => bad_response(url, format!("server responded {status}")),
    }
}

/// The error for a response that cannot be used.
pub(crate) fn bad_response(url: &Url, reason: impl Into<String>) -> AttemptError {
    AttemptError::Permanent(PullError::BadResponse { address: redacted(url), reason: reason.into() })
}

/// The error for a failed connection. The error itself may contain the URL, so only its innermost cause is shown.
pub(crate) fn connection_error(url: &Url, error: reqwest::Error) -> AttemptError {
    let error = error.without_url();
    let (redirect, connect, timeout) = (error.is_redirect(), error.is_connect(), error.is_timeout());
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    let cause = cause.map_or_else(|| error.to_string(), ToString::to_string);
    if redirect {
        return bad_response(url, cause);
    }
    AttemptError::Transient(match (connect, timeout) {
        (_, true) => "timed out".to_owned(),
        (true, _) => format!("cannot connect: {cause}"),
        _ => format!("connection failed: {cause}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redacted_urls_have_no_secrets() {
        let url: Url = "https://me:secret@example.org/a/b.gguf?sig=secret#secret".parse().unwrap();
        assert_eq!(redacted(&url), "https://example.org/a/b.gguf");
    }

    #[test]
    fn an_endpoint_is_an_http_url() {
        for url in ["https://example.org/hub", "https://example.org/hub/"] {
            assert_eq!(
                Endpoint::new(url, None).unwrap().url(["a", ""]).as_str(),
                "https://example.org/hub/a/"
            );
        }
        assert!(
            Endpoint::new("ftp://example.org", None).is_none()
                && Endpoint::new("example.org", None).is_none()
        );
    }

    #[test]
    fn a_name_stays_one_segment() {
        let hub = Endpoint::new("https://example.org", None).unwrap();
        assert_eq!(hub.url(["a b", "../c?d"]).as_str(), "https://example.org/a%20b/..%2Fc%3Fd");
    }
}
