//! Splits an asker's reply at its section tags, for display.

use aske_session::Section;
use serde::Serialize;

/// Bytes from a tag's first `#` to its last at most; tags have a few spaces and emphasis marks inside.
const MAX_TAG: usize = 40;

/// A part of a reply.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Part<'t> {
    /// Its section; `None` before the first tag.
    pub(crate) section: Option<Section>,
    #[serde(skip)]
    pub(crate) text: &'t str,
}

/// The parts of a reply in order; a reply without tags is one part. Takes linear time.
pub(crate) fn sections(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut section, mut begin) = (None, 0);
    for (at, _) in text.match_indices('#') {
        if at < begin {
            continue;
        }
        if let Some((found, length)) = tag_at(&text[at..]) {
            // Headings and emphasis in front of a tag belong to it.
            push(&mut parts, section, text[begin..at].trim_end_matches(['#', '*', '_', '`', ' ']));
            (section, begin) = (Some(found), at + length);
        }
    }
    push(&mut parts, section, &text[begin..]);
    parts
}

/// The tag at the start of a text and its length, the emphasis and the colon behind it included.
fn tag_at(text: &str) -> Option<(Section, usize)> {
    let window = &text[..text.floor_char_boundary(MAX_TAG)];
    // Between the two `#` of a tag there is no other.
    let end = 2 + window[1..].find('#')?;
    let section = Section::ALL.into_iter().find(|section| section.is_in(&window[..end]))?;
    let behind = &text[end..];
    Some((section, end + behind.len() - behind.trim_start_matches(['#', '*', '_', '`', ':']).len()))
}

fn push<'t>(parts: &mut Vec<Part<'t>>, section: Option<Section>, text: &'t str) {
    let text = text.trim();
    if section.is_some() || !text.is_empty() {
        parts.push(Part { section, text });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn parts(text: &str) -> Vec<(Option<Section>, &str)> {
        sections(text).into_iter().map(|part| (part.section, part.text)).collect()
    }

    #[test]
    fn a_reply_is_split_at_its_tags() {
        let (reasoning, draft, question) =
            (Some(Section::Reasoning), Some(Section::Draft), Some(Section::Question));
        assert_eq!(
            parts("Hi.\n**#Reasoning#**\nr # 2\n\n### Draft ###\nd\n#question#: What is $1$?"),
            [(None, "Hi."), (reasoning, "r # 2"), (draft, "d"), (question, "What is $1$?")]
        );
        assert_eq!(parts("#Question# a #Question# b"), [(question, "a"), (question, "b")]);
        assert_eq!(parts("no tag # Questions #"), [(None, "no tag # Questions #")]);
        assert_eq!(parts("#Draft# **d**\n#Question# **q**"), [(draft, "**d**"), (question, "**q**")]);
        assert_eq!(parts("#Draft#"), [(draft, "")]);
        assert!(parts("").is_empty());
        assert_eq!(parts("é#é#Draft#é"), [(None, "é#é"), (draft, "é")]);
    }

    #[test]
    fn a_megabyte_of_marks_takes_linear_time() {
        let begun = Instant::now();
        sections(&"# *#".repeat(1 << 18));
        sections(&"#Draft".repeat(1 << 17));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}
