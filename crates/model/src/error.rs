//! Errors of calls to models. None of them is ever a score.

use aske_chat::Hint;
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// Why an attempt failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorCause {
    /// The server asked to slow down (429).
    Throttled,
    /// No response within the deadline.
    Timeout,
    /// The connection failed or broke.
    Network,
    /// The server failed (5xx, 408, 409, 425).
    Server,
    /// The response could not be read.
    Malformed,
    /// The API key is missing, wrong or not allowed (401, 403).
    Auth,
    /// No credit is left (402).
    Payment,
    /// No such model or address (404).
    NotFound,
    /// The server rejects this request (other 4xx).
    Rejected,
    /// The script has no reply to this request.
    Script,
    /// The run was halted before the attempt began.
    Halted,
    /// No reply is stored, and no model may be called.
    NotStored,
}

impl ErrorCause {
    /// Whether a later attempt may succeed.
    pub fn is_transient(self) -> bool {
        matches!(self, Self::Throttled | Self::Timeout | Self::Network | Self::Server | Self::Malformed)
    }

    /// Whether no call to this model can succeed until its configuration or account changes.
    pub fn is_lasting(self) -> bool {
        matches!(self, Self::Auth | Self::Payment | Self::NotFound)
    }

    /// The name in tables and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Throttled => "throttled",
            Self::Timeout => "timeout",
            Self::Network => "network",
            Self::Server => "server error",
            Self::Malformed => "malformed reply",
            Self::Auth => "not authorised",
            Self::Payment => "no credit",
            Self::NotFound => "not found",
            Self::Rejected => "rejected",
            Self::Script => "script",
            Self::Halted => "halted",
            Self::NotStored => "no stored reply",
        }
    }
}

impl fmt::Display for ErrorCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One failed attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderError {
    /// Why.
    pub cause: ErrorCause,
    /// What happened; bounded in length, without secrets.
    pub message: String,
    /// How long the server asked to wait.
    pub retry_after: Option<Duration>,
}

impl ProviderError {
    /// An error without `Retry-After`.
    pub fn new(cause: ErrorCause, message: impl Into<String>) -> Self {
        Self { cause, message: message.into(), retry_after: None }
    }
}

/// A call that failed after all attempts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("model `{model}`: {cause}: {message}{}", plural(*.attempts))]
pub struct ModelError {
    /// The model's name.
    pub model: String,
    /// The cause of the last attempt.
    pub cause: ErrorCause,
    /// The message of the last attempt.
    pub message: String,
    /// The number of attempts.
    pub attempts: u32,
    /// The command that starts the model's server, where known.
    pub start: Option<String>,
}

fn plural(attempts: u32) -> String {
    if attempts > 1 { format!(" (after {attempts} attempts)") } else { String::new() }
}

/// The settings that limit the tokens of a session.
const SESSION_LIMITS: &str = "the token budgets or the rounds in `[protocol]`";

impl Hint for ModelError {
    fn hint(&self) -> Option<Cow<'_, str>> {
        Some(Cow::Owned(self.hint_with_limits(SESSION_LIMITS)))
    }
}

impl ModelError {
    /// The error of a call to this model after so many attempts.
    pub fn new(model: &str, cause: ErrorCause, message: impl Into<String>, attempts: u32) -> Self {
        Self { model: model.to_owned(), cause, message: message.into(), attempts, start: None }
    }

    /// The hint, with the settings to lower if a request does not fit into the model's context.
    pub fn hint_with_limits(&self, limits: &str) -> String {
        let model = &self.model;
        match self.cause {
            ErrorCause::Throttled => {
                format!(
                    "lower `models.{model}.limits.concurrency`, or set `rpm` or `tpm` there; then run again"
                )
            }
            ErrorCause::Timeout => {
                format!("raise `models.{model}.limits.timeout_s` if the model is slow; then run again")
            }
            ErrorCause::Network if let Some(start) = &self.start => {
                format!("start its server with `{start}`; then run again")
            }
            ErrorCause::Network => {
                format!(
                    "is the server at `models.{model}.url` up? `aske models {model}` tries it; then run again"
                )
            }
            ErrorCause::Server | ErrorCause::Malformed => {
                "look at the server's log; then run again".to_owned()
            }
            ErrorCause::Auth => {
                format!("check the key in the environment variable named by `models.{model}.api_key_env`")
            }
            ErrorCause::Payment => "top up the account; then run again".to_owned(),
            ErrorCause::NotFound => {
                format!(
                    "check `models.{model}.url` (it ends in /v1 for most servers) and `models.{model}.model`"
                )
            }
            ErrorCause::Rejected => format!(
                "if the server does not know a parameter, name it in `models.{model}.omit`; \
                 if the context is too short, lower {limits}"
            ),
            ErrorCause::Halted => "run the same command again to go on".to_owned(),
            ErrorCause::NotStored => {
                "`aske bench` with the same configuration asks for what is missing".to_owned()
            }
            ErrorCause::Script => format!("add a rule to the file named by `models.{model}.script`"),
        }
    }
}
