//! Sends HTTP requests and reads responses of bounded size.

use super::pool::{CONNECT_TIMEOUT, ConnectionPool, connection_error, unconnected, unresolved};
use super::status;
use crate::{EndpointError, ErrorCause, ProviderError};
use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Body;
use reqwest::header::{HOST, HeaderMap, HeaderValue, USER_AGENT};
use reqwest::{Method, StatusCode, Url};

/// Larger responses are rejected.
const MAX_BYTES: usize = 16 << 20;

/// The client for `https` addresses, shared by all endpoints of a run.
#[derive(Clone, Debug)]
pub struct HttpClient(reqwest::Client);

impl HttpClient {
    /// A client that keeps up to `pool` idle connections to each host.
    pub fn new(pool: usize) -> Result<Self, EndpointError> {
        aske_http_client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .pool_max_idle_per_host(pool)
            .tcp_nodelay(true)
            .connect_timeout(CONNECT_TIMEOUT)
            .build()
            .map(Self)
            .map_err(EndpointError::Client)
    }
}

/// The connection to one server.
pub(super) enum Transport {
    /// `http`: usually a self-hosted server.
    Plain { base: String, host: HeaderValue, connections: ConnectionPool },
    /// `https`: usually a hosted provider.
    Secure { base: String, host: String, client: reqwest::Client },
}

impl Transport {
    /// The transport for a checked base address.
    pub(super) fn new(http: &HttpClient, base: &str, url: &Url) -> Option<Self> {
        let host = url.host_str()?;
        if url.scheme() == "https" {
            return Some(Self::Secure {
                base: base.trim_end_matches('/').to_owned(),
                host: host.to_owned(),
                client: http.0.clone(),
            });
        }
        let port = url.port_or_known_default()?;
        Some(Self::Plain {
            base: url.path().trim_end_matches('/').to_owned(),
            host: HeaderValue::from_str(&format!("{host}:{port}")).ok()?,
            connections: ConnectionPool::new(host, port),
        })
    }

    /// Sends a request and returns the body of a successful response; any other status is an error.
    pub(super) async fn exchange(
        &self,
        method: Method,
        path: &str,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Bytes, ProviderError> {
        let (status, headers, body) = match self {
            Self::Plain { base, host, connections } => {
                plain(connections, method, &format!("{base}/{path}"), host, headers, body).await?
            }
            Self::Secure { base, host, client } => {
                let request =
                    client.request(method, format!("{base}/{path}")).headers(headers.clone()).body(body);
                secure(request, host).await?
            }
        };
        if status.is_success() { Ok(body) } else { Err(status::error(status, &headers, &body)) }
    }
}

type Received = (StatusCode, HeaderMap, Bytes);

async fn plain(
    connections: &ConnectionPool,
    method: Method,
    target: &str,
    host: &HeaderValue,
    headers: &HeaderMap,
    body: Bytes,
) -> Result<Received, ProviderError> {
    let mut request = hyper::Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() =
        target.parse().map_err(|_| ProviderError::new(ErrorCause::Rejected, "not an address"))?;
    let fields = request.headers_mut();
    fields.reserve(headers.len() + 3);
    fields.insert(HOST, host.clone());
    fields.insert(USER_AGENT, HeaderValue::from_static(aske_http_client::USER_AGENT));
    fields.extend(headers.iter().map(|(name, value)| (name.clone(), value.clone())));
    let (response, sender) = connections.send(request).await?;
    let (parts, incoming) = response.into_parts();
    let body = read(incoming).await?;
    connections.keep(sender);
    Ok((parts.status, parts.headers, body))
}

async fn secure(request: reqwest::RequestBuilder, host: &str) -> Result<Received, ProviderError> {
    let failed = |error: reqwest::Error| {
        let error = error.without_url();
        if !error.is_connect() {
            connection_error(&error)
        } else if is_dns_error(&error) {
            unresolved(host)
        } else {
            unconnected(&error)
        }
    };
    let mut response = request.send().await.map_err(failed)?;
    let headers = std::mem::take(response.headers_mut());
    Ok((response.status(), headers, read(reqwest::Body::from(response)).await?))
}

/// Whether a host name could not be resolved; the client's type for this is private.
fn is_dns_error(error: &(dyn std::error::Error + 'static)) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(|error| error.to_string() == "dns error")
}

/// Reads a body of bounded size.
async fn read<B>(body: B) -> Result<Bytes, ProviderError>
where
    B: Body<Data = Bytes, Error: Into<Box<dyn std::error::Error + Send + Sync>>>,
{
    match Limited::new(body, MAX_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(ProviderError::new(
            ErrorCause::Malformed,
            format!("the reply is over {} MiB", MAX_BYTES >> 20),
        )),
        Err(error) => Err(connection_error(&*error)),
    }
}
