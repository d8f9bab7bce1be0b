//! Separates thinking from the visible reply. Thinking is recorded, never parsed for tags and never forwarded.

use aske_answer::last_boxed;
use std::borrow::Cow;

/// A reply split into visible text and thinking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SplitReply<'r> {
    /// The visible text.
    pub visible: Cow<'r, str>,
    /// The text between `<think>` and `</think>`, if any.
    pub thinking: Option<String>,
}

impl SplitReply<'_> {
    /// The last boxed answer of the visible reply; of the thinking only when the visible reply has no box.
    pub fn boxed(&self) -> Option<&str> {
        last_boxed(&self.visible).or_else(|| last_boxed(self.thinking.as_deref()?))
    }
}

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Splits a reply: `<think>…</think>` anywhere, a leading part that only closes, and a part that never
/// closes because the reply was cut.
pub fn split_thinking(content: &str) -> SplitReply<'_> {
    if find(content, OPEN).is_none() && find(content, CLOSE).is_none() {
        return SplitReply { visible: Cow::Borrowed(content.trim()), thinking: None };
    }
    let (mut visible, mut thinking) = (String::new(), String::new());
    let mut rest = content;
    // A chat template may already have opened the thinking: then the first tag is its end.
    let mut inside = match (find(rest, OPEN), find(rest, CLOSE)) {
        (Some(open), Some(close)) => close < open,
        (open, _) => open.is_none(),
    };
    loop {
        let (mark, sink) = if inside { (CLOSE, &mut thinking) } else { (OPEN, &mut visible) };
        if let Some(at) = find(rest, mark) {
            sink.push_str(&rest[..at]);
            rest = &rest[at + mark.len()..];
            inside = !inside;
        } else {
            sink.push_str(rest);
            break;
        }
    }
    // After a second end tag in a row, only the text behind it is visible.
    if let Some(at) = rfind(&visible, CLOSE) {
        thinking.push_str(&visible[..at]);
        visible.drain(..at + CLOSE.len());
    }
    SplitReply { visible: Cow::Owned(visible.trim().to_owned()), thinking: Some(thinking.trim().to_owned()) }
}

fn find(text: &str, mark: &str) -> Option<usize> {
    marks(text, mark).next()
}

fn rfind(text: &str, mark: &str) -> Option<usize> {
    marks(text, mark).last()
}

fn marks<'t>(text: &'t str, mark: &'t str) -> impl Iterator<Item = usize> + 't {
    let same = move |at: &usize| {
        text.as_bytes()
            .get(*at..*at + mark.len())
            .is_some_and(|found| found.eq_ignore_ascii_case(mark.as_bytes()))
    };
    text.match_indices('<').map(|(at, _)| at).filter(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(content: &str) -> (String, Option<String>) {
        let parts = split_thinking(content);
        (parts.visible.into_owned(), parts.thinking)
    }

    #[test]
    fn an_answer_in_thinking_counts_only_without_a_visible_box() {
        assert_eq!(split_thinking(r"<think>\boxed{1}</think>so \boxed{2}").boxed(), Some("2"));
        assert_eq!(split_thinking(r"<think>\boxed{1}</think>so 2").boxed(), Some("1"));
        assert_eq!(split_thinking("so 2").boxed(), None);
    }

    #[test]
    fn thinking_is_kept_apart_however_it_is_marked() {
        let some = |s: &str| Some(s.to_owned());
        assert_eq!(parts("hello"), ("hello".into(), None));
        assert_eq!(parts("<think>a</think>b"), ("b".into(), some("a")));
        assert_eq!(parts("a</think>b"), ("b".into(), some("a")));
        assert_eq!(parts("x <think>a, cut"), ("x".into(), some("a, cut")));
        assert_eq!(parts("<think>cut"), (String::new(), some("cut")));
        assert_eq!(parts("<THINK>a</Think>b<think>c</think>d"), ("bd".into(), some("ac")));
        assert_eq!(parts("a</think><think>b</think>c"), ("c".into(), some("ab")));
        assert_eq!(parts("<think>a</think>b</think>c").0, "c");
    }
}
