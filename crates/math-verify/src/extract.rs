//! The content of the box, and the numbers extracted from it if it does not parse.

use super::arithmetic;
use super::grammar::{self, ParseError};
use super::normalise::normalise;
use super::tree::{Value, number, percent};
use aske_algebra::expr::Expr;
use aske_algebra::fuel::Fuel;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Parsing exceeded its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitError;

/// The value of a part of an answer, if it has one.
type Read = Result<Option<Value>, LimitError>;

/// The normalised text of an answer, treated as the content of `\boxed{…}`.
pub(super) fn text(answer: &str) -> String {
    if answer.is_empty() { String::new() } else { normalise(&content(answer)) }
}

/// What an answer parses to, or the number found in it.
pub(super) fn value(answer: &str, text: &str, fuel: &Fuel) -> Read {
    if answer.is_empty() {
        return Ok(None);
    }
    match parsed(text, fuel)? {
        Some(value) => Ok(Some(value)),
        None => last_number(answer, fuel),
    }
}

/// A normalised text, or the last part of a long chain of equations in it.
pub(super) fn parsed(text: &str, fuel: &Fuel) -> Read {
    for text in [Some(text), last_equation(text)].into_iter().flatten() {
        match grammar::parse(text, is_real(text), fuel) {
            Ok(value) => return Ok(Some(value)),
            Err(ParseError::Bounds) => return Err(LimitError),
            Err(ParseError::Syntax | ParseError::Refused) => {}
        }
    }
    Ok(None)
}

pub(super) fn last_equation(text: &str) -> Option<&str> {
    if text.contains([',', ';']) {
        return None;
    }
    let mut signs = text.match_indices('=').filter(|(at, _)| !text[..*at].ends_with(['\\', '<', '!', '>']));
    let last = signs.next_back()?.0;
    signs.next_back().map(|_| &text[last + 1..])
}

/// The content of the box up to its closing brace; without one, the content including the opening brace.
fn content(answer: &str) -> String {
    let inner = [r"\boxed", r"\fbox"].iter().filter_map(|box_| Some((answer.rfind(box_)?, box_.len()))).max();
    if let Some((at, length)) = inner {
        let after = answer[at + length..].trim_start();
        return match after.strip_prefix('{') {
            Some(inside) if let Ok(end) = closing(inside) => inside[..end].trim().to_owned(),
            _ => format!("{after}}}"),
        };
    }
    match closing(answer) {
        Ok(end) => answer[..end].trim().to_owned(),
        Err(1) => answer.trim().to_owned(),
        Err(_) => format!("{{{answer}}}"),
    }
}

/// Where the brace closes that was opened before the text, or how many braces are open at the end.
fn closing(text: &str) -> Result<usize, u32> {
    let mut open = 1;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open += 1,
            b'}' if open == 1 => return Ok(at),
            b'}' => open -= 1,
            _ => {}
        }
    }
    Err(open)
}

/// Whether the symbols of a text are real: it has no sign of complex numbers.
fn is_real(text: &str) -> bool {
    const MARKS: &[&str] = &[
        r"\mathbb{C}",
        r"\text{i}",
        r"\mathrm{i}",
        r"\det",
        r"\operatorname{tr}",
        r"\operatorname{rank}",
        r"\text{rank}",
        r"\arg{",
        r"\Re{",
        r"\Im{",
        r"\operatorname{Re}",
        r"\operatorname{Im}",
        r"\text{Re}",
        r"\text{Im}",
    ];
    let part_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let lonely = text.match_indices('i').any(|(at, _)| {
        !part_of_word(text[..at].chars().next_back()) && !part_of_word(text[at + 1..].chars().next())
    });
    let imath =
        text.match_indices(r"\imath").any(|(at, name)| !part_of_word(text[at + name.len()..].chars().next()));
    !lonely && !imath && !MARKS.iter().any(|mark| text.contains(mark))
}

static FRACTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let simple = r"-?\d+(?:[.,]\d+)?";
    let one = format!(r"(-?\\frac\{{{simple}\}}\{{{simple}\}})\s*(\\?%|[Pp]ercent|[Pp]ercentage|[Pp]ct)?");
    Regex::new(&format!(r"{one}(?:\s*(?:,?and|,?or|,)\s*{one})?(?:\s*(?:,?and|,?or|,)\s*{one})?(?:\s*(?:,?and|,?or|,)\s*{one})?"))
        .ok()
});

