//! The layout of help texts: commands by purpose, and text below the options that is wrapped once.

use crate::output::{width, wrapped};
use clap::Command;
use std::fmt::Write as _;

/// The most columns that help uses.
const WIDTH: usize = 100;
/// Descriptions of examples begin here at the latest.
const LAST_COLUMN: usize = 50;
/// A line that is indented by at least this much continues the description of an example.
const CONTINUED: usize = 8;

/// Every command once, by purpose.
pub(super) const GROUPS: [(&str, &[&str]); 5] = [
    ("Measure and train", &["bench", "ask", "eval", "train"]),
    ("Look at runs", &["report", "view", "export"]),
    ("Examine a result", &["audit", "regrade", "baseline", "difficulty"]),
    ("Manage run folders", &["import", "merge", "repair"]),
    (
        "Set up and serve models",
        &[
            "init",
            "models",
            "serve",
            "fleet",
            "convert",
            "config",
            "prompts",
            "nano",
            "verify",
            "completions",
        ],
    ),
];

const FIRST_STEPS: &str = "First steps:
  aske bench                                    benchmark the built-in nano models: no key, no network
  aske view                                     read the sessions in the browser
  aske bench --asker http://localhost:8000/v1#MODEL
                                                benchmark your own model in the same world";

const ENDING: &str = "`aske COMMAND --help` shows the flags of a command, with examples.

Exit status: 0 done, 1 finished with failures, 2 usage or configuration, 3 budget reached, 130 interrupted.";

/// The command line with its help texts laid out for the terminal.
pub(crate) fn laid_out(command: Command) -> Command {
    let width = width().min(WIDTH);
    let overview = overview(&command, width);
    with_examples(command, width).term_width(width).override_help(overview)
}

fn with_examples(mut command: Command, width: usize) -> Command {
    if let Some(text) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(layout(&text, width));
    }
    // So that a negative number is reported as a wrong value, not as an unknown flag.
    command = command.mut_args(|arg| {
        let takes_value = arg.get_action().takes_values();
        if takes_value { arg.allow_negative_numbers(true) } else { arg }
    });
    let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, |sub| with_examples(sub, width)))
}

/// The help of the program: what it is, first steps, and its commands by purpose.
fn overview(command: &Command, width: usize) -> String {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let mut text = format!(
        "{}\n\nUsage: aske COMMAND [OPTIONS]\n\n{}\n",
        layout(&about, width),
        layout(FIRST_STEPS, width)
    );
    for (purpose, names) in GROUPS {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{purpose}:");
        for name in names {
            let Some(sub) = command.find_subcommand(name) else { continue };
            let about = sub.get_about().map(ToString::to_string).unwrap_or_default();
            let mut lines = wrapped(&about, width.saturating_sub(15)).into_iter();
            let _ = writeln!(text, "  {name:11}  {}", lines.next().unwrap_or_default());
            lines.for_each(|line| {
                let _ = writeln!(text, "{:15}{line}", "");
            });
        }
    }
    let _ = write!(text, "\n{}", layout(ENDING, width));
    text
}

/// Lays out paragraphs, and examples with their descriptions beside or below them.
fn layout(text: &str, width: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut paragraph = String::new();
    let mut examples: Vec<(String, String)> = Vec::new();
    let end = |paragraph: &mut String, examples: &mut Vec<(String, String)>, lines: &mut Vec<String>| {
        lines.extend(wrapped(&std::mem::take(paragraph), width));
        lines.extend(beside(&std::mem::take(examples), width));
    };
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let words = line.trim();
        match (indent, examples.last_mut()) {
            _ if words.is_empty() => {
                end(&mut paragraph, &mut examples, &mut lines);
                lines.push(String::new());
            }
            (0, _) => {
                if !examples.is_empty() {
                    end(&mut paragraph, &mut examples, &mut lines);
                    lines.push(String::new());
                }
                paragraph =
                    if paragraph.is_empty() { words.to_owned() } else { format!("{paragraph} {words}") };
            }
            (CONTINUED.., Some((_, description))) => {
                if !description.is_empty() {
                    description.push(' ');
                }
                description.push_str(words);
            }
            _ => {
                if !paragraph.is_empty() {
                    end(&mut paragraph, &mut examples, &mut lines);
                }
                let (command, description) = words.split_once("  ").unwrap_or((words, ""));
                examples.push((format!("{:indent$}{command}", ""), description.trim().to_owned()));
            }
        }
    }
    end(&mut paragraph, &mut examples, &mut lines);
    lines.join("\n")
}

