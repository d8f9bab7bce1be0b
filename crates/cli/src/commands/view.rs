//! `aske view`: runs in the browser.

use crate::arguments::View;
use crate::error::{CliError, Exit};
use crate::output::{data, note};
use crate::runs::folders::given_or_all;
use crate::runtime::{runtime, shutdown_signal};
use aske_http::Server;
use aske_view::{ViewOptions, serve};

pub(crate) fn run(arguments: &View) -> Result<Exit, CliError> {
    let runs = given_or_all(&arguments.runs)?;
    let listen = &arguments.listen;
    let mut options = ViewOptions::new(runs, listen.address(arguments.port), listen.access()?);
    options.http.allowed_hosts = listen.allowed_hosts();
    let ready = |server: &Server| {
        let address = server.address();
        data(format_args!("http://{address}/"));
        match server.login() {
            Ok(Some(link)) => note(format_args!(
                "open http://{address}{link} in a browser (the link works once); stop with Ctrl-C"
            )),
            Ok(None) => note("open it in a browser on this machine; stop with Ctrl-C"),
            Err(error) => note(error),
        }
    };
    let serving = async { serve(options, ready, shutdown_signal()).await };
    runtime()?.block_on(serving)?;
    Ok(Exit::Done)
}
