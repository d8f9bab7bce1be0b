//! Replacements in one pass from left to right.

use std::borrow::Cow;

const LEFT: &[&str] = &[
    r"\{",
    "{",
    r"\|",
    "|",
    "[",
    "(",
    r"\rbracl",
    r"\lgroup",
    r"\lbrace",
    r"\lbrack",
    r"\vert",
    r"\lvert",
    r"\lceil",
    r"\lfloor",
    r"\langle",
    r"\llcorner",
    r"\ulcorner",
];
const RIGHT: &[&str] = &[
    r"\}",
    "}",
    r"\|",
    "|",
    "]",
    ")",
    r"\rbrack",
    r"\rgroup",
    r"\rbrace",
    r"\vert",
    r"\rvert",
    r"\rceil",
    r"\rfloor",
    r"\rangle",
    r"\lrcorner",
    r"\urcorner",
];

/// Removes `\left` and `\right` directly before a bracket.
pub(super) fn without_left_right(text: String) -> String {
    let text = drop_before(text, "left", LEFT);
    drop_before(text, "right", RIGHT)
}

fn drop_before(text: String, word: &str, brackets: &[&str]) -> String {
    if !text.contains(word) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\\') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let after = from[1..].strip_prefix('m').unwrap_or(&from[1..]).strip_prefix(word);
        match after {
            Some(after) if let Some(bracket) = brackets.iter().find(|b| after.starts_with(**b)) => {
                // The bracket is copied, so that it is not matched again.
                out.push_str(bracket);
                rest = &after[bracket.len()..];
            }
            _ => {
                out.push('\\');
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// Removes dollar signs, quotes, `\!`, empty `\text{}` and `\displaystyle`.
pub(super) fn removed(text: &str) -> Cow<'_, str> {
    let plain = !text.contains(['$', '"', '\''])
        && [r"\mathrm{th}", r"\!", r"\text", r"\displaystyle"].iter().all(|command| !text.contains(command));
    if plain {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let after_backslash = text[..at].ends_with('\\');
        let length = match c {
            '\\' => removed_command(rest),
            '$' => Some(1),
            '"' | '\'' if !after_backslash => Some(1),
            _ => None,
        };
        if let Some(length) = length {
            at += length;
        } else {
            out.push(c);
            at += c.len_utf8();
        }
    }
    Cow::Owned(out)
}

fn removed_command(rest: &str) -> Option<usize> {
    let spaces = |text: &str| text.len() - text.trim_start().len();
    if rest.starts_with(r"\mathrm{th}") {
        return Some(11);
    }
    if let Some(after) = rest.strip_prefix(r"\!") {
        return Some(2 + spaces(after));
    }
    if let Some(after) = rest.strip_prefix(r"\text")
        && let Some(inside) = after.trim_start().strip_prefix('{')
        && let Some(end) = inside.trim_start().strip_prefix('}')
    {
        return Some(rest.len() - end.len());
    }
    if rest.starts_with(r"\$") {
        return Some(2);
    }
    rest.starts_with(r"\displaystyle").then_some(13)
}

/// Replaces commands and words by their canonical form.
pub(super) fn replaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut at = 0;
    // The end of the current run of white space, so that a long run is scanned once.
    let mut run_end = 0;
    while let Some(c) = text[at..].chars().next() {
        if !matches!(c, '\\' | '{' | '~' | ',' | 'a' | 'o' | 'i' | 'p') && !c.is_whitespace() {
            out.push(c);
            at += c.len_utf8();
            continue;
        }
        if run_end < at {
            run_end = at;
        }
        if run_end == at {
            run_end = at + (text.len() - at - text[at..].trim_start().len());
        }
        if let Some((length, new)) = replacement(text, at, run_end) {
            out.push_str(new);
            at += length;
        } else {
            out.push(c);
            at += c.len_utf8();
        }
    }
    out
}

/// The first rule that matches at a position: the length of what it replaces, and the replacement. `word` is where the
/// white space ends.
fn replacement(text: &str, at: usize, word: usize) -> Option<(usize, &'static str)> {
    let rest = &text[at..];
    let before = text[..at].chars().next_back();
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic());
    for (command, new) in [
        (r"\mathrm", r"\text"),
        (r"\mathit", r"\text"),
        (r"\mathbf", r"\text"),
        (r"\textnormal", r"\text"),
        (r"\textbf", r"\text"),
        (r"\textit", r"\text"),
        (r"\textrm", r"\text"),
        (r"\dfrac", r"\frac"),
        (r"\tfrac", r"\frac"),
        (r"\cfrac", r"\frac"),
    ] {
        if rest.starts_with(command) {
            return Some((command.len(), new));
        }
    }
    let first = rest.chars().next()?;
    if first.is_whitespace() && rest[first.len_utf8()..].starts_with('.') {
        return Some((first.len_utf8() + 1, " 0."));
    }
    if rest.starts_with("{.") {
        return Some((2, "{0."));
    }
    if rest.starts_with("~=") {
        return Some((2, r"\approx"));
    }
    let after_spaces = &text[word..];
    if let Some(inside) = after_spaces.strip_prefix('{')
        && let Some(inside) = inside.trim_start().strip_prefix(',')
        && let Some(end) = inside.trim_start().strip_prefix('}')
    {
        return Some((rest.len() - end.len(), ","));
    }
    // A comma and white space may stand before "and" and "or".
    let joined = if first == ',' { rest[1..].trim_start() } else { after_spaces };
    let bare = after_conjunction(joined).filter(|end| !letter(before) && !letter(end.chars().next()));
    let in_braces = joined
        .strip_prefix(r"\text{")
        .and_then(|inside| after_conjunction(inside.trim_start())?.trim_start().strip_prefix('}'));
    if let Some(end) = bare.or(in_braces) {
        return Some((rest.len() - end.len(), ","));
    }
    if first == '\\'
        && before != Some('\\')
        && let Some(space) = rest[1..].chars().next().filter(|c| c.is_whitespace())
    {
        return Some((1 + space.len_utf8(), " "));
    }
    if rest.starts_with("infinity") {
        return Some((8, r"\infty"));
    }
    if rest.strip_prefix(',').unwrap_or(rest).starts_with(r"\ldots") {
        return Some((if first == ',' { 7 } else { 6 }, " "));
    }
    if let Some(found) = percent(text, at, word) {
        return Some(found);
    }
    if rest.starts_with("inf") && before != Some('\\') && !rest.starts_with("infinity") {
        return Some((3, r"\infty"));
    }
    rest.starts_with(" sqrt").then_some((5, r"\sqrt"))
}

