//! Summarises a solver's reply for the asker.

use crate::tags;
use crate::thinking::SplitReply;
use aske_answer::boxes;

/// What follows the last `#Summary#` or `#Output#`, cut to `limit` characters, the boxed answer always
/// preserved: it is put in front if it is outside or above the tag. Without a tag only the boxed
/// answer; with neither, `None`.
pub(crate) fn summarise(parts: &SplitReply<'_>, limit: usize) -> Option<String> {
    let visible = parts.visible.as_ref();
    let boxed = parts.boxed().map(|answer| format!("\\boxed{{{}}}", first_chars(answer, limit)));
    let Some((start, body)) = tags::after_last(visible, &["summary", "output"]) else { return boxed };
    let shown = first_chars(body, limit);
    let window = start..start + shown.len();
    let kept = boxes(visible).last().is_some_and(|at| window.start < at.start && at.end < window.end);
    match boxed {
        Some(boxed) if !kept => Some(format!("{boxed}\n{shown}").trim_end().to_owned()),
        None if shown.is_empty() => None,
        _ => Some(shown.trim_end().to_owned()),
    }
}

fn first_chars(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split_thinking;

    fn summary(reply: &str) -> Option<String> {
        summarise(&split_thinking(reply), 2000)
    }

    #[test]
    fn what_follows_the_last_summary_or_output_tag_is_shown() {
        assert_eq!(
            summary("work #Summary# no #Summary#\n\\boxed{3}\nAdded."),
            Some("\\boxed{3}\nAdded.".into())
        );
        assert_eq!(summary("work\n#Output#\n\\boxed{3}"), Some("\\boxed{3}".into()));
        assert_eq!(summary("#Summary#\n\\boxed{3} first"), Some("\\boxed{3} first".into()));
    }

    #[test]
    fn a_box_above_the_tag_is_put_in_front() {
        assert_eq!(summary("So \\boxed{7}.\n#Summary#\nI added."), Some("\\boxed{7}\nI added.".into()));
        assert_eq!(summary("So \\boxed{7}.\n#Summary#"), Some("\\boxed{7}".into()));
    }

    #[test]
    fn a_box_outside_the_window_is_put_in_front() {
        let reply = format!("#Summary#\n{} \\boxed{{9}}", "é".repeat(2500));
        let shown = summary(&reply).unwrap();
        assert!(shown.starts_with("\\boxed{9}\né"));
        assert_eq!(shown.chars().filter(|c| *c == 'é').count(), 2000);
        // cut through the middle of the box
        let reply = format!("#Summary#\n{}\\boxed{{12345}}", "x".repeat(1995));
        assert!(summary(&reply).unwrap().starts_with("\\boxed{12345}\nx"));
    }

    #[test]
    fn without_a_tag_only_the_box_is_shown_and_with_neither_nothing() {
        assert_eq!(summary("long work \\boxed{5} done"), Some("\\boxed{5}".into()));
        assert_eq!(summary("no idea"), None);
        assert_eq!(summary("#Summary#  "), None);
        assert_eq!(summary("#Summary# I gave up"), Some("I gave up".into()));
    }

    #[test]
    fn thinking_gives_no_summary_but_may_hold_the_answer() {
        assert_eq!(summary("<think>#Summary# secret \\boxed{4}</think>"), Some("\\boxed{4}".into()));
        assert_eq!(summary("<think>\\boxed{4}</think>\\boxed{5}"), Some("\\boxed{5}".into()));
    }

    #[test]
    fn a_hostile_box_is_bounded() {
        let reply = format!("\\boxed{{{}}}", "9".repeat(100_000));
        assert!(summary(&reply).unwrap().len() < 2100);
    }
}
