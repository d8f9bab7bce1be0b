//! The side of a chain of equations that is the answer.

use crate::compare::compare;
use crate::read::strip_delimiters;
use aske_algebra::verdict::Verdict;

/// The last side of a chain like `1/3 + 1/4 = 7/12`, with the name that it begins with, if it does; any other text as it is.
pub(super) fn last_side(text: &str) -> String {
    let inner = strip_delimiters(text);
    let rows = rows(inner);
    let joined = rows.join(" ");
    if has_list(&joined) {
        return text.to_owned();
    }
    let last_row = rows.last().map_or("", |row| row.as_str());
    let sides = if last_row.trim_start().starts_with('=') || rows.len() < 2 {
        sides(&joined)
    } else {
        sides(last_row)
    };
    let [first, .., last] = sides.as_slice() else {
        return if rows.len() > 1 { joined } else { text.to_owned() };
    };
    let (first, last) = (first.trim(), last.trim().trim_end_matches(['.', ',']));
    if last.is_empty() {
        return text.to_owned();
    }
    if is_name(first) {
        return if sides.len() == 2 && rows.len() == 1 {
            text.to_owned()
        } else {
            format!("{first} = {last}")
        };
    }
    let identity =
        || sides.len() > 2 || !has_letters(first) || compare(first, last).verdict == Verdict::Equal;
    if identity() { last.to_owned() } else { text.to_owned() }
}

/// The rows of an environment of equations, without their marks of alignment.
fn rows(text: &str) -> Vec<String> {
    let names =
        ["align*", "aligned", "align", "equation*", "equation", "gather*", "gathered", "gather", "split"];
    let begin = names.iter().find(|name| text.contains(&format!("\\begin{{{name}}}")));
    let Some(name) = begin else { return vec![text.to_owned()] };
    let inside = text.replace(&format!("\\begin{{{name}}}"), " ").replace(&format!("\\end{{{name}}}"), " ");
    let rows = inside.split("\\\\").map(|row| row.replace('&', " ").trim().to_owned());
    rows.filter(|row| !row.is_empty()).collect()
}

/// The sides between `=` outside of brackets.
fn sides(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut depth, mut from) = (0_i32, 0);
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth -= 1,
            b'=' if depth == 0 && !text[..at].ends_with(['<', '>', '!', ':', '\\', '=']) => {
                out.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    out.push(&text[from..]);
    out
}

/// Whether commas, words or inequalities outside of brackets make it more than one chain.
fn has_list(text: &str) -> bool {
    let mut depth = 0_i32;
    let outside = text.char_indices().any(|(at, c)| {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            ',' => {
                let spaced =
                    text[at + 1..].starts_with(|c: char| !c.is_ascii_digit()) && !text[..at].ends_with('\\');
                return depth == 0 && spaced && !text[at + 1..].trim().is_empty();
            }
            '<' | '>' | ';' | '≤' | '≥' => return depth == 0 && !text[..at].ends_with('\\'),
            _ => {}
        }
        false
    });
    let words = text.split(|c: char| !c.is_alphabetic()).any(|word| matches!(word, "and" | "or"));
    outside
        || words
        || ["\\le", "\\ge", "\\lt", "\\gt", "\\in ", "\\pm", "\\text{"]
            .iter()
            .any(|sign| text.contains(sign) && !text.contains("\\left"))
}

/// A letter with marks, a function of letters, or a tuple of letters.
fn is_name(side: &str) -> bool {
    let plain: String = side.chars().filter(|c| !" '_{}()\\,".contains(*c)).collect();
    let letters = plain.chars().filter(|c| c.is_alphabetic()).count();
    let commands = side.matches('\\').count();
    let head = side.trim_start_matches(['(', '\\']).chars().next().is_some_and(char::is_alphabetic);
    head && plain.chars().all(char::is_alphanumeric)
        && (commands == 1 && letters < 9 && !side.contains(['{', '('])
            || commands == 0
                && (letters <= 2 || side.starts_with('(') && letters <= 5)
                && (letters != 2 || side.contains(['(', '_', '\''])))
}

/// Whether letters outside of commands stand for something.
fn has_letters(side: &str) -> bool {
    let mut command = false;
    side.chars().any(|c| {
        command = c == '\\' || (command && c.is_ascii_alphabetic());
        !command && c.is_alphabetic()
    })
}
