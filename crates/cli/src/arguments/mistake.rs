//! Mistakes in arguments, in plain words.

use crate::error::Exit;
use crate::output::{hint, print_stderr};
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// What the parsers of the standard library report, and what is printed instead.
const PLAIN: [(&str, &str); 6] = [
    ("invalid digit found in string", "expected a whole number of 0 or more"),
    ("invalid float literal", "expected a number"),
    ("cannot parse integer from empty string", "expected a whole number of 0 or more"),
    ("cannot parse float from empty string", "expected a number"),
    ("number too large to fit in target type", "the number is too large"),
    ("number too small to fit in target type", "the number is too small"),
];

/// Prints a mistake, or the help that was asked for, and ends the program.
pub(super) fn explain(error: &clap::Error) -> ! {
    if !error.use_stderr() {
        error.exit();
    }
    let text = error.render().ansi().to_string();
    let text = PLAIN.iter().fold(text, |text, (said, plain)| text.replace(said, plain));
    let text = text.lines().map(range).collect::<Vec<_>>().join("\n") + "\n";
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) if error.kind() == ErrorKind::UnknownArgument => flag.as_str(),
        _ => "",
    };
    // The parser suggests to pass an unknown flag as a value.
    let kept = text.split("\n\n").filter(|part| !part.contains("as a value, use '-- --"));
    let text = kept.collect::<Vec<_>>().join("\n\n");
    print_stderr(text.trim_end().to_owned() + "\n");
    if unknown == "--run" {
        hint("this command takes run folders without a flag, such as `aske report runs/mine`");
    }
    std::process::exit(Exit::Usage.status().into())
}

/// `9 is not in 1..=5` as `9 is more than 5`.
fn range(line: &str) -> String {
    let plain = || {
        let (before, range) = line.split_once(" is not in ")?;
        let (low, high) = range.split_once("..=").or_else(|| range.split_once(".."))?;
        let value: i128 = before.rsplit(' ').next()?.parse().ok()?;
        Some(match low.parse::<i128>() {
            Ok(least) if value < least => format!("{before} is less than {low}"),
            _ => format!("{before} is more than {high}"),
        })
    };
    plain().unwrap_or_else(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::range;

    #[test]
    fn a_range_is_spelt_out() {
        assert_eq!(
            range("'--port <N>': 99999 is not in 0..=65535"),
            "'--port <N>': 99999 is more than 65535"
        );
        assert_eq!(range("'--from <PHASE>': 0 is not in 1.."), "'--from <PHASE>': 0 is less than 1");
        assert_eq!(range("error: other"), "error: other");
    }
}
