//! Repair of operators with missing braces.

use regex::{Captures, Regex};
use std::sync::LazyLock;

type Pattern = LazyLock<Option<Regex>>;

static PERMUTATION: Pattern =
    LazyLock::new(|| Regex::new(r"\(([a-zA-Z0-9+\-*/\\ ]+?)\)_\{([a-zA-Z0-9+\-*/\\ ]+?)\}").ok());
static POWER: Pattern = LazyLock::new(|| Regex::new(r"\^\s?\((.*?)\)").ok());
static ROOT: Pattern = LazyLock::new(|| Regex::new(r"sqrt\s?\((.*?)\)").ok());
static FRACTION_DIGITS: Pattern = LazyLock::new(|| Regex::new(r"\\frac\s?(\d)\s?(\d+)").ok());
static LOGARITHM: Pattern = LazyLock::new(|| Regex::new(r"\\log_\s?(\d)\s?(\d+)").ok());
static FRACTION_BELOW: Pattern = LazyLock::new(|| Regex::new(r"\\frac\s?\{(.*?)\}\s?(\d)").ok());
static FRACTION_ABOVE: Pattern = LazyLock::new(|| Regex::new(r"\\frac\s?(\d)\s?\{(.*?)\}").ok());
static ROOT_DIGIT: Pattern = LazyLock::new(|| Regex::new(r"\\sqrt\s?(\d)").ok());

fn rewrite(text: String, pattern: &Pattern, new: impl Fn(&str, &str) -> String) -> String {
    let Some(pattern) = pattern.as_ref() else { return text };
    let part = |found: &Captures<'_>, index: usize| {
        found.get(index).map_or(String::new(), |m| m.as_str().to_owned())
    };
    match pattern.replace_all(&text, |found: &Captures<'_>| new(&part(found, 1), &part(found, 2))) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(changed) => changed,
    }
}

/// `(n)_{k}` as a number of permutations.
pub(super) fn permutations(text: String) -> String {
    if !text.contains(")_{") {
        return text;
    }
    rewrite(text, &PERMUTATION, |n, k| format!(r"\frac{{({n})!}}{{(({n})-({k}))!}}"))
}

/// Powers, roots, fractions and logarithms with their braces.
pub(super) fn operators(mut text: String) -> String {
    let braced = |a: &str, b: &str| format!(r"\frac{{{a}}}{{{b}}}");
    if text.contains('^') && text.contains('(') {
        text = rewrite(text, &POWER, |a, _| format!("^{{{a}}}"));
    }
    let (root, fraction) = (text.contains("sqrt"), text.contains(r"\frac"));
    if root {
        text = rewrite(text, &ROOT, |a, _| format!(r"\sqrt{{{a}}}"));
    }
    if fraction {
        text = rewrite(text, &FRACTION_DIGITS, braced);
    }
    if text.contains(r"\log_") {
        text = rewrite(text, &LOGARITHM, |a, b| format!(r"\log_{{{a}}}{{{b}}}"));
    }
    if fraction {
        text = rewrite(text, &FRACTION_BELOW, braced);
        text = rewrite(text, &FRACTION_ABOVE, braced);
    }
    if root {
        text = rewrite(text, &ROOT_DIGIT, |a, _| format!(r"\sqrt{{{a}}}"));
        text = text.replace(" sqrt", r"\sqrt");
        text = roots(&text);
    }
    if fraction {
        text = fractions(text);
    }
    slash(text)
}

/// Takes the character after a `\sqrt` without braces as its argument.
fn roots(text: &str) -> String {
    let mut parts = text.split(r"\sqrt");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let part = part.trim_start();
        out.push_str(r"\sqrt");
        match part.chars().next() {
            Some(c) if c != '{' && c != '[' => {
                out.extend(['{', c, '}']);
                out.push_str(&part[c.len_utf8()..]);
            }
            _ => out.push_str(part),
        }
    }
    out
}

/// Takes the two characters after a `\frac` without braces as its numerator and denominator.
fn fractions(text: String) -> String {
    let mut parts = text.split(r"\frac");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let part = part.trim_start();
        out.push_str(r"\frac");
        let mut letters = part.chars();
        match (letters.next(), letters.next()) {
            (Some('{'), _) => out.push_str(part),
            (Some(a), Some('{')) => {
                out.extend(['{', a, '}', '{']);
                out.push_str(letters.as_str());
            }
            (Some(a), Some(b)) => {
                out.extend(['{', a, '}', '{', b, '}']);
                out.push_str(letters.as_str());
            }
            _ => return text,
        }
    }
    out
}

/// `a/b` of two plain integers as a fraction.
fn slash(text: String) -> String {
    fn plain(digits: &str) -> bool {
        let body = digits.strip_prefix('-').unwrap_or(digits);
        let zero = body.starts_with('0');
        !body.is_empty() && body.bytes().all(|c| c.is_ascii_digit()) && (!zero || digits == "0")
    }
    match text.split_once('/') {
        Some((a, b)) if plain(a) && plain(b) => format!(r"\frac{{{a}}}{{{b}}}"),
        _ => text,
    }
}
