//! The settings shared by every outgoing HTTP client: `model` (providers), `weights` (the hub) and `fleet` (vLLM).
//!
//! Depends on no other crate of the workspace. `model` additionally has its own connection pool for plain `http`
//! endpoints, because a run keeps thousands of requests to one server in flight.
//!
//! ```
//! let client = aske_http_client::builder().build()?;
//! # Ok::<(), reqwest::Error>(())
//! ```

use std::time::Duration;

/// The `User-Agent` of every request.
pub const USER_AGENT: &str = concat!("aske/", env!("CARGO_PKG_VERSION"));

/// A client builder with TLS by `ring`, a connect timeout of 30 seconds and no automatic retries: callers retry.
pub fn builder() -> reqwest::ClientBuilder {
    // Fails when a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .user_agent(USER_AGENT)
        .connect_timeout(Duration::from_secs(30))
        .retry(reqwest::retry::never())
}
