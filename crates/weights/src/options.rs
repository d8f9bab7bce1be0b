//! Which servers are asked, with which keys, and how patiently.

use crate::PullError;
use crate::http::Site;
use crate::space;
use std::io;
use std::path::Path;
use std::time::Duration;

const HUB: &str = "https://huggingface.co";
const INDEX: &str = "https://pypi.org";

/// How to pull.
pub struct Options {
    pub(crate) hub: Site,
    pub(crate) index: Site,
    /// Tries in a row that may bring nothing.
    pub attempts: u32,
    /// The pause after the first failed try; it doubles with each.
    pub pause: Duration,
    /// How many bytes are free in a folder, if that can be known.
    pub free: fn(&Path) -> io::Result<Option<u64>>,
}

impl Options {
    /// With a hub and its token, and a package index; an index may carry its user and password.
    pub fn new(hub: &str, token: Option<&str>, index: &str) -> Result<Self, PullError> {
        let hub = Site::new(hub).ok_or(PullError::Address { what: "the hub (HF_ENDPOINT)" })?;
        let index = Site::new(index).ok_or(PullError::Address {
            what: "the package index (--index, PIP_INDEX_URL or UV_INDEX_URL)",
        })?;
        Ok(Self {
            hub: hub.with_token(token),
            index: index.with_simple_path(),
            attempts: 4,
            pause: Duration::from_millis(500),
            free: space::free,
        })
    }

    /// With the servers that the usual variables name: `HF_ENDPOINT`, `HF_TOKEN`, `PIP_INDEX_URL`, `UV_INDEX_URL`.
    pub fn from_environment(index: Option<&str>) -> Result<Self, PullError> {
        let set = |name| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let hub = set("HF_ENDPOINT");
        let index = index.map(str::to_owned).or_else(|| set("PIP_INDEX_URL")).or_else(|| set("UV_INDEX_URL"));
        Self::new(
            hub.as_deref().unwrap_or(HUB),
            set("HF_TOKEN").as_deref(),
            index.as_deref().unwrap_or(INDEX),
        )
    }
}
