//! The one place that prints: data on stdout, everything else on stderr. A closed pipe is not an error.

use crate::problem::{Exit, Problem};
use anstyle::{AnsiColor, Style};
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// Colours by meaning.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
pub(crate) const NOTE: Style = AnsiColor::Yellow.on_default();
pub(crate) const NAME: Style = AnsiColor::Cyan.on_default();
pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();

/// A text in a style; where colours are off, the stream drops them.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// A line of data.
pub(crate) fn data(text: impl Display) {
    if let Err(error) = writeln!(anstream::stdout().lock(), "{text}")
        && error.kind() == ErrorKind::BrokenPipe
    {
        std::process::exit(i32::from(Exit::Done.status()));
    }
}

/// Data exactly as it is.
pub(crate) fn raw(bytes: &[u8]) {
    let _ = std::io::stdout().lock().write_all(bytes);
}

/// Data into a file.
pub(crate) fn write(file: &Path, text: &str) -> Result<(), Problem> {
    std::fs::write(file, text).map_err(|error| {
        Problem::usage(format!("{}: {error}", file.display()), "name a file in a folder that is there")
    })
}

/// A line for the person who watches.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(anstream::stderr().lock(), "{text}");
}

/// A problem, with its hint.
pub(crate) fn problem(problem: &Problem) {
    note(format_args!("{} {}", paint(BAD.bold(), "error:"), problem.message));
    if let Some(text) = &problem.hint {
        hint(text);
    }
}

/// What to do next.
pub(crate) fn hint(text: impl Display) {
    note(format_args!("{} {text}", paint(NAME.bold(), "hint:")));
}

/// Model output made safe for a terminal: control characters other than line breaks are dropped.
pub(crate) fn safe(text: &str) -> String {
    text.chars().filter(|c| *c == '\n' || !c.is_control()).collect()
}