fn after_conjunction(text: &str) -> Option<&str> {
    text.strip_prefix("and").or_else(|| text.strip_prefix("or"))
}

fn percent(text: &str, at: usize, word: usize) -> Option<(usize, &'static str)> {
    let part_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    for name in ["percentage", "percent", "pct"] {
        if let Some(end) = text[word..].strip_prefix(name)
            && !part_of_word(text[..word].chars().next_back())
            && !part_of_word(end.chars().next())
        {
            return Some((text.len() - at - end.len(), r"\%"));
        }
        if let Some(end) = text[at..]
            .strip_prefix(r"\text{")
            .and_then(|inside| inside.strip_prefix(name))
            .and_then(|end| end.strip_prefix('}'))
        {
            return Some((text.len() - at - end.len(), "%"));
        }
    }
    None
}

/// Replaces `\\` before a letter by `\`.
pub(super) fn single_backslashes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(r"\\") {
        out.push_str(&rest[..at]);
        let after = &rest[at + 2..];
        if after.starts_with(|c: char| c.is_ascii_alphabetic()) {
            out.push('\\');
            rest = after;
        } else {
            // The second backslash may begin a pair of its own.
            out.push('\\');
            rest = &rest[at + 1..];
        }
    }
    out.push_str(rest);
    out
}
