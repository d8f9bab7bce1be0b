//! The check of the `Host` header.

use axum::http::HeaderMap;
use axum::http::header::HOST;
use std::net::{IpAddr, SocketAddr};

/// The accepted values of `Host`. Prevents DNS rebinding, where a web page's own name is made to resolve to this machine.
#[derive(Clone, Debug)]
pub(crate) struct AllowedHosts {
    address: SocketAddr,
    allowed: Vec<String>,
}

impl AllowedHosts {
    pub(crate) fn new(address: SocketAddr, allowed: &[String]) -> Self {
        let allowed = allowed.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
        Self { address, allowed }
    }

    /// Whether a request is meant for this server.
    ///
    /// On a loopback address: a loopback name with the server's port, or an allowed name. On other addresses: any name
    /// unless some are allowed, because a token is required there; IP addresses always, because they cannot be rebound.
    pub(crate) fn accept(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
        let Ok(host) = host.to_str() else { return false };
        let host = host.to_ascii_lowercase();
        let (name, port) = split(&host);
        if self.allowed.iter().any(|allowed| *allowed == host || *allowed == name) {
            return true;
        }
        let ip = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
        if self.address.ip().is_loopback() {
            let is_loopback = name == "localhost" || ip.is_some_and(|ip| ip.is_loopback());
            return is_loopback && port.unwrap_or(80) == self.address.port();
        }
        !host.is_empty() && (self.allowed.is_empty() || ip.is_some())
    }
}

/// A host's name and port.
fn split(host: &str) -> (&str, Option<u16>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !name.ends_with(':') => {
            port.parse().map_or((host, None), |port| (name, Some(port)))
        }
        _ => (host, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn accepts(address: &str, allowed: &[&str], host: &str) -> bool {
        let allowed: Vec<String> = allowed.iter().map(|&name| name.to_owned()).collect();
        let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_str(host).unwrap())]);
        AllowedHosts::new(address.parse().unwrap(), &allowed).accept(&headers)
    }

    #[test]
    fn a_loopback_server_answers_to_loopback_names_with_its_port() {
        for host in ["127.0.0.1:8089", "localhost:8089", "LOCALHOST:8089", "[::1]:8089"] {
            assert!(accepts("127.0.0.1:8089", &[], host), "{host}");
        }
        for host in [
            "evil.example:8089",
            "localhost.evil.example:8089",
            "10.0.0.1:8089",
            "",
            "localhost",
            "127.0.0.1:1",
        ] {
            assert!(!accepts("127.0.0.1:8089", &[], host), "{host}");
        }
        assert!(accepts("127.0.0.1:80", &[], "localhost"));
        let hosts = AllowedHosts::new(([127, 0, 0, 1], 80).into(), &[]);
        assert!(!hosts.accept(&HeaderMap::new()));
        let twice = HeaderMap::from_iter([(HOST, HeaderValue::from_static("localhost"))]);
        let mut twice = twice;
        twice.append(HOST, HeaderValue::from_static("evil"));
        assert!(!hosts.accept(&twice));
    }

    #[test]
    fn allowed_names_are_added_on_loopback_and_the_only_names_elsewhere() {
        let allowed = ["Aske.Example.org"];
        assert!(accepts("127.0.0.1:8089", &allowed, "aske.example.org"));
        assert!(accepts("127.0.0.1:8089", &allowed, "aske.example.org:8443"));
        assert!(accepts("127.0.0.1:8089", &allowed, "localhost:8089"));
        assert!(!accepts("127.0.0.1:8089", &allowed, "evil.example"));
        assert!(accepts("127.0.0.1:8089", &["localhost:9000"], "localhost:9000"));
        assert!(accepts("0.0.0.0:8089", &[], "gpu-box:8089"));
        assert!(!accepts("0.0.0.0:8089", &allowed, "gpu-box:8089"));
        assert!(accepts("0.0.0.0:8089", &allowed, "10.0.0.1:8089"));
        assert!(accepts("0.0.0.0:8089", &allowed, "aske.example.org:8089"));
    }
}
