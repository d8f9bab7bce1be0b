//! Arguments of commands that serve HTTP.

use crate::error::CliError;
use crate::output::note;
use aske_http::{Access, ServerOptions};
use clap::Args;
use std::net::{IpAddr, SocketAddr};

/// The address that a command listens on; `PORT` is its usual port.
#[derive(Debug, Args)]
pub(crate) struct Listen<const PORT: u16> {
    /// The address to listen on. Any but a loopback address requires a token: ASKE_TOKEN, or one that is generated and
    /// printed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// The port; 0 for any free one
    #[arg(long, value_name = "N", default_value_t = PORT)]
    port: u16,
    /// An additional host name to accept, such as that of a reverse proxy; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
}

impl<const PORT: u16> Listen<PORT> {
    /// The options of a server on this address. Prints a generated token, once.
    pub(crate) fn options(&self) -> Result<ServerOptions, CliError> {
        let mut access = Access::from_environment(self.host)?;
        if let Some(token) = access.take_generated() {
            note(format_args!("token: {token}"));
            note("clients send it as `Authorization: Bearer TOKEN`; set ASKE_TOKEN to choose your own");
        }
        let allowed_hosts = self.allow_host.clone();
        Ok(ServerOptions {
            allowed_hosts,
            ..ServerOptions::new(SocketAddr::new(self.host, self.port), access)
        })
    }
}
