//! `aske view`: runs in the browser.

use crate::arguments::View;
use crate::commands::report::chosen;
use crate::live::until_signal;
use crate::output::{data, note};
use crate::problem::{Exit, Problem};
use aske_view::{Options, serve};

pub(crate) fn run(arguments: &View) -> Result<Exit, Problem> {
    let options = Options { runs: chosen(&arguments.runs)?, port: arguments.port };
    let ready = |address: std::net::SocketAddr| {
        data(format_args!("http://{address}/"));
        note("open it in a browser on this machine; Ctrl-C ends it");
    };
    match until_signal(serve(options, ready, std::future::pending()))? {
        Some(Err(error)) => Err(Problem {
            message: error.to_string(),
            hint: error.hint().map(str::to_owned),
            exit: Exit::Usage,
        }),
        Some(Ok(())) | None => Ok(Exit::Done),
    }
}
