//! Section tags such as `#Question#`, found with tolerance for case, spaces and markdown emphasis.

use std::ops::Range;

const EMPHASIS: [char; 3] = ['*', '_', '`'];

/// Whether the tag `#name#` stands anywhere in the text.
pub(crate) fn has(text: &str, name: &str) -> bool {
    last(text, &[name]).is_some()
}

/// What follows the last of these tags, without the emphasis that was around the tag; and where it begins.
pub(crate) fn after_last<'t>(text: &'t str, names: &[&str]) -> Option<(usize, &'t str)> {
    let tag = last(text, names)?;
    let before = &text[..tag.start];
    // Alone on its line, spaces and heading marks may stand between the emphasis and the tag.
    let line = &before[before.rfind('\n').map_or(0, |at| at + 1)..];
    let alone = line.chars().all(|c| EMPHASIS.contains(&c) || matches!(c, '#' | ' ' | '\t'));
    let inner = if alone { before.trim_end_matches(['#', ' ', '\t']) } else { before };
    let opened = &inner[inner.trim_end_matches(EMPHASIS).len()..];
    let body = text[tag.end..].trim_start_matches(['#', ' ', '\t']);
    let body = body.strip_prefix(':').unwrap_or(body);
    let body = close_emphasis(body, opened);
    let body = body.strip_prefix(':').unwrap_or(body).trim();
    let start = body.as_ptr() as usize - text.as_ptr() as usize;
    Some((start, body))
}

/// Drops the end of an emphasis that opened in front of the tag: right behind the tag, or at the very end.
fn close_emphasis<'t>(body: &'t str, opened: &str) -> &'t str {
    if opened.is_empty() {
        return body;
    }
    if let Some(rest) = body.strip_prefix(opened) {
        return rest;
    }
    match body.trim_end().strip_suffix(opened) {
        Some(rest) if rest.matches(opened).count() % 2 == 0 => rest,
        _ => body,
    }
}

/// The byte range of the last tag with one of these names, from its first `#` to its last.
fn last(text: &str, names: &[&str]) -> Option<Range<usize>> {
    text.rmatch_indices('#').find_map(|(at, _)| {
        let inside = text[at + 1..].trim_start_matches([' ', '\t', '*', '_', '`']);
        let name = names
            .iter()
            .find(|name| inside.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)))?;
        let behind = inside[name.len()..].trim_start_matches([' ', '\t', '*', '_', '`', ':']);
        behind.starts_with('#').then(|| at..text.len() - behind.len() + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(text: &str) -> Option<&str> {
        after_last(text, &["question"]).map(|(_, body)| body)
    }

    #[test]
    fn tags_tolerate_case_spaces_and_emphasis() {
        for tag in [
            "#Question#",
            "#question#",
            "# QUESTION #",
            "**#Question#**",
            "**# Question #**:",
            "__#Question#__",
            "`#Question#`",
            "#Question#:",
            "#**Question**#",
            "### Question ###",
            "## #Question#",
        ] {
            assert_eq!(question(&format!("x\n{tag}\nWhat is 1+1?")), Some("What is 1+1?"), "{tag}");
        }
        assert_eq!(question("**#Question#: What is *x*?**"), Some("What is *x*?"));
        assert_eq!(question("**#Question#** **bold** start"), Some("**bold** start"));
        for not_a_tag in ["Question:", "#Question", "# Questions #", "#Que stion#"] {
            assert_eq!(question(&format!("x\n{not_a_tag}\nWhat?")), None, "{not_a_tag}");
        }
    }

    #[test]
    fn the_last_tag_counts() {
        assert_eq!(question("I use #Question# below.\n#Question#\nB"), Some("B"));
        assert_eq!(after_last("#Summary# a #Output# b", &["summary", "output"]), Some((21, "b")));
    }

    #[test]
    fn text_of_any_alphabet_is_safe() {
        assert_eq!(question("#é# #Quest\u{e9}ion#"), None);
        assert_eq!(question("#"), None);
    }
}
