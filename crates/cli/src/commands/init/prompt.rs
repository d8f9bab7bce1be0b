//! Questions to the user on a terminal.

use crate::error::CliError;
use crate::output::{note, print_stderr, safe_line};
use std::io::{BufRead, IsTerminal};

/// Rows of a list that are shown.
const SHOWN: usize = 40;

/// Whether someone can answer.
pub(crate) fn is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// One of these names, by its number or its name.
pub(crate) fn choose(what: &str, names: &[String]) -> Result<String, CliError> {
    show(names);
    loop {
        match pick(names, &read(what)?) {
            Some(name) => return Ok(name.clone()),
            None => note("write the number or the name"),
        }
    }
}

/// One of these names, which are shown in rows, or another text.
pub(crate) fn choose_or_write(what: &str, names: &[String], rows: &[String]) -> Result<String, CliError> {
    show(rows);
    loop {
        let written = read(what)?;
        match pick(names, &written) {
            Some(name) => return Ok(name.clone()),
            None if written.is_empty() || written.parse::<usize>().is_ok() => {
                note("write the number, the name or an address");
            }
            None => return Ok(written),
        }
    }
}

/// Several of these names, or none.
pub(crate) fn choose_some(what: &str, names: &[String]) -> Result<Vec<String>, CliError> {
    loop {
        let written = read(what)?;
        let words = written.split(',').map(str::trim).filter(|word| !word.is_empty());
        let chosen: Option<Vec<String>> = words.map(|word| pick(names, word).cloned()).collect();
        match chosen {
            Some(chosen) if chosen.len() != 1 => return Ok(chosen),
            _ => note("write at least two numbers or names, separated by commas, or nothing"),
        }
    }
}

/// Whether the user agrees; no if there is no terminal.
pub(crate) fn confirm(question: &str) -> Result<bool, CliError> {
    Ok(is_there() && matches!(read(&format!("{question} [y/N]"))?.as_str(), "y" | "Y" | "yes"))
}

fn show(rows: &[String]) {
    for (number, row) in (1..).zip(rows.iter().take(SHOWN)) {
        note(format_args!("{number:>4}  {}", safe_line(row).trim_end()));
    }
    if rows.len() > SHOWN {
        note(format_args!("      and {} more, by name", rows.len() - SHOWN));
    }
}

/// The name that was written, or whose number was.
fn pick<'n>(names: &'n [String], written: &str) -> Option<&'n String> {
    let by_number = || names.get(written.parse::<usize>().ok()?.checked_sub(1)?);
    names.iter().find(|name| *name == written).or_else(by_number)
}

/// A line from standard input.
fn read(what: &str) -> Result<String, CliError> {
    print_stderr(format_args!("{what}: "));
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => Err(CliError::interrupted()),
        Ok(_) => Ok(line.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_picked_by_its_number_or_itself() {
        let names = ["a".to_owned(), "b".to_owned(), "1".to_owned()];
        let picked = |written: &str| pick(&names, written).map(String::as_str);
        assert_eq!((picked("2"), picked("b"), picked("1")), (Some("b"), Some("b"), Some("1")));
        assert_eq!((picked("0"), picked("4"), picked("-1"), picked("")), (None, None, None, None));
    }
}
