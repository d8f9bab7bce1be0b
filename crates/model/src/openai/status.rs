//! Maps HTTP statuses to error causes.

use super::parse::error_message;
use crate::{ErrorCause, ProviderError};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use std::time::{Duration, SystemTime};

/// The cause of a status.
pub(super) fn cause(status: u16) -> ErrorCause {
    match status {
        429 => ErrorCause::Throttled,
        401 | 403 => ErrorCause::Auth,
        402 => ErrorCause::Payment,
        404 => ErrorCause::NotFound,
        408 | 409 | 425 | 500..=599 => ErrorCause::Server,
        _ => ErrorCause::Rejected,
    }
}

/// The error of an unsuccessful response.
pub(super) fn error(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> ProviderError {
    let message = format!("HTTP {}: {}", status.as_u16(), error_message(body));
    let retry_after = headers.get(RETRY_AFTER).and_then(|value| wait(value.to_str().ok()?));
    ProviderError { retry_after, ..ProviderError::new(cause(status.as_u16()), message) }
}

/// Reads `Retry-After`: seconds or a date.
fn wait(value: &str) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(value).ok()?;
    Some(until.duration_since(SystemTime::now()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(wait("3"), Some(Duration::from_secs(3)));
        assert_eq!(wait("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(wait("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        let soon = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
        assert!(wait(&soon).is_some_and(|wait| wait.as_secs() > 90));
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("-1"), None);
    }

    #[test]
    fn only_transient_causes_are_retried() {
        for status in [408, 409, 425, 429, 500, 502, 503, 504, 529] {
            assert!(cause(status).is_transient(), "{status}");
        }
        for status in [400, 401, 402, 403, 404, 405, 413, 422] {
            assert!(!cause(status).is_transient(), "{status}");
        }
    }
}
