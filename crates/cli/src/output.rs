//! The one place that prints: data on stdout, everything else on stderr. A closed pipe is not an error.

use crate::error::{CliError, Exit};
use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressDrawTarget};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::LazyLock;

/// Colours by meaning.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
pub(crate) const NOTE: Style = AnsiColor::Yellow.on_default();
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

/// Every progress bar; hidden where stderr is not a terminal. Lines on stderr are printed above the bars.
pub(crate) static BARS: LazyLock<MultiProgress> =
    LazyLock::new(|| MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(8)));

/// Wraps text in a style; the streams drop it where colours are off.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints a line of data, above any progress bar.
pub(crate) fn data(text: impl Display) {
    if let Err(error) = BARS.suspend(|| writeln!(anstream::stdout().lock(), "{text}"))
        && error.kind() == ErrorKind::BrokenPipe
    {
        std::process::exit(i32::from(Exit::Done.status()));
    }
}

/// Prints data as it is, byte for byte.
pub(crate) fn raw(bytes: &[u8]) {
    let _ = std::io::stdout().lock().write_all(bytes);
}

/// Writes data to a file.
pub(crate) fn write(file: &Path, bytes: impl AsRef<[u8]>) -> Result<(), CliError> {
    std::fs::write(file, bytes).map_err(|error| {
        CliError::usage(
            format!("{}: {error}", file.display()),
            "name a file in an existing folder that you can write to",
        )
    })
}

/// Prints text on stderr, above any progress bar.
pub(crate) fn print_stderr(text: impl Display) {
    BARS.suspend(|| {
        let _ = write!(anstream::stderr().lock(), "{text}");
    });
}

/// Prints a line for the user on stderr.
pub(crate) fn note(text: impl Display) {
    print_stderr(format_args!("{text}\n"));
}

/// Prints a line for the user on stderr, unless it was printed before.
pub(crate) fn note_once(text: impl Display) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let text = text.to_string();
    if PRINTED.lock().insert(text.clone()) {
        note(text);
    }
}

/// Prints an error and its hint.
pub(crate) fn error(error: &CliError) {
    note(format_args!("{} {}", paint(BAD.bold(), "error:"), error.message));
    if let Some(text) = &error.hint {
        hint(text);
    }
}

/// Prints what to do next.
pub(crate) fn hint(text: impl Display) {
    note(format_args!("{} {text}", paint(NAME.bold(), "hint:")));
}

/// Makes model output safe for a terminal by dropping control characters other than line breaks.
pub(crate) fn safe(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_control()).collect()
}

/// The same on one line.
pub(crate) fn safe_line(text: &str) -> String {
    safe(text).replace('\n', " ")
}