/// Examples with their descriptions in a second column, or below them if one of them would not fit.
fn beside(examples: &[(String, String)], width: usize) -> Vec<String> {
    let length = |text: &str| text.chars().count();
    let described = || examples.iter().filter(|(_, description)| !description.is_empty());
    let column = described().map(|(command, _)| length(command) + 3).filter(|column| *column <= LAST_COLUMN);
    let column = column.max().unwrap_or_default();
    let fits = |(command, description): &(String, String)| {
        length(command) + 3 > column || column + length(description) <= width
    };
    let two_columns = described().all(fits);
    let mut lines = Vec::new();
    for (command, description) in examples {
        if two_columns && length(command) + 3 <= column {
            lines.push(format!("{command:column$}{description}").trim_end().to_owned());
            continue;
        }
        lines.extend(command_lines(command, width));
        let indent = if two_columns { column } else { 6 };
        lines.extend(
            wrapped(description, width.saturating_sub(indent))
                .into_iter()
                .map(|line| format!("{:indent$}{line}", "")),
        );
    }
    lines
}

/// A command in lines that a shell joins again.
fn command_lines(command: &str, width: usize) -> Vec<String> {
    let indent = command.len() - command.trim_start().len();
    let mut lines = vec![" ".repeat(indent)];
    for word in command.split_whitespace() {
        let line = lines.last().map_or("", String::as_str);
        let begins = line.trim().is_empty();
        // Two columns are left for the backslash.
        if !begins && line.chars().count() + word.chars().count() + 3 > width && !command.contains('\'') {
            if let Some(line) = lines.last_mut() {
                line.push_str(" \\");
            }
            lines.push(" ".repeat(indent + 4));
        }
        if let Some(line) = lines.last_mut() {
            if !line.trim().is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    #[test]
    fn every_command_has_a_purpose() {
        let command = Arguments::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let count = grouped.len();
        grouped.sort_unstable();
        grouped.dedup();
        assert_eq!(grouped.len(), count, "a command has two purposes");
        let missing: Vec<&str> =
            command.get_subcommands().map(Command::get_name).filter(|name| !grouped.contains(name)).collect();
        assert!(missing.is_empty(), "add these to a group: {missing:?}");
    }

    #[test]
    fn help_fits_and_is_wrapped_once() {
        fn all(command: &Command, see: &mut impl FnMut(&Command)) {
            see(command);
            command.get_subcommands().for_each(|sub| all(sub, see));
        }
        let check = |text: &str, width: usize| {
            for line in text.lines() {
                // A word cannot be broken.
                let fits = line.chars().count() <= width
                    || line.split_whitespace().count() <= 2
                    || line.contains('\'');
                assert!(fits, "wider than {width}: {line}");
            }
        };
        for width in [60, 80, 100] {
            let command = Arguments::command();
            check(&overview(&command, width), width);
            all(&with_examples(command, width), &mut |command| {
                let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
                check(&text, width);
            });
        }
    }

    #[test]
    fn examples_are_beside_or_above_their_descriptions() {
        let text = "One\ntwo.\n\nExamples:\n  aske a      first\n  aske b --long x\n              second";
        assert_eq!(
            layout(text, 80),
            "One two.\n\nExamples:\n  aske a            first\n  aske b --long x   second"
        );
        assert_eq!(
            layout(text, 24),
            "One two.\n\nExamples:\n  aske a\n      first\n  aske b --long x\n      second"
        );
    }
}
