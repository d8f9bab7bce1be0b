//! Where a server listens, and who may use it.

use crate::output::note;
use crate::problem::{Exit, Problem};
use aske_http::{Access, HttpError};
use clap::Args;
use std::net::{IpAddr, SocketAddr};

#[derive(Debug, Args)]
pub(crate) struct Listen {
    /// The address to listen on; on any but this machine's own a token is required: ASKE_TOKEN, or one that is generated
    /// and printed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: IpAddr,
    /// A host name that requests may use besides the usual ones, such as a reverse proxy's; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
}

impl Listen {
    /// The address with this port.
    pub(crate) fn address(&self, port: u16) -> SocketAddr {
        SocketAddr::new(self.host, port)
    }

    /// Who may use the server; a token that was generated is printed, once.
    pub(crate) fn access(&self) -> Result<Access, Problem> {
        let mut access = Access::from_environment(self.host).map_err(|error: HttpError| Problem {
            message: error.to_string(),
            hint: Some(error.hint().to_owned()),
            exit: Exit::Usage,
        })?;
        if let Some(token) = access.take_generated() {
            note(format_args!("token: {token}"));
            note("clients send it as `Authorization: Bearer TOKEN`; set ASKE_TOKEN to choose your own");
        }
        Ok(access)
    }

    /// Host names that requests may use besides the usual ones.
    pub(crate) fn allowed_hosts(&self) -> Vec<String> {
        self.allow_host.clone()
    }
}