static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?:^|\s|=)(?:\*\*)?[$€£¥₹₽₪₩₫฿₡₢₣₤₥₦₧₨₭₮₯₰₱₲₳₴₵₶₷₸₺₻₼₾₿]?",
        r"(?:(-?[1-9]\d{0,2}(?:[ ,]\d{3})+)(\.\d+)?|(-?\d+)([.,]\d+)|(\.\d+)|(-?\d+))",
        r"(\s*(?:%|[Pp]ercent|\s*[Pp]ercentage|\s*[Pp]ct))?",
    ))
    .ok()
});

static ARITHMETIC: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let operators = r"+\-*×/^()÷";
    let any = format!(r"[\d.\s{operators}]");
    Regex::new(&format!(
        r"(?:^|\s|=)(?:\*\*)?(-?\(?-?\d{any}*[{operators}]{any}+\)?)(?:\*\*)?(?:\.|,|:|\s|\)|\$|$)"
    ))
    .ok()
});

/// The number or fraction that ends last in the text, where the answer itself does not parse.
fn last_number(answer: &str, fuel: &Fuel) -> Read {
    let text = format!(r"\boxed{{{answer}}}");
    let mut found: Vec<(usize, usize, Value)> = Vec::new();
    for (open, close) in [(r"\(", r"\)"), (r"\[", r"\]"), ("$$", "$$"), ("$", "$")] {
        if let Some((start, end, inside)) = environment(&text, open, close)
            && let Some(value) = parsed(&normalise(inside), fuel)?
        {
            found.push((end, start, value));
        }
    }
    let mut search = |pattern: &Option<Regex>, read: &dyn Fn(&Captures<'_>) -> Read| {
        for captures in pattern.iter().flat_map(|pattern| pattern.captures_iter(&text)) {
            if let (Some(whole), Some(value)) = (captures.get(0), read(&captures)?) {
                found.push((whole.end(), whole.start(), value));
            }
        }
        Ok(())
    };
    if text.contains(r"\frac") {
        search(&FRACTION, &|captures| fractions(captures, fuel))?;
    }
    search(&ARITHMETIC, &|captures| Ok(arithmetic::parse(&captures[1]).map(Value::Expr)))?;
    search(&NUMBER, &|captures| Ok(plain(captures).map(Value::Expr)))?;
    Ok(found
        .into_iter()
        .max_by_key(|(end, start, _)| (*end, std::cmp::Reverse(*start)))
        .map(|(_, _, value)| value))
}

/// The last formula between two delimiters: its start, its end and its content.
fn environment<'t>(text: &'t str, open: &str, close: &str) -> Option<(usize, usize, &'t str)> {
    let escaped = |at: usize| text[..at].ends_with('\\');
    let mut found = None;
    let mut from = 0;
    while let Some(start) = text[from..].find(open).map(|at| at + from) {
        let inside = start + open.len();
        let Some(end) = text[inside..].find(close).map(|at| at + inside) else { break };
        let closed = end + close.len();
        if !escaped(start) && !escaped(end) && end > inside {
            found = Some((start, closed, &text[inside..end]));
        }
        from = closed;
    }
    found
}

fn plain(captures: &Captures<'_>) -> Option<Expr> {
    let group = |index: usize| captures.get(index).map_or("", |m| m.as_str());
    let whole = [1, 3, 6].into_iter().map(group).find(|text| !text.is_empty()).unwrap_or("");
    let part = [2, 4, 5].into_iter().map(group).find(|text| !text.is_empty()).unwrap_or("");
    let whole = whole.replace([',', ' '], "");
    let whole = whole.trim_start_matches('0');
    let text = format!("{}{}", if whole.is_empty() { "0" } else { whole }, part.replace(',', "."));
    let value = number(&text)?;
    Some(if group(7).is_empty() { value } else { percent(value) })
}

/// One fraction, or a set of several.
fn fractions(captures: &Captures<'_>, fuel: &Fuel) -> Read {
    let mut values = Vec::new();
    for index in (1..captures.len()).step_by(2) {
        let Some(text) = captures.get(index) else { continue };
        let Some(value) = parsed(&normalise(text.as_str()), fuel)? else { return Ok(None) };
        values.push(match (captures.get(index + 1), value) {
            (Some(_), Value::Expr(expr)) => Value::Expr(percent(expr)),
            (_, value) => value,
        });
    }
    Ok(match values.len() {
        1 => values.pop(),
        _ => Some(Value::Set(values)),
    })
}
