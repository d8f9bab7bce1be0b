//! `aske view`: runs in the browser.

use crate::arguments::View;
use crate::browser;
use crate::error::{CliError, Exit};
use crate::output::{data, note};
use crate::runs::folders::given_or_any;
use crate::runs::progress::PLAIN_EVERY;
use crate::runtime::{runtime, shutdown_signal};
use aske_http::Server;
use aske_report::number::{count, counted};
use aske_view::{BundleSummary, bundle, serve};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub(crate) fn run(arguments: &View) -> Result<Exit, CliError> {
    let found = given_or_any(&arguments.runs)?;
    // All runs in runs/, also those that are begun while it is open.
    let runs = if arguments.runs.is_empty() { vec!["runs".into()] } else { found };
    if let Some(folder) = &arguments.bundle {
        return write_bundle(runs, folder, arguments.open);
    }
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

/// Writes the pages of some runs as static files.
fn write_bundle(runs: Vec<PathBuf>, folder: &Path, open: bool) -> Result<Exit, CliError> {
    let printed = Cell::new(Instant::now());
    let progress = |files: usize| {
        if printed.get().elapsed() >= PLAIN_EVERY {
            printed.set(Instant::now());
            note(format_args!("{} files written", count(files as u64)));
        }
    };
    let written = runtime()?.block_on(async {
        tokio::select! {
            written = bundle(runs, folder, progress) => Some(written),
            () = shutdown_signal() => None,
        }
    });
    // The unfinished files are gone.
    let Some(written) = written else { return Ok(Exit::Interrupted) };
    let BundleSummary { runs, files, bytes } = written?;
    let page = folder.join("index.html");
    data(page.display());
    note(format_args!(
        "{} in {} files, {:.1} MB: open index.html in a browser, or copy the folder to any web host",
        counted(runs, "run"),
        count(files as u64),
        bytes as f64 / 1e6
    ));
    if open {
        browser::open(&page.display().to_string());
    }
    Ok(Exit::Done)
}
