//! Commands that a user can copy into a POSIX shell.

use crate::arguments::shown_override;
use std::sync::OnceLock;

/// A command line of these words, each quoted where the shell would split or expand it.
pub(crate) fn command<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    words.into_iter().map(|word| quote(word.as_ref())).collect::<Vec<_>>().join(" ")
}

/// The command that is run instead of the one of this process.
static INSTEAD: OnceLock<String> = OnceLock::new();

/// Says that this command is run from here on.
pub(crate) fn set_this_command(command: &str) {
    // Set once at most.
    let _ = INSTEAD.set(command.to_owned());
}

/// The command line of this process, without keys that were typed into it.
pub(crate) fn this_command() -> String {
    if let Some(command) = INSTEAD.get() {
        return command.clone();
    }
    command(std::iter::once("aske".to_owned()).chain(shown(std::env::args().skip(1))))
}

/// The same with another value of a flag.
pub(crate) fn this_command_with(flag: &str, value: &str) -> String {
    let words = with_flag(shown(std::env::args().skip(1)), flag, value);
    command(std::iter::once("aske".to_owned()).chain(words))
}

/// Arguments without keys: those of `--override KEY=VALUE`.
fn shown(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut is_override = false;
    let show = |word: String| {
        let value = std::mem::replace(&mut is_override, word == "-o" || word == "--override");
        let joined = word
            .strip_prefix("--override=")
            .or_else(|| word.strip_prefix("-o").filter(|rest| !rest.is_empty()));
        match joined {
            Some(joined) => format!("--override={}", shown_override(joined)),
            None if value => shown_override(&word),
            None => word,
        }
    };
    words.map(show).collect()
}

/// Arguments with this value of a flag instead of any they have.
fn with_flag(words: Vec<String>, flag: &str, value: &str) -> Vec<String> {
    let mut words = words.into_iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word == flag {
            words.next();
        } else if word.strip_prefix(flag).is_none_or(|rest| !rest.starts_with('=')) {
            kept.push(word);
        }
    }
    kept.extend([flag.to_owned(), value.to_owned()]);
    kept
}

fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_special_characters_are_quoted() {
        assert_eq!(
            command(["aske", "bench", "--config", "my set.toml"]),
            "aske bench --config 'my set.toml'"
        );
        assert_eq!(command(["-o", "a=it's", ""]), r"-o 'a=it'\''s' ''");
    }

    #[test]
    fn a_command_is_repeated_without_keys_and_with_another_value() {
        let line = "train --steps=3 -o models.a.api_key_env=hunter2 --override=models.a.api_key_env=hunter2 --steps 4 x";
        let words = shown(line.split(' ').map(str::to_owned));
        assert!(!words.iter().any(|word| word.contains("hunter2")), "{words:?}");
        let words = with_flag(words, "--steps", "8").join(" ");
        assert!(
            words.starts_with("train -o models.a.api_key_env=") && words.ends_with(" x --steps 8"),
            "{words}"
        );
    }
}
