//! The one place that prints: data on stdout, everything else on stderr. A closed pipe is not an error.

use crate::error::{CliError, Exit};
use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressDrawTarget};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};
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

/// Columns of the output where neither a terminal nor `COLUMNS` says how many there are.
const WIDTH: usize = 100;

/// The columns of the terminal that data are printed on.
pub(crate) fn width() -> usize {
    let stdout = std::io::stdout();
    let terminal = if stdout.is_terminal() { terminal_size::terminal_size_of(stdout) } else { None };
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.map(|(terminal_size::Width(width), _)| width.into()).or_else(columns).unwrap_or(WIDTH)
}

/// Text in lines of at most this width; words are not broken.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Wraps text in a style; the streams drop it where colours are off.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints a line of data.
pub(crate) fn data(text: impl Display) {
    if let Err(error) = writeln!(anstream::stdout().lock(), "{text}")
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
        let text = without_codes(&text.to_string());
        let _ = anstream::stderr().lock().write_all(text.as_bytes());
    });
}

/// Text without the error numbers of the operating system.
fn without_codes(message: &str) -> String {
    let mut parts = message.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or(part, |(_, rest)| rest))
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
