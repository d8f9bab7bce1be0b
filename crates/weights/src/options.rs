//! Settings of a download: the hub, its credentials, retries.

use crate::PullError;
use crate::client::Endpoint;
use crate::space;
use std::io;
use std::path::Path;
use std::time::Duration;

const HUB: &str = "https://huggingface.co";

/// How to download.
pub struct PullOptions {
    pub(crate) hub: Endpoint,
    /// Consecutive attempts that may make no progress.
    pub attempts: u32,
    /// The pause after the first failed attempt; it doubles with each further one.
    pub pause: Duration,
    /// Returns the free bytes of a folder's file system, if known.
    pub free: fn(&Path) -> io::Result<Option<u64>>,
}

impl PullOptions {
    /// Options for a hub, which may carry a user and a password in its URL, and an access token.
    pub fn new(hub: &str, token: Option<&str>) -> Result<Self, PullError> {
        Ok(Self {
            hub: Endpoint::new(hub, token).ok_or(PullError::InvalidEndpoint)?,
            attempts: 4,
            pause: Duration::from_millis(500),
            free: space::free,
        })
    }

    /// Reads `HF_ENDPOINT` and `HF_TOKEN`.
    pub fn from_environment() -> Result<Self, PullError> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let hub = variable("HF_ENDPOINT");
        Self::new(hub.as_deref().unwrap_or(HUB), variable("HF_TOKEN").as_deref())
    }
}
