//! `aske view`: runs in the browser.

use crate::arguments::View;
use crate::browser;
use crate::error::{CliError, Exit};
use crate::output::{data, note};
use crate::runs::folders::given_or_any;
use crate::runtime::{runtime, shutdown_signal};
use aske_http::Server;
use aske_view::serve;

pub(crate) fn run(arguments: &View) -> Result<Exit, CliError> {
    let found = given_or_any(&arguments.runs)?;
    // All runs in runs/, also those that are begun while it is open.
    let runs = if arguments.runs.is_empty() { vec!["runs".into()] } else { found };
    let options = arguments.listen.options(8765)?;
    let ready = |server: &Server| {
        let address = server.address();
        data(format_args!("http://{address}/"));
        let page = match server.login() {
            Ok(Some(link)) => {
                let page = format!("http://{address}{link}");
                note(format_args!("open {page} in a browser (the link works once); stop with Ctrl-C"));
                page
            }
            Ok(None) => {
                note("open it in a browser on this machine; stop with Ctrl-C");
                format!("http://{address}/")
            }
            Err(error) => return note(error),
        };
        if arguments.open {
            browser::open(&page);
        }
    };
    runtime()?.block_on(async { serve(runs, options, ready, shutdown_signal()).await })?;
    Ok(Exit::Done)
}
