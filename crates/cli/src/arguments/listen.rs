//! Arguments of commands that serve HTTP.

use crate::error::CliError;
use crate::output::note;
use aske_http::{Access, ServerOptions};
use clap::Args;
use std::net::{IpAddr, SocketAddr};

/// The address that a command listens on.
#[derive(Debug, Args)]
pub(crate) struct Listen {
    /// The address to listen on. Any but a loopback address requires a token: ASKE_TOKEN, or one that is generated and
    /// printed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// The port; 0 for any free one [default: 8765 for `view`, 8078 for `serve env`, 8079 for `serve models`]
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// An additional host name to accept, such as that of a reverse proxy; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
}

impl Listen {
    /// The options of a server on this address, or on this port of it if none is given. Prints a generated token, once.
    pub(crate) fn options(&self, usual_port: u16) -> Result<ServerOptions, CliError> {
        let mut access = Access::from_environment(self.host)?;
        if let Some(token) = access.take_generated() {
            note(format_args!("token: {token}"));
            note("clients send it as `Authorization: Bearer TOKEN`; set ASKE_TOKEN to choose your own");
        }
        let port = self.port.unwrap_or(usual_port);
        let allowed_hosts = self.allow_host.clone();
        Ok(ServerOptions { allowed_hosts, ..ServerOptions::new(SocketAddr::new(self.host, port), access) })
    }
}
