//! `aske view`: runs in the browser.

use crate::arguments::View;
use crate::error::{CliError, Exit};
use crate::output::{data, note};
use crate::runs::folders::given_or_all;
use crate::runtime::{runtime, shutdown_signal};
use aske_http::Server;
use aske_view::serve;

pub(crate) fn run(arguments: &View) -> Result<Exit, CliError> {
    let runs = given_or_all(&arguments.runs)?;
    let options = arguments.listen.options(arguments.port)?;
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
    runtime()?.block_on(async { serve(runs, options, ready, shutdown_signal()).await })?;
    Ok(Exit::Done)
}
