//! Answers as words: what is left when an answer is not mathematics.

use crate::normalise;
use crate::read::words;
use aske_algebra::verdict::Method;

/// Text as the paper compares it: wrappers, case and white space dropped.
pub(crate) fn fold(answer: &str) -> String {
    normalise(answer).chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// How two answers are the same by the paper's rules for text, if they are: the same text, the same parts, the
/// same "no solution".
pub(crate) fn same(a: &str, b: &str) -> Option<Method> {
    let (a, b) = (fold(a), fold(b));
    if a.is_empty() || b.is_empty() {
        None
    } else if a == b {
        Some(Method::Text)
    } else if same_parts(&a, &b) {
        Some(Method::Parts)
    } else {
        (is_no_solution(&a) && is_no_solution(&b)).then_some(Method::NoSolution)
    }
}

/// Words as they are compared: marks of emphasis, white space and the case of words dropped. White space between
/// digits and the case of symbols stay.
pub(crate) fn words(text: &str) -> String {
    let text = normalise(text);
    let mut out = String::with_capacity(text.len());
    let mut gap = false;
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let end = if c.is_alphabetic() {
            rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len())
        } else {
            c.len_utf8()
        };
        let (piece, after) = rest.split_at(end);
        rest = after;
        if c.is_whitespace() {
            gap = true;
        } else if !is_emphasis(c) {
            if gap && c.is_ascii_digit() && out.ends_with(|c: char| c.is_ascii_digit()) {
                out.push(' ');
            }
            gap = false;
            out.push_str(&words::folded(piece));
        }
    }
    out
}

/// Whether a normalised text holds nothing but white space and marks of emphasis.
pub(crate) fn says_nothing(normal: &str) -> bool {
    normal.chars().all(|c| c.is_whitespace() || is_emphasis(c))
}

fn is_emphasis(c: char) -> bool {
    matches!(c, '"' | '*' | '`' | '“' | '”')
}

/// Two ways to say that there is no solution.
pub(crate) fn both_no_solution(a: &str, b: &str) -> bool {
    is_no_solution(&fold(a)) && is_no_solution(&fold(b))
}

/// Words for "there is no solution".
pub(crate) fn is_no_solution(folded: &str) -> bool {
    const WORDS: &[&str] = &[
        "nosolution",
        "nosolutions",
        "nosolutionexists",
        "nosolutionsexist",
        "therearenosolutions",
        "thereisnosolution",
        "norealsolution",
        "norealsolutions",
        "therearenorealsolutions",
        "thereisnorealsolution",
        "nointegersolutions",
        "nosuchnumber",
        "nosuchx",
        "norealnumber",
        "norealroots",
        "noroots",
        "none",
        "nil",
        "n/a",
        "doesnotexist",
        "doesn'texist",
        "dne",
        "thelimitdoesnotexist",
        "undefined",
        "notdefined",
        "impossible",
        "notpossible",
        "empty",
        "theemptyset",
        "emptyset",
        "\\emptyset",
        "\\varnothing",
        "∅",
        "\\{\\}",
        "{}",
        "nosuchvalue",
        "nosuchvalues",
        "novalue",
        "novalues",
    ];
    WORDS.contains(&folded.trim_end_matches(['.', '!']))
}

/// Words for the whole real line.
pub(crate) fn is_all_reals(text: &str) -> bool {
    matches!(
        fold(text).as_str(),
        "allrealnumbers"
            | "allreals"
            | "allrealx"
            | "anyrealnumber"
            | "everyrealnumber"
            | "realnumbers"
            | "therealnumbers"
            | "allrealvalues"
    )
}

/// Equal as bags of comma-separated parts; only commas outside every bracket separate, so tuples stay whole.
fn same_parts(a: &str, b: &str) -> bool {
    let (mut a, mut b) = (parts(a), parts(b));
    if a.len() < 2 || a.len() != b.len() {
        return false;
    }
    a.sort_unstable();
    b.sort_unstable();
    a == b
}

fn parts(text: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    text.split(|c: char| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}
