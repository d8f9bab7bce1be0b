//! Commands that a user can copy into a POSIX shell.

/// A command line of these words, each quoted where the shell would split or expand it.
pub(crate) fn command<S: AsRef<str>>(words: impl IntoIterator<Item = S>) -> String {
    words.into_iter().map(|word| quote(word.as_ref())).collect::<Vec<_>>().join(" ")
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
}
