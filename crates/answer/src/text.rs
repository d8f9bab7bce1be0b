//! Comparison of answers as text.

use crate::normalise;
use crate::read::words;
use crate::vocabulary::{self, is_no_solution};
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

/// Words as they are compared: marks of emphasis, white space and the case of words dropped. One space between words
/// or digits and the case of symbols stay.
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
            let joins = |c: char| c.is_alphanumeric();
            if gap && joins(c) && out.ends_with(joins) {
                out.push(' ');
            }
            gap = false;
            out.push_str(&words::folded(piece));
        }
    }
    out
}

/// Phrases that say the same, as words are compared.
const SYNONYMS: &[(&str, &str)] = &[
    ("infinitely many", "infinite"),
    ("infinite number of", "infinite"),
    ("convergent", "converges"),
    ("divergent", "diverges"),
    ("anticlockwise", "counterclockwise"),
    ("none of the above", "none of these"),
    ("has a winning strategy", "wins"),
    ("has the winning strategy", "wins"),
    ("prime numbers", "primes"),
    ("to the left", "left"),
    ("to the right", "right"),
    ("to the north", "north"),
    ("to the south", "south"),
    ("to the east", "east"),
    ("to the west", "west"),
    ("on the interval", "on"),
];

/// Words as they are compared, without those at the front that only introduce the rest: `a circle`, `the series
/// diverges`, `it will be Tuesday`.
pub(crate) fn essence(text: &str) -> String {
    let text = words(text);
    let mut rest = text.as_str();
    while let Some((first, behind)) = rest.split_once(' ')
        && vocabulary::is_introduction(first)
    {
        rest = behind;
    }
    let rest =
        ["north ", "south "].iter().fold(rest.to_owned(), |text, part| text.replace(part, part.trim_end()));
    let rest = SYNONYMS.iter().fold(rest, |text, (phrase, same)| text.replace(phrase, same));
    // A line has two ends and no direction.
    match rest.split_once(' ') {
        Some((kind @ ("line" | "segment" | "chord"), ends)) if ends.len() == 2 => {
            let mut ends: Vec<char> = ends.chars().collect();
            ends.sort_unstable();
            format!("{kind} {}", ends.into_iter().collect::<String>())
        }
        _ => rest,
    }
}

/// Whether one text is the other with more words that do not negate or change it.
pub(crate) fn extends(a: &str, b: &str) -> bool {
    let (a, b) = (essence(a).to_lowercase(), essence(b).to_lowercase());
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split(' ').collect(), b.split(' ').collect());
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short.iter().all(|word| long.contains(word))
        && (short.len() < long.len() || short.iter().any(|word| word.ends_with("verges")))
        && !long.iter().any(|word| !short.contains(word) && vocabulary::is_modifier(word))
}

/// Whether one text is the other and a noun that the question names: `isosceles`, `isosceles triangle`. To say how many
/// there are, any noun will do: `infinitely many`, `infinitely many such primes`.
pub(crate) fn adds_only_a_noun(a: &str, b: &str) -> bool {
    let (a, b) = (essence(a), essence(b));
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let Some(noun) = long.strip_prefix(short.as_str()).and_then(|rest| rest.strip_prefix(' ')) else {
        return false;
    };
    let plain = |word: &str| !vocabulary::is_function_word(word) && word.chars().all(char::is_alphabetic);
    vocabulary::is_generic_noun(noun) && short.split(' ').all(plain)
        || short == "infinite" && noun.split(' ').all(plain)
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
    let says_so = |text: &str| {
        let folded = fold(text);
        is_no_solution(folded.strip_prefix("theequationhas").unwrap_or(&folded))
            || is_no_solution(&format!("the{folded}"))
    };
    says_so(a) && says_so(b)
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
