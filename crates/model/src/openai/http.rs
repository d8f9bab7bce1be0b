//! The HTTP client that all endpoints share.

use crate::EndpointError;
use std::time::Duration;

/// One pool of connections for every endpoint of a run.
#[derive(Clone, Debug)]
pub struct Http(reqwest::Client);

impl Http {
    /// A client that keeps up to `pool` idle connections to each host.
    pub fn new(pool: usize) -> Result<Self, EndpointError> {
        // A second installation is refused, and harmless.
        let _ = rustls::crypto::ring::default_provider().install_default();
        reqwest::Client::builder()
            .user_agent(concat!("aske/", env!("CARGO_PKG_VERSION")))
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(30))
            // Retries have one place, and it is not here.
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(pool)
            .tcp_nodelay(true)
            .build()
            .map(Self)
            .map_err(|error| EndpointError::Client(error.to_string()))
    }

    pub(super) fn client(&self) -> &reqwest::Client {
        &self.0
    }
}
