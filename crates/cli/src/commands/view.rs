//! `aske view`: runs in the browser.

use crate::arguments::View;
use crate::commands::report::chosen;
use crate::live::{runtime, signal_from_now};
use crate::output::{data, note};
use crate::problem::{Exit, Problem};
use aske_http::Server;
use aske_view::{Options, serve};

pub(crate) fn run(arguments: &View) -> Result<Exit, Problem> {
    let runs = chosen(&arguments.runs)?;
    let listen = &arguments.listen;
    let mut options = Options::new(runs, listen.address(arguments.port), listen.access()?);
    options.http.allowed_hosts = listen.allowed_hosts();
    let ready = |server: &Server| {
        let address = server.address();
        data(format_args!("http://{address}/"));
        match server.login() {
            Ok(Some(link)) => note(format_args!(
                "open http://{address}{link} in a browser: the link works once; Ctrl-C ends the viewer"
            )),
            Ok(None) => note("open it in a browser on this machine; Ctrl-C ends it"),
            Err(error) => note(error),
        }
    };
    let serving = async { serve(options, ready, signal_from_now()).await };
    runtime()?.block_on(serving).map_err(|error| Problem {
        message: error.to_string(),
        hint: error.hint().map(str::to_owned),
        exit: Exit::Usage,
    })?;
    Ok(Exit::Done)
}
