//! Opens a page in the user's browser.

use crate::output::note;
use std::process::{Command, Stdio};

/// Opens an address or a file with the program that the system uses for it; a failure is only noted.
pub(crate) fn open(page: &str) {
    let (program, arguments): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("cmd", &["/C", "start", ""]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        note(format_args!("`{program}` cannot be started ({error}): open it yourself"));
    }
}
