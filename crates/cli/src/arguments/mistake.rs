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
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) if error.kind() == ErrorKind::UnknownArgument => flag.as_str(),
        _ => "",
    };
    // The tip of the parser is to pass the flag as a value.
    let text = if unknown == "--run" {
        let kept = text.split("\n\n").filter(|part| !part.contains("-- --run"));
        kept.collect::<Vec<_>>().join("\n\n")
    } else {
        text
    };
    print_stderr(text);
    if unknown == "--run" {
        hint("this command takes run folders without a flag, such as `aske report runs/mine`");
    }
    std::process::exit(Exit::Usage.status().into())
}
