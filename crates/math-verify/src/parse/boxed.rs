//! The contents of `\boxed{…}` and `\fbox{…}` in a text, from the last one back.

use std::borrow::Cow;

/// Which boxes count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boxes {
    /// All of them, joined by commas.
    All,
    /// The last one, and those that are joined to it.
    Last,
    /// None: boxes are text.
    None,
}

/// The contents of the boxes, joined by commas; the whole text without a box.
pub(super) fn contents(text: &str, boxes: Boxes) -> Cow<'_, str> {
    if boxes == Boxes::None {
        return Cow::Borrowed(text);
    }
    let mut found: Vec<&str> = Vec::new();
    let (mut end, mut next) = (text.len(), None);
    while let Some((start, length)) = [(r"\boxed", 6), (r"\fbox", 5)]
        .iter()
        .filter_map(|(name, length)| Some((text[..end].rfind(name)?, *length)))
        .max()
    {
        let after = start + length;
        let open = end - text[after..end].trim_start().len();
        if open >= end {
            break;
        }
        let closed =
            text[open..end].strip_prefix('{').and_then(|inside| closing(inside).map(|at| open + 1 + at));
        let Some(close) = closed else {
            if found.is_empty() {
                found.push(&text[open..]);
            }
            break;
        };
        let content = text[open + 1..close].trim();
        if let (Boxes::Last, Some(next)) = (boxes, next)
            && !are_joined(content, found.last().copied().unwrap_or_default(), &text[close + 1..next])
        {
            break;
        }
        if found.last() != Some(&content) {
            found.push(content);
        }
        next = Some(start);
        end = start;
    }
    match found.as_slice() {
        [] => Cow::Borrowed(text),
        [one] => Cow::Borrowed(one),
        _ => Cow::Owned(found.into_iter().rev().collect::<Vec<_>>().join(",")),
    }
}

/// Where the brace closes that was opened before the text.
fn closing(text: &str) -> Option<usize> {
    let mut open = 1_u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' if open == 1 => return Some(at),
            b'}' => open -= 1,
            _ => {}
        }
    }
    None
}

/// Whether two boxes with this text between them are parts of one answer.
fn are_joined(content: &str, next: &str, between: &str) -> bool {
    let length = between.chars().take(70).count();
    let separated = || {
        between.contains([',', ';'])
            || between
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| word == "and" || word == "or")
    };
    length < 10 || (content != next && length < 70 && separated())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each with the result of `extract_boxed_content` in latex2sympy2_extended 1.11.
    #[test]
    fn boxes() {
        let far = "x".repeat(80);
        for (text, all, last) in [
            ("no box", "no box", "no box"),
            (r"\boxed{1}", "1", "1"),
            (r"\boxed{1} and \boxed{2}", "1,2", "1,2"),
            (r"\boxed{1} or else we may have \boxed{2}", "1,2", "1,2"),
            (r"\boxed{1} which gives in the end \boxed{2}", "1,2", "2"),
            (r"\boxed{1} \boxed{1}", "1", "1"),
            (r"\fbox{ 3 }", "3", "3"),
            (r"\boxed 4", "4", "4"),
            (r"\boxed{4", "{4", "{4"),
            (r"\boxed{\boxed{5}}", "5", "5"),
        ] {
            assert_eq!(
                (contents(text, Boxes::All).as_ref(), contents(text, Boxes::Last).as_ref()),
                (all, last)
            );
        }
        assert_eq!(contents(&format!(r"\boxed{{1}}, {far} \boxed{{2}}"), Boxes::Last), "2");
    }
}
