//! The one place that prints: data on stdout, everything else on stderr. A closed pipe is not an error.

use crate::error::{CliError, Exit};
use anstyle::{AnsiColor, Style};
use indicatif::{MultiProgress, ProgressDrawTarget};
use parking_lot::Mutex;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::LazyLock;
use terminal_size::terminal_size_of;

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
const WIDTH: usize = 120;

/// The columns of the terminal that data are printed on.
pub(crate) fn width() -> usize {
    let variable = || std::env::var("COLUMNS").ok()?.parse().ok();
    columns(terminal_size_of(std::io::stdout())).or_else(variable).unwrap_or(WIDTH)
}

/// The columns of a terminal.
fn columns(terminal: Option<(terminal_size::Width, terminal_size::Height)>) -> Option<usize> {
    terminal.map(|(terminal_size::Width(width), _)| width.into())
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

/// Text whose lines are not broken within words by a terminal of this width. Lines of JSON stay as they are.
fn folded(text: &str, width: Option<usize>) -> Cow<'_, str> {
    let Some(width) = width.filter(|width| text.lines().any(|line| visible(line) > *width)) else {
        return Cow::Borrowed(text);
    };
    let fold = |line: &str| {
        let mut folded = String::new();
        let mut used = 0;
        for word in line.split_inclusive(' ') {
            let length = visible(word.trim_end());
            if used > 0 && used + length > width {
                folded.truncate(folded.trim_end().len());
                folded.push('\n');
                used = 0;
            }
            folded.push_str(word);
            used += visible(word);
        }
        folded
    };
    let lines = text.split('\n').map(|line| {
        let whole = visible(line) <= width || line.starts_with(['{', '[']);
        if whole { line.to_owned() } else { fold(line) }
    });
    Cow::Owned(lines.collect::<Vec<_>>().join("\n"))
}

/// Columns that a text takes, without the sequences that set colours.
fn visible(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().chars().count()
}

/// Wraps text in a style; the streams drop it where colours are off.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints a line of data, above any progress bar.
pub(crate) fn data(text: impl Display) {
    let text = text.to_string();
    let text = folded(&text, columns(terminal_size_of(std::io::stdout())));
    match BARS.suspend(|| writeln!(anstream::stdout().lock(), "{text}")) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            std::process::exit(i32::from(Exit::Done.status()))
        }
        Err(error) => {
            note(format_args!("{} standard output: {error}", paint(BAD.bold(), "error:")));
            std::process::exit(i32::from(Exit::Failures.status()))
        }
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
        let text = folded(&text, columns(terminal_size_of(std::io::stderr())));
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
    note(format_args!("{} {}", paint(BAD.bold(), "error:"), safe(&error.message)));
    if let Some(text) = &error.hint {
        hint(text);
    }
}

/// Prints what to do next.
pub(crate) fn hint(text: impl Display) {
    note(format_args!("{} {text}", paint(NAME.bold(), "hint:")));
}

/// Makes model output safe for a terminal by dropping control characters other than line breaks, and those that change the
/// direction of text.
pub(crate) fn safe(text: &str) -> String {
    let directs = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|&c| c == '\n' || !(c.is_control() || directs(c))).collect()
}

/// The same on one line.
pub(crate) fn safe_line(text: &str) -> String {
    safe(text).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wide_lines_are_folded_and_only_between_words() {
        let text = format!("short\n{}\n{{\"a\": 1, \"b\": 2}}", paint(BOLD, "three longer words"));
        let shown = folded(&text, Some(12));
        let plain = anstream::adapter::strip_str(&shown).to_string();
        assert_eq!(plain, "short\nthree longer\nwords\n{\"a\": 1, \"b\": 2}");
        assert_eq!(folded(&text, None), text);
    }

    #[test]
    fn error_numbers_are_left_out() {
        assert_eq!(without_codes("a: missing (os error 2); b (os error 13)"), "a: missing; b");
        assert_eq!(without_codes("none"), "none");
    }
}
