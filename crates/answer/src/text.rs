//! Answers as words: what is left when an answer is not mathematics.

use crate::compare::Method;
use crate::normalise;

/// Text as it is compared: wrappers, case, white space and marks of emphasis dropped.
pub(crate) fn fold(answer: &str) -> String {
    normalise(answer)
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '"' | '*' | '`' | '“' | '”'))
        .flat_map(char::to_lowercase)
        .collect()
}

/// How two answers are the same as texts, if they are: the same words, the same parts, the same "no solution".
pub(crate) fn same(a: &str, b: &str) -> Option<Method> {
    same_folded(&fold(a), &fold(b))
}

/// The same, of texts that are folded already.
pub(crate) fn same_folded(a: &str, b: &str) -> Option<Method> {
    if a.is_empty() || b.is_empty() {
        None
    } else if a == b {
        Some(Method::Text)
    } else if same_parts(a, b) {
        Some(Method::Parts)
    } else {
        (is_no_solution(a) && is_no_solution(b)).then_some(Method::NoSolution)
    }
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
